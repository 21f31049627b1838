"""A hook that is a command: what it is told on standard input, what it may answer by exit code and on standard output.

    Told ──JSON──▶ stdin     exit 0, nothing printed ──▶ no answer        exit 0, a JSON object ──▶ what it says
                             exit 2 ──▶ no, and why is on stderr          anything else ──▶ HookFailed

It runs in the working folder with the environment of commands (no keys), in a process group of its own, and is ended with all it started when its time is over. The shapes are those
that hooks of other agents have: `decision` and `reason`, and what stands in `hookSpecificOutput`.
"""

import json
import os
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
from trimtab.coding.extensions.points import Answer, Ask, Change, Deny, Note, Point, Replace
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
_NO = frozenset({"deny", "block"})
_YES = frozenset({"allow", "approve", ""})


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
    tree = msgspec.to_builtins(told)
    return msgspec.json.encode({**tree, "hook_event_name": tree.get("hook", "event")}) + b"\n"


async def answer_of(ran: Ran, point: Point, tell: Tell) -> Answer | None:
    """What a command answered. Raises `HookFailed` for what is no answer."""
    if not ran.in_time:
        raise HookFailed("it took too long, and was ended")
    if ran.code == _REFUSED:
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
        if point in ("session_start", "before_request"):
            return Note(text)
        if point == "tool_call":
            raise HookFailed(f"it printed no JSON object: {_line(text)}")
        return None  # what a listener prints is its own matter
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise HookFailed(f"it printed no valid JSON: {_line(str(problem))}") from None
    return await _read(tree, point, tell)


async def _refusal(words: str, point: Point, tell: Tell) -> Answer | None:
    words = clean(words)
    match point:
        case "tool_call" | "before_compaction":
            return Deny(words or "it gave no reason")
        case "tool_result" | "session_start" | "before_request":
            return Note(words)
        case _:
            if words:
                await tell(_line(words))
            return None


async def _read(tree: dict[str, Any], point: Point, tell: Tell) -> Answer | None:
    """A JSON object as an answer. Raises `HookFailed` where a field holds what it can't."""
    inner = tree.get("hookSpecificOutput") or {}
    if not isinstance(inner, dict):
        raise HookFailed("`hookSpecificOutput` is no object")
    if message := _text(tree, "systemMessage", "message"):
        await tell(_line(message))
    decision = _text(inner, "permissionDecision") or _text(tree, "decision")
    reason = _text(inner, "permissionDecisionReason") or _text(tree, "reason", "stopReason")
    note = _text(inner, "additionalContext") or _text(tree, "context", "additionalContext")
    changed = inner.get("updatedInput", tree.get("arguments"))
    if changed is not None and not isinstance(changed, dict):
        raise HookFailed("the changed arguments are no object")
    stops = decision in _NO or tree.get("continue") is False
    if not stops and decision not in (*_YES, "ask"):
        raise HookFailed(f"it decided {_line(decision)!r}, where allow, deny and ask are known")
    match point:
        case "tool_call":
            if stops:
                return Deny(reason)
            if decision == "ask":
                return Ask(reason)
            return Change(changed, note) if changed is not None else Note(note) if note else None
        case "tool_result":
            if "output" in tree:
                return Replace(_text(tree, "output"), tree.get("is_error") is True)
            said = "\n".join(text for text in (reason if stops else "", note) if text)
            return Note(said) if said else None
        case "session_start" | "before_request":
            return Note(note) if note else None
        case "before_compaction":
            return Deny(reason or "it gave no reason") if stops else None
        case _:
            return None


def _text(tree: dict[str, Any], *names: str) -> str:
    """The first of these fields that is there. Raises `HookFailed` for one that is no text."""
    for name in names:
        value = tree.get(name)
        if value is not None:
            if not isinstance(value, str):
                raise HookFailed(f"`{name}` is no text")
            return value
    return ""


def _line(text: str) -> str:
    text = " ".join(clean(text).split())
    return text if len(text) <= _SAID else f"{text[:_SAID]}…"
