"""What a client may look at: state, messages, models, entries, permissions, context. Nothing is changed here, but for an export's file."""

import os
import tempfile
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path

import anyio
from msgspec import to_builtins

from trimtab.coding.commands.command import Command, Completion
from trimtab.coding.commands.completing import completions
from trimtab.coding.commands.mcp import MCP
from trimtab.coding.commands.registry import COMMANDS, commands_of
from trimtab.coding.models import known_models
from trimtab.coding.session import Session
from trimtab.coding.session_export import export
from trimtab.coding.taken import taken_by
from trimtab.coding.telling.permission_text import rule_rows
from trimtab.coding.told import told_in
from trimtab.context.asks import Answer as Told
from trimtab.context.asks import Ask
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import NULL, Answer, Call
from trimtab.frontends.rpc.entries import entries_of, said_in, tree_of
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.values import Json, message_of, model_of, thinking_of
from trimtab.types.codec import Entry
from trimtab.types.edits import edit_kind
from trimtab.types.entries import EditEntry, MessageEntry
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, ToolResult, User


async def get_state(host: Host, request: verbs.GetState, call: Call) -> Answer:
    """What runs, and with what."""
    session, desk = host.session, host.desk
    log, inbox = session.log, session.agent.inbox
    return {
        "model": model_of(session.model),
        "thinkingLevel": thinking_of(session.agent.thinking, session.model),
        "isStreaming": desk.working and desk.in_turn,
        "isCompacting": desk.compacting or session.context.transcript.wait.waiting,
        "steeringMode": "one-at-a-time" if inbox.one_at_a_time else "all",
        "followUpMode": "one-at-a-time",
        **({"sessionFile": str(log.path)} if log.path else {}),
        "sessionId": log.header.id,
        **({"sessionName": log.archive.title} if log.archive.title else {}),
        "autoCompactionEnabled": session.context.automatic,
        "messageCount": len(session.agent.messages),
        "pendingMessageCount": len(inbox.steering) + len(inbox.follow_ups),
        "cwd": str(session.project.cwd),
        "permissionMode": session.permissions.policy.mode,
        "parked": [{"callId": call_id, "question": asked} for call_id, asked in session.agent.parked.items()],
    }


async def get_messages(host: Host, request: verbs.GetMessages, call: Call) -> Answer:
    """The conversation as the model sees it."""
    return await anyio.to_thread.run_sync(_messages, host.session)


def _messages(session: Session) -> Json:
    view, archive = session.log.snapshot(), session.log.archive
    messages = []
    for shown in view.shown():
        entry = archive.get(view.slots[shown.place].id)
        messages.append(message_of(shown.message, time=entry.time if entry else "", model=session.model))
    return {"messages": messages}


async def get_available_models(host: Host, request: verbs.GetAvailableModels, call: Call) -> Answer:
    """The models that could be used."""
    project = host.session.project
    models = await anyio.to_thread.run_sync(lambda: known_models(project, usable=True))
    return {"models": [model_of(model) for model in models]}


async def get_levels(host: Host, request: verbs.GetAvailableThinkingLevels, call: Call) -> Answer:
    """The thinking levels."""
    return {"levels": list(host.session.model.thinking) or ["off"]}


async def get_stats(host: Host, request: verbs.GetSessionStats, call: Call) -> Answer:
    """The session in numbers."""
    session = host.session
    counted = await session.context.transcript.run(_counted(session))
    stats = await anyio.to_thread.run_sync(_stats, session, tuple(session.log.archive.path()))
    window = session.context.engine.budget.window
    percent = round(100 * counted / window, 1) if window else None
    return {**stats, "contextUsage": {"tokens": counted, "contextWindow": window, "percent": percent}}


def _stats(session: Session, path: Sequence[Entry]) -> Json:
    log, spent = session.log, taken_by(session)
    values = (entry.value for entry in path if entry.type == "message")
    messages = [value.message for value in values if isinstance(value, MessageEntry)]
    answers = [message for message in messages if isinstance(message, Assistant)]
    results = sum(isinstance(message, ToolResult) for message in messages)
    return {
        **({"sessionFile": str(log.path)} if log.path else {}),
        "sessionId": log.header.id,
        "userMessages": sum(isinstance(message, User) for message in messages),
        "assistantMessages": len(answers),
        "toolCalls": sum(len(answer.tool_calls) for answer in answers),
        "toolResults": results,
        "totalMessages": len(messages),
        "tokens": {
            "input": spent.usage.input,
            "output": spent.usage.output,
            "cacheRead": spent.usage.cache_read,
            "cacheWrite": spent.usage.cache_write,
            "total": spent.usage.total,
        },
        "cost": spent.usd if spent.usage.total or session.model.prices else None,
    }


def _counted(session: Session) -> Generator[Ask, Told, int]:
    """The size of the next request, in tokens."""
    yield from ()  # a plan that asks for nothing
    engine = session.context.engine
    return engine.look(session.log.snapshot(), session.context.request()).used


async def get_context(host: Host, request: verbs.GetContext, call: Call) -> Answer:
    """The window, the policy, and the edits that hold."""
    session = host.session
    used = await session.context.transcript.run(_counted(session))
    view, archive = session.log.snapshot(), session.log.archive
    edits = []
    for applied in view.applied:
        entry = archive.get(applied.id)
        value = entry.value if entry else None
        if isinstance(value, EditEntry) and applied.id not in view.reverted:
            edits.append(
                {
                    "entryId": applied.id,
                    "kind": edit_kind(value.edit),
                    "author": value.author,
                    "reason": value.reason,
                    "targets": list(value.edit.targets),
                    "beforeTokens": value.before_tokens,
                    "afterTokens": value.after_tokens,
                }
            )
    return {
        "usedTokens": used,
        "window": session.context.engine.budget.window,
        "policy": session.context.policy,
        "edits": edits,
    }


async def get_fork_messages(host: Host, request: verbs.GetForkMessages, call: Call) -> Answer:
    """What a person said."""
    path = tuple(host.session.log.archive.path())
    said = await anyio.to_thread.run_sync(lambda: list(said_in(path)))
    return {"messages": [{"entryId": entry_id, "text": words} for entry_id, _, words in said]}


async def get_entries(host: Host, request: verbs.GetEntries, call: Call) -> Answer:
    """The log."""
    archive, model = host.session.log.archive, host.session.model
    leaf = archive.leaf
    entries = await anyio.to_thread.run_sync(entries_of, tuple(archive), model, request.since)
    return {"entries": entries, "leafId": leaf}


async def get_tree(host: Host, request: verbs.GetTree, call: Call) -> Answer:
    """The log as a tree."""
    archive = host.session.log.archive
    leaf = archive.leaf
    tree = await anyio.to_thread.run_sync(tree_of, tuple(archive), dict(archive.labels), host.session.model)
    return {"tree": tree, "leafId": leaf}


async def get_last_text(host: Host, request: verbs.GetLastAssistantText, call: Call) -> Answer:
    """The last answer."""
    answers = (message for message in reversed(host.session.agent.messages) if isinstance(message, Assistant))
    return {"text": next((answer.text for answer in answers if answer.text.strip()), None)}


async def get_commands(host: Host, request: verbs.GetCommands, call: Call) -> Answer:
    """What `/NAME` may be."""
    return {"commands": [_listed(host.session, *each) for each in commands_of(host.session).items()]}


def _listed(session: Session, name: str, command: Command) -> Json:
    found = session.instructions.found
    if name in COMMANDS:
        return _command(name, command.help, "extension", f"builtin:{name}", "builtin", "user")
    if template := found.templates.get(name):
        return _command(name, template.description, "prompt", str(template.path), "local", template.whose)
    if skill := found.skills.get(name.removeprefix("skill:")) if name.startswith("skill:") else None:
        return _command(name, skill.description, "skill", str(skill.path), "local", skill.whose)
    if name.startswith(MCP):
        return _command(name, command.help, "prompt", name, "mcp", "user")
    return _command(name, command.help, "extension", name, "extension", "user")


def _command(name: str, help: str, kind: str, path: str, source: str, scope: str) -> Json:
    info = {"path": path, "source": source, "scope": scope, "origin": "top-level"}
    return {"name": name, "description": help, "source": kind, "sourceInfo": info}


async def complete(host: Host, request: verbs.Complete, call: Call) -> Answer:
    """What may stand in a line that is being typed."""
    found = await anyio.to_thread.run_sync(completions, host.session, request.line)
    return {"completions": [_completion(each) for each in found]}


def _completion(completion: Completion) -> Json:
    return {"value": completion.value, "help": completion.help}


async def get_permissions(host: Host, request: verbs.GetPermissions, call: Call) -> Answer:
    """The mode and the rules."""
    current = host.session.permissions.current
    return {"mode": current.mode, **rule_rows(current)}


async def get_result(host: Host, request: verbs.GetResult, call: Call) -> Answer:
    """How the last turn ended."""
    result = host.desk.result
    return NULL if result is None else to_builtins(result)


async def diff(host: Host, request: verbs.Diff, call: Call) -> Answer:
    """What turns changed in files."""
    if request.turns is not None and request.turns < 1:
        raise UsageError("turns has to be at least 1", hint="Null means all.")
    return {"diffs": list(await host.session.diff(request.turns))}


async def export_html(host: Host, request: verbs.ExportHtml, call: Call) -> Answer:
    """Write the session as a page."""
    session = host.session
    if session.log.path is None:
        raise UsageError(
            "this session is kept nowhere, so there is nothing to export", hint="Start without --no-session."
        )
    name = request.output_path or f"trimtab-{session.log.header.id}.html"
    return {"path": await anyio.to_thread.run_sync(_export, session, session.log.path, name)}


def _export(session: Session, log: Path, name: str) -> str:
    """Write the page whole, or not at all; return where. Raises `UsageError`."""
    if "\0" in name:
        raise UsageError("a name of a file has no NUL in it", hint="Name another file.")
    path = Path(os.path.realpath(session.project.cwd / os.path.expanduser(name)))
    made = ""
    try:
        if path == log.resolve() or (os.path.lexists(path) and not path.is_file()):
            # A device or pipe that a rename replaces is gone for everybody.
            raise UsageError(f"{path} is the session itself, a folder or a device", hint="Name a file.")
        handle, made = tempfile.mkstemp(prefix=".trimtab-", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            for piece in export(session.project, log, "html", told=told_in(session)):
                file.write(piece)
        os.replace(made, path)
        made = ""
    except (OSError, ValueError) as e:
        raise UsageError(
            f"{path}: {getattr(e, 'strerror', None) or e}", hint="Name a file that can be written."
        ) from None
    finally:
        if made:
            with suppress(OSError):
                os.unlink(made)
    return str(path)
