"""Entries and messages that pi and tau share: a tree of entries, messages with camelCase fields.

    entries ──parent──▶ chain from the last entry ──▶ events

Entries of the first version have no ids: they are a list. A parent that isn't there, or only further down, is the entry before, so no damage
makes a ring. An id that stood there before is a copy only when all else is the same. An entry names its fields in one agent's style or the
other's (`parentId`, `parent_id`), so both are read here.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from trimtab.sessions.importers.gathering import Answer, Gathering, opaque
from trimtab.sessions.importers.values import count_of, mapping_of, moment_of, parts_of, text_of, usage_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import StopReason, Text, Thinking
from trimtab.types.usage import Usage

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_use",
    "error": "error",
    "aborted": "cancelled",
}


_SILENT = ("session_info", "model_change", "thinking_level_change", "label", "custom")
"""Entries that say nothing to a model."""


class Entry(msgspec.Struct, rename="camel"):
    """The fields of an entry that matter."""

    type: Any = None
    id: Any = None
    parent_id: Any = msgspec.UNSET
    parent_snake: Any = msgspec.field(name="parent_id", default=msgspec.UNSET)
    timestamp: Any = None
    cwd: Any = None
    provider: Any = None
    model_id: Any = None
    model: Any = None
    branched_from: Any = None
    parent_session: Any = None
    message: Any = None
    content: Any = None
    summary: Any = None
    tokens_before: Any = None
    tokens_snake: Any = msgspec.field(name="tokens_before", default=None)


def chain_of(entries: Iterable[Entry]) -> tuple[list[Entry], int, int]:
    """Return the entries from the root to the last one, how many are left out, and how many were copies."""
    tree: list[tuple[Entry, int | None]] = []
    places: dict[str, int] = {}
    copies = 0
    for entry in entries:
        name = text_of(entry.id)
        if entry.type == "leaf":
            continue
        if name in places and tree[places[name]][0] == entry:
            copies += 1
            continue
        parent = entry.parent_id if entry.parent_id is not msgspec.UNSET else entry.parent_snake
        known = places.get(parent) if isinstance(parent, str) else None
        before = len(tree) - 1 if tree else None
        tree.append((entry, known if known is not None or parent is None else before))
        if name:
            places[name] = len(tree) - 1
    chain: list[Entry] = []
    at = len(tree) - 1 if tree else None
    while at is not None:
        entry, at = tree[at]
        chain.append(entry)
    return chain[::-1], len(tree) - len(chain), copies


def read_entries(source: Source, name: str) -> list[Recording]:
    """Return the session in a file of either agent."""
    entries = list(source.records(Entry))
    gathering = Gathering()
    chain, abandoned, copies = chain_of(entry for entry in entries if entry.type != "session")
    left_out = {"entries of abandoned branches": abandoned, "repeated entries": copies}
    gathering.left_out.update({what: n for what, n in left_out.items() if n})
    heads = [entry for entry in entries if entry.type in ("session", "session_info")]
    model = ""
    for entry in chain:
        model = text_of(entry.model_id) or text_of(entry.model) or model
        _take(gathering, entry)
    parent = next((p for head in heads for p in map(text_of, (head.branched_from, head.parent_session)) if p), "")
    return [
        gathering.recording(
            source,
            name,
            id=next((text_of(head.id) for head in heads if head.type == "session"), ""),
            cwd=next((text_of(head.cwd) for head in heads if text_of(head.cwd)), ""),
            model=model or next((m for head in heads if (m := text_of(head.model_id))), ""),
            notes=["branched from another session"] if parent else [],
        )
    ]


def _take(gathering: Gathering, entry: Entry) -> None:
    time = moment_of(entry.timestamp)
    match entry.type:
        case "message":
            _message(gathering, mapping_of(entry.message), time)
        case "compaction":
            before = count_of(entry.tokens_before) or count_of(entry.tokens_snake)
            gathering.compacted(text_of(entry.summary), time=time, before_tokens=before)
        case "branch_summary":
            gathering.came(parts_of(entry.summary), time=time, injected=True)
        case "custom_message":
            gathering.came(parts_of(entry.content), time=time, injected=True)
        case kind if kind not in _SILENT:
            gathering.leave_out(f"{kind} entries" if isinstance(kind, str) else "entries of no kind")
        case _:
            pass


def _message(gathering: Gathering, message: dict[str, Any], time: float | None) -> None:
    match message.get("role"):
        case "user":
            gathering.came(parts_of(message.get("content")), time=time)
        case "assistant":
            _answer(gathering, message, time)
        case "toolResult":
            gathering.result(
                text_of(message.get("toolCallId")),
                parts_of(message.get("content")),
                name=text_of(message.get("toolName")),
                is_error=message.get("isError") is True,
                time=time,
            )
        case "bashExecution" if message.get("excludeFromContext") is not True:
            gathering.came([Text(_shell(message))], time=time, origin="command")
        case "custom" | "hookMessage":
            gathering.came(parts_of(message.get("content")), time=time, injected=True)
        case "branchSummary":
            gathering.came(parts_of(message.get("summary")), time=time, injected=True)
        case role:
            gathering.leave_out(f"{role} messages" if isinstance(role, str) else "messages without a role")


def _answer(gathering: Gathering, message: dict[str, Any], time: float | None) -> None:
    answer = Answer(
        model=text_of(message.get("model")),
        provider=text_of(message.get("provider")),
        time=time,
        id=text_of(message.get("responseId")),
        stop=_STOPS.get(text_of(message.get("stopReason"))),
        usage=_usage(mapping_of(message.get("usage"))),
        error=text_of(message.get("errorMessage")),
    )
    content = message.get("content")
    for block in content if isinstance(content, list) else [content]:
        _add(gathering, answer, block)
    answer.hidden = answer.hidden or (
        answer.usage is not None
        and answer.usage.reasoning > 0
        and not any(isinstance(part, Thinking) and part.text for part in answer.parts)
    )
    gathering.answered(answer)


def _add(gathering: Gathering, answer: Answer, block: Any) -> None:
    data = mapping_of(block)
    match data.get("type"):
        case "thinking":
            text = text_of(data.get("thinking"))
            signature = text_of(data.get("thinkingSignature")) or text_of(data.get("signature"))
            redacted = data.get("redacted") is True
            answer.hidden = answer.hidden or (not text and bool(signature))
            if text or signature:
                answer.parts.append(Thinking("" if redacted else text, signature or None, redacted=redacted))
        case "toolCall":
            name = text_of(data.get("name"))
            answer.parts.append(gathering.call(text_of(data.get("id")), name, data.get("arguments")))
        case None | "text" | "image":
            answer.parts.extend(parts_of([block]))
        case _:
            answer.parts.append(opaque(answer.provider, data))


def _shell(message: dict[str, Any]) -> str:
    """A command that a person ran in the agent: the model sees it as a message."""
    lines = [f"$ {text_of(message.get('command'))}", text_of(message.get("output")).rstrip("\n")]
    if code := count_of(message.get("exitCode")):
        lines.append(f"[exit code {code}]")
    if message.get("cancelled") is True:
        lines.append("[cancelled]")
    return "\n".join(line for line in lines if line)


def _usage(usage: dict[str, Any]) -> Usage | None:
    return usage_of(
        usage.get("input"),
        usage.get("output"),
        cache_read=usage.get("cacheRead"),
        cache_write=usage.get("cacheWrite"),
        cache_write_1h=usage.get("cacheWrite1h"),
        reasoning=usage.get("reasoning"),
    )
