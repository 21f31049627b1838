"""What a client changes: models, levels, context, undo, permissions, which session is open, and how it is told.

set_model, undo, … ──▶ Session          new_session, fork, … ──▶ desk.switch ──▶ answered once the other one is here
"""

import anyio

from trimtab.agent.run import AgentBusy
from trimtab.coding.checkpoints.undo import Outcome
from trimtab.coding.choose import Choice, Fork, New, Resume
from trimtab.coding.commands.compact import compact
from trimtab.coding.commands.new import moved
from trimtab.coding.commands.registry import COMMANDS
from trimtab.coding.logs import session_folder
from trimtab.coding.model_list import next_favourite
from trimtab.coding.model_switch import look, make
from trimtab.coding.models import known_models
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.context.stores.checkup import check
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import NULL, Answer, Call
from trimtab.frontends.rpc.desk import WAIT, hearing
from trimtab.frontends.rpc.entries import compaction_in, said_in
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.stream import notify
from trimtab.frontends.rpc.values import Json, model_of, thinking_of
from trimtab.types.errors import TrimtabError, UsageError

_KEPT_NOWHERE = UsageError(
    "this session is kept nowhere, so there is nothing to copy", hint="Start without --no-session."
)
_DIALOG_MS = (100, 86_400_000)


async def set_model(host: Host, request: verbs.SetModel, call: Call) -> Answer:
    """Another model. What the switch means is told, and nothing is asked: the program has asked its person."""
    session = host.session
    await make(session, await look(session, f"{request.provider}/{request.model_id}"), ask=False)
    return model_of(session.model)


async def cycle_model(host: Host, request: verbs.CycleModel, call: Call) -> Answer:
    """The next favourite, or, where there are none, the next of those that can be used."""
    session = host.session
    ref = await anyio.to_thread.run_sync(_next_model, session)
    if ref is None:
        return NULL
    await make(session, await look(session, ref), ask=False)
    level = thinking_of(session.agent.thinking, session.model)
    return {"model": model_of(session.model), "thinkingLevel": level, "isScoped": bool(session.favourites)}


def _next_model(session: Session) -> str | None:
    here = session.model.ref
    if session.favourites:
        ref = next_favourite(session.project, session.favourites, here)
        return None if ref == here else ref
    refs = [model.ref for model in known_models(session.project, usable=True)]
    at = refs.index(here) if here in refs else -1
    ref = refs[(at + 1) % len(refs)] if refs else here
    return None if ref == here else ref


async def set_level(host: Host, request: verbs.SetThinkingLevel, call: Call) -> Answer:
    """Another thinking level."""
    session, level = host.session, request.level
    nothing = level == "off" and not session.model.thinking
    session.set_thinking(None if nothing or level == "default" else level)
    await session.choices.keep()
    _tell_level(host)
    return None


async def cycle_level(host: Host, request: verbs.CycleThinkingLevel, call: Call) -> Answer:
    """The next thinking level."""
    session = host.session
    levels = session.model.thinking
    if not levels:
        return NULL
    here = levels.index(session.agent.thinking) if session.agent.thinking in levels else -1
    session.set_thinking(levels[(here + 1) % len(levels)])
    await session.choices.keep()
    _tell_level(host)
    return {"level": session.agent.thinking}


def _tell_level(host: Host) -> None:
    level = thinking_of(host.session.agent.thinking, host.session.model)
    host.put({"type": "thinking_level_changed", "level": level})


async def set_steering_mode(host: Host, request: verbs.SetSteeringMode, call: Call) -> Answer:
    """All that waits before the next step, or one word with each."""
    host.session.agent.inbox.one_at_a_time = request.mode == "one-at-a-time"
    return None


async def set_follow_up_mode(host: Host, request: verbs.SetFollowUpMode, call: Call) -> Answer:
    """The one way there is."""
    if request.mode != "one-at-a-time":
        raise UsageError("follow-ups are said one a turn", hint='"one-at-a-time" is the only mode.')
    return None


async def set_auto_compaction(host: Host, request: verbs.SetAutoCompaction, call: Call) -> Answer:
    """Let the policy act, or only what keeps a request within the window."""
    host.session.context.set_automatic(on=request.enabled)
    return None


async def set_auto_retry(host: Host, request: verbs.SetAutoRetry, call: Call) -> Answer:
    """Let failed requests be sent again, or end the turn."""
    host.session.agent.retries = request.enabled
    return None


async def set_name(host: Host, request: verbs.SetSessionName, call: Call) -> Answer:
    """Name the session."""
    if not request.name.strip():
        raise UsageError("Session name cannot be empty", hint="Give it some letters.")
    desk = host.desk  # another session may be open by the time this one has its name
    with hearing():
        await COMMANDS["name"].run(desk, request.name)
    host.put({"type": "session_info_changed", "name": desk.session.log.archive.title})
    return None


async def run_compact(host: Host, request: verbs.Compact, call: Call) -> Answer:
    """Sum up all but the end."""
    desk = host.desk
    if desk.working:
        raise AgentBusy("something runs", hint=WAIT)

    async def work() -> None:
        desk.compacting = True
        host.put({"type": "compaction_start", "reason": "manual"})
        failed, aborted = "", True
        try:
            with hearing():
                await compact(desk, one_line(request.custom_instructions or ""))
            made = next(
                (
                    found
                    for e in reversed(desk.session.log.archive.path())
                    if (found := compaction_in(desk.session.log.archive, e.id))
                ),
                None,
            )
            aborted = False
            call.answer(made or {})
        except TrimtabError as e:
            failed, aborted = e.message, False
            call.refuse(e)
        finally:
            desk.compacting = False
            call.refuse("it was stopped, and nothing was changed")
            if failed or aborted:
                told = {"errorMessage": failed} if failed else {}
                host.put({"type": "compaction_end", "reason": "manual", "aborted": aborted, "willRetry": False, **told})

    call.later = True
    desk.work(work, is_turn=False)
    return None


async def revert(host: Host, request: verbs.Revert, call: Call) -> Answer:
    """Take an edit of the context back."""
    with hearing() as heard:
        await COMMANDS["revert"].run(host.desk, request.entry_id or "")
    return {"output": "\n".join(heard)}


async def undo(host: Host, request: verbs.Undo, call: Call) -> Answer:
    """Take turns back."""
    if request.turns is not None and request.turns < 1:
        raise UsageError("turns has to be at least 1", hint="1 is the last turn.")
    session, asked = host.session, request
    return _outcome(await session.undo(asked.turns, what=asked.what, force=asked.force, preview=asked.preview))


async def redo(host: Host, request: verbs.Redo, call: Call) -> Answer:
    """Do them again."""
    return _outcome(await host.session.redo())


def _outcome(outcome: Outcome) -> Json:
    return {
        "turns": list(outcome.turns),
        "talk": outcome.talk,
        "files": [change.path for change in outcome.put_back],
        "left": [{"path": left.path, "why": left.why, "remedy": left.remedy} for left in outcome.left],
    }


async def go_to(host: Host, request: verbs.GoTo, call: Call) -> Answer:
    """Go on from another entry."""
    await host.session.go_to(request.entry_id)
    return {"leafId": host.session.log.archive.leaf}


async def set_mode(host: Host, request: verbs.SetMode, call: Call) -> Answer:
    """Another permission mode."""
    host.session.set_mode(request.mode)
    return None


async def accept_protected(host: Host, request: verbs.AcceptProtected, call: Call) -> Answer:
    """Take protected files as they are."""
    return {"accepted": list(await host.session.accept_protected())}


async def verify(host: Host, request: verbs.Verify, call: Call) -> Answer:
    """Run the checks."""
    desk = host.desk

    async def work() -> None:
        try:
            problems = await desk.session.verify()
            call.answer({"passed": not problems, "detail": problems})
        except TrimtabError as e:
            call.refuse(e)
        finally:
            call.refuse("it was stopped")

    desk.work(work, is_turn=False)
    call.later = True
    return None


async def skip_summary(host: Host, request: verbs.SkipSummary, call: Call) -> Answer:
    """Go on without the summary."""
    return {"skipped": host.session.skip_summary()}


async def set_events(host: Host, request: verbs.SetEvents, call: Call) -> Answer:
    """Which of our events are told."""
    host.events = request.events
    if host.open is not None:
        host.stream.events = request.events
    return None


async def set_dialogs(host: Host, request: verbs.SetDialogs, call: Call) -> Answer:
    """Who can be asked."""
    least, most = _DIALOG_MS
    if request.timeout_ms is not None and not least <= request.timeout_ms <= most:
        raise UsageError(f"timeoutMs has to be from {least} to {most:,}", hint="Null: as long as it takes.")
    person = host.person
    person.enabled, person.known = request.enabled, person.known or request.enabled
    person.timeout_s = None if request.timeout_ms is None else request.timeout_ms / 1000
    if not request.enabled:
        person.close()
    return None


async def new_session(host: Host, request: verbs.NewSession, call: Call) -> Answer:
    """A fresh session, that says which one it comes from where that is asked for."""
    parent = None
    if request.parent_session:
        try:
            parent = await anyio.to_thread.run_sync(_session_id, host.session, request.parent_session)
        except TrimtabError as e:
            host.put(notify(f"parentSession isn't kept: {e.message}", "warning"))
    project = host.session.project
    if request.cwd is not None:
        project = await anyio.to_thread.run_sync(moved, project, request.cwd)
    await host.desk.switch(project, New(parent))
    return {"cancelled": False}


def _session_id(session: Session, ref: str) -> str:
    """The id of the session that `ref` means: an id, the start of one, or its file. Raises `TrimtabError`."""
    project = session.project
    if ref in (session.log.header.id, str(session.log.path)):
        return session.log.header.id
    return check(session_folder(project).find(ref, str(project.cwd))).id


async def switch_session(host: Host, request: verbs.SwitchSession, call: Call) -> Answer:
    """Another session."""
    path = host.session.log.path
    if path is not None and request.session_path in (str(path), host.session.log.header.id):
        raise UsageError("this is that session", hint="trimtab sessions list shows the others.")
    return await _switch(host, Resume(request.session_path))


async def fork(host: Host, request: verbs.Fork, call: Call) -> Answer:
    """A copy of what stands before a message."""
    log = host.session.log
    if log.path is None:
        raise _KEPT_NOWHERE
    found = next((each for each in said_in(log.archive.path()) if each[0] == request.entry_id), None)
    if found is None:
        raise UsageError(
            f"no message {request.entry_id[:100]!r} of a person on this branch", hint="get_fork_messages lists them."
        )
    _, parent, words = found
    choice: Choice = New() if parent is None else Fork(str(log.path), parent)
    return {"text": words, **await _switch(host, choice)}


async def clone(host: Host, request: verbs.Clone, call: Call) -> Answer:
    """A copy."""
    log = host.session.log
    if log.path is None:
        raise _KEPT_NOWHERE
    if log.archive.leaf is None:
        raise UsageError("nothing was said yet, so there is nothing to copy", hint="Say something first.")
    return await _switch(host, Fork(str(log.path)))


async def _switch(host: Host, choice: Choice) -> Json:
    await host.desk.switch(host.session.project, choice)
    return {"cancelled": False}
