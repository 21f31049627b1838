"""A hook that is a command: what it is told on standard input, what it may answer by exit code and on standard output.

    Told ──JSON──▶ stdin     exit 0, nothing printed ──▶ no answer        exit 0, a JSON object ──▶ what it says
                             exit 2 ──▶ no, and why is on stderr          anything else ──▶ HookFailed

It runs in the working folder with the environment of commands (no keys), in a process group of its own, and is ended with all it started when its time is over. The shapes are those
that hooks of other agents have: `decision` and `reason`, and what stands in `hookSpecificOutput`.
"""

import json
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import msgspec

from trimtab.coding.extensions.chain import Tell, clean
from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.extensions.points import (
    Answer,
    Ask,
    Cancel,
    Change,
    Deny,
    Handled,
    Heard,
    Note,
    Point,
    Replace,
    Rewrite,
    Summary,
    Wishes,
)
from trimtab.coding.tools import process_tree
from trimtab.coding.tools.process import GRACE_S, Pump
from trimtab.types.text import strip_terminal

_MOST = 200_000
"""Bytes of standard output that an answer may have."""
_MOST_WORDS = 16_000
"""Bytes of standard error that are kept."""
_DRAIN_S = 0.1
_SAID = 300
_REFUSED = 2
"""The exit code that says no."""
_NEVER_RAN = re.compile(
    r"usage: |\S{1,300}: can't open file |\S{1,300}: -c: line \d+: |\S{1,300}: \d+: Syntax error: ", re.ASCII
)
"""How the words begin of interpreters and parsers of arguments that end with that code too: the file of the hook is gone, or its command is mistaken."""
_NO = frozenset({"deny", "block"})
_YES = frozenset({"allow", "approve"})
_LISTENS: frozenset[Point] = frozenset({"session_end", "after_compaction", "event"})
"""Where nothing is answered."""
_TEXT, _FLAG, _OBJECT = (str, "no text"), (bool, "neither true nor false"), (dict, "no object")
_OUTER: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(
        ("decision", "reason", "context", "additionalContext", "output", "message", "systemMessage", "stopReason"),
        _TEXT,
    ),
    **dict.fromkeys(("is_error", "continue", "suppressOutput"), _FLAG),
    **dict.fromkeys(("arguments", "hookSpecificOutput"), _OBJECT),
}
"""The fields of an answer: what each holds, and what is said of one that doesn't."""
_INNER: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(
        ("hookEventName", "permissionDecision", "permissionDecisionReason", "additionalContext"),
        _TEXT,
    ),
    "updatedInput": _OBJECT,
}
"""Those of `hookSpecificOutput`."""
_OF_COMPACTION: Mapping[str, tuple[type, str]] = {"summary": _TEXT, "instructions": _TEXT}
"""Those that are known before a compaction alone."""
_OF_INPUT: Mapping[str, tuple[type, str]] = {"text": _TEXT}
"""That which is known where a person said something."""
_CANCEL = "cancel"
"""What may be decided before a compaction alone."""
_MORE: Mapping[str, Mapping[str, tuple[type, str]]] = {"before_compaction": _OF_COMPACTION, "input": _OF_INPUT}


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended: its exit code (None: by a signal, or not in time), and what it printed."""

    code: int | None
    out: bytes
    err: str
    whole: bool = True
    in_time: bool = True


@dataclass(slots=True)
class _Kept:
    """The beginning of an output; the rest is read and dropped."""

    most: int
    data: bytearray = field(default_factory=bytearray)
    dropped: int = 0

    def wants_disk(self, more: int) -> bool:
        """Never."""
        return False

    def feed(self, data: bytes) -> None:
        """Keep what there is room for."""
        room = self.most - len(self.data)
        self.data += data[:room]
        self.dropped += max(len(data) - room, 0)


async def run_hook(
    argv: tuple[str, ...], data: bytes, *, environment: Mapping[str, str], cwd: Path, limit_s: float
) -> Ran:
    """Run a command with `data` on its standard input, for `limit_s` seconds at most. Raises `HookFailed` when it can't be started."""
    marker = secrets.token_hex(8)
    out, err = _Kept(_MOST), _Kept(_MOST_WORDS)
    with tempfile.TemporaryFile() as given:
        given.write(data)
        given.seek(0)
        pipes = [os.pipe(), os.pipe()]
        try:
            for reading, _ in pipes:
                os.set_blocking(reading, False)
            try:
                process = await anyio.open_process(
                    argv,
                    stdin=given,
                    stdout=pipes[0][1],
                    stderr=pipes[1][1],
                    cwd=cwd,
                    env={**environment, process_tree.MARKER: marker},
                    start_new_session=True,
                )
            except (OSError, ValueError) as problem:
                raise HookFailed(f"it can't be started: {problem}") from problem
            finally:
                for _, writing in pipes:
                    os.close(writing)
            pumps = [Pump(pipes[0][0], out, None), Pump(pipes[1][0], err, None)]  # type: ignore[arg-type]
            in_time = await _follow(process, marker, pumps, limit_s)
        finally:
            for reading, _ in pipes:
                os.close(reading)
    code = process.returncode if in_time else None
    words = strip_terminal(err.data.decode("utf-8", "replace")).strip()
    return Ran(code if code is not None and code >= 0 else None, bytes(out.data), words, not out.dropped, in_time)


async def _follow(process: Any, marker: str, pumps: list[Pump], limit_s: float) -> bool:
    """Whether the command ended in its time; else it was ended with all that it started."""
    exited = False
    try:
        async with anyio.create_task_group() as group:
            for pump in pumps:
                group.start_soon(pump.run)
            with anyio.move_on_after(limit_s):
                await process.wait()
                exited = True
            group.cancel_scope.cancel()
        if exited:
            with anyio.move_on_after(_DRAIN_S):
                for pump in pumps:
                    if not pump.ended:
                        await pump.run()
    finally:
        if not exited:
            with anyio.CancelScope(shield=True):
                await process_tree.stop(process.pid, marker, grace_s=GRACE_S)
                with anyio.move_on_after(GRACE_S):
                    await process.wait()
    return exited


def payload(told: Any) -> bytes:
    """What a command is told, as one line of JSON; `hook_event_name` repeats the point for scripts that know it by that name."""
    where, what = (told.where, told.event) if isinstance(told, Heard) else ({}, told)
    tree = {**where, **msgspec.to_builtins(what)}
    if not tree.get("agent"):
        tree.pop("agent", None)
    return msgspec.json.encode({**tree, "hook_event_name": tree.get("hook", "event")}) + b"\n"


async def answer_of(ran: Ran, point: Point, tell: Tell) -> Answer | None:
    """What a command answered. Raises `HookFailed` for what is no answer."""
    if not ran.in_time:
        raise HookFailed("it took too long, and was ended")
    if ran.code == _REFUSED and (point == "before_compaction" or not _NEVER_RAN.match(ran.err)):
        return await _refusal(ran.err, point, tell)
    if ran.code != 0:
        how = "was killed" if ran.code is None else f"ended with exit code {ran.code}"
        raise HookFailed(f"it {how}" + (f": {_line(ran.err)}" if ran.err else ""))
    if not ran.whole:
        raise HookFailed(f"it printed more than {_MOST:,} bytes")
    try:
        text = ran.out.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise HookFailed("it printed what is no UTF-8") from None
    if not text:
        return None
    if not text.startswith("{"):
        if point in ("session_start", "before_request", "input"):
            return Note(text)
        if point == "before_compaction":
            return Wishes(text)
        if point == "tool_call":
            raise HookFailed(f"it printed no JSON object: {_line(text)}")
        return None  # what a listener prints is its own matter
    try:
        tree = json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as problem:
        raise HookFailed(f"it printed no valid JSON: {_line(str(problem))}") from None
    return await _read(tree, point, tell)


async def _refusal(words: str, point: Point, tell: Tell) -> Answer | None:
    words = clean(words)
    match point:
        case "tool_call" | "before_compaction":
            return Deny(words or "it gave no reason")
        case "input":
            return Handled(words)
        case "tool_result" | "session_start" | "before_request":
            return Note(words)
        case _:
            if words:
                await tell(_line(words))
            return None


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. Raises `HookFailed` for a field that is there twice: nobody knows which one is meant."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise HookFailed(f"`{_line(next(name for name in names if names.count(name) > 1))}` is there twice")
    return fields


def _require_fields(tree: Mapping[str, Any], known: Mapping[str, tuple[type, str]], *, guards: bool) -> None:
    """Raise `HookFailed` for a field that holds what it can't, and, of one who `guards`, for an object that says nothing or nearly says something."""
    for name, (kind, what) in known.items():
        value = tree.get(name)
        if value is not None and not isinstance(value, kind):
            raise HookFailed(f"`{name}` is {what}")
    if not guards:
        return
    alike = {_folded(name) for name in (*_OUTER, *_INNER)}
    strange = [name for name in tree if name not in known]
    if near := next((name for name in strange if _folded(name) in alike), None):
        raise HookFailed(f"`{_line(near)}` is no field there, though nearly one")
    if strange and len(strange) == len(tree):
        raise HookFailed(f"it answered with no field that is known, but `{_line(strange[0])}`")


def _folded(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").strip()


def _decided(*said: str | None) -> str:
    """The strictest of what was decided; empty when nothing was. Raises `HookFailed` for a word that isn't known."""
    words = [word for word in said if word is not None]
    for word in words:
        if word not in _NO | _YES | {"ask"}:
            raise HookFailed(f"it decided {_line(word)!r}, where allow, deny and ask are known")
    return next((word for word in words if word in _NO), "ask" if "ask" in words else "")


async def _read(tree: dict[str, Any], point: Point, tell: Tell) -> Answer | None:
    """A JSON object as an answer. Raises `HookFailed` where a field holds what it can't, or where none is known and one could be."""
    guards = point not in _LISTENS
    _require_fields(tree, {**_OUTER, **_MORE.get(point, {})}, guards=guards)
    inner: dict[str, Any] = tree.get("hookSpecificOutput") or {}
    _require_fields(inner, _INNER, guards=guards)
    if message := _text(tree, "systemMessage", "message"):
        await tell(_line(message))
    if point == "before_compaction" and tree.get("decision") == _CANCEL:
        return Cancel(_text(tree, "reason", "stopReason"))
    decision = _decided(inner.get("permissionDecision"), tree.get("decision"))
    reason = _text(inner, "permissionDecisionReason") or _text(tree, "reason", "stopReason")
    note = _text(inner, "additionalContext") or _text(tree, "context", "additionalContext")
    changed = inner.get("updatedInput")
    if changed is None:
        changed = tree.get("arguments")
    stops = decision in _NO or tree.get("continue") is False
    match point:
        case "tool_call":
            if stops:
                return Deny(reason)
            if decision == "ask":
                return Ask(reason)
            return Change(changed, note) if changed is not None else Note(note) if note else None
        case "tool_result":
            if tree.get("output") is not None:
                return Replace(_text(tree, "output"), tree.get("is_error") is True)
            said = "\n".join(text for text in (reason if stops else "", note) if text)
            return Note(said) if said else None
        case "session_start" | "before_request":
            return Note(note) if note else None
        case "input":
            return Handled(reason) if stops else _said(tree, note)
        case "before_compaction":
            return Deny(reason or "it gave no reason") if stops else _wanted(tree, note)
        case _:
            return None


def _said(tree: Mapping[str, Any], note: str) -> Answer | None:
    """What becomes of what a person said: another text, or a note behind it."""
    if tree.get("text") is not None:
        return Rewrite(tree["text"])
    return Note(note) if note else None


def _wanted(tree: Mapping[str, Any], note: str) -> Answer | None:
    """What is wanted of a compaction: a text of the hook's own, or wishes."""
    if text := _text(tree, "summary"):
        return Summary(text)
    wishes = _text(tree, "instructions") or note
    return Wishes(wishes) if wishes else None


def _text(tree: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that is there."""
    return next((value for name in names if (value := tree.get(name)) is not None), "")


def _line(text: str) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"
