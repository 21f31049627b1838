"""`/stats`: what was said and done in this session, in numbers."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from statistics import median

import anyio

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.cost import cost_lines
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted
from trimtab.types.entries import KnownEntry, MessageEntry
from trimtab.types.messages import Assistant, ToolResult, User

_TOOLS = 8
_WHOLE = frozenset({"stop", "tool_use", "length"})


async def _run(desk: Desk, rest: str) -> None:
    lines = await anyio.to_thread.run_sync(stats_lines, desk.session)
    desk.tell("\n".join(map(one_line, lines)))


def stats_lines(session: Session) -> list[str]:
    """The branch in use, and what the session took. Reads its file: call it in a thread."""
    archive = session.log.archive
    kinds: Counter[str] = Counter(entry.type for entry in archive.path())
    values = [value for entry in archive.path() if (value := entry.value) is not None]
    messages = [value.message for value in values if isinstance(value, MessageEntry)]
    prompts = sum(isinstance(m, User) and m.origin in ("prompt", "follow_up") for m in messages)
    answers = sum(isinstance(m, Assistant) for m in messages)
    results = [m for m in messages if isinstance(m, ToolResult)]
    tools = Counter(m.tool_name for m in results).most_common(_TOOLS)
    failed = sum(m.is_error for m in results)
    used = ", ".join(f"{name} {number}" for name, number in tools)
    return [
        f"session {session.log.header.id} in {session.project.cwd}",
        f"file {session.log.path or 'none: nothing is kept'}",
        f"{counted(prompts, 'prompt')}, {counted(answers, 'answer')}, {counted(len(results), 'result')} of tools ({failed} failed)"
        + (f": {used}" if used else ""),
        f"{counted(kinds['edit'], 'edit')} of the context, {counted(kinds['revert'], 'revert')}; {len(archive):,} entries in all",
        *speed_lines(values),
        *cost_lines(session),
    ]


def speed_lines(entries: Iterable[KnownEntry]) -> list[str]:
    """How long answers took, from what was written before each until it was whole, retries included; none where nothing tells."""
    before, took, rates = 0.0, list[float](), list[float]()
    for entry in entries:
        at = _moment(entry.time)
        message = entry.message if isinstance(entry, MessageEntry) else None
        if isinstance(message, Assistant) and message.stop_reason in _WHOLE and 0 < before < at:
            took.append(at - before)
            if message.usage is not None and message.usage.output:
                rates.append(message.usage.output / (at - before))
        before = at
    if not took:
        return []
    rate = f", {median(rates):,.0f} tokens of it a second" if rates else ""
    return [f"an answer took {median(took):,.1f} s{rate} (half took longer); the longest {max(took):,.1f} s"]


def _moment(time: str) -> float:
    """Seconds; 0 for what is no time."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


COMMAND = Command("stats", "", "what was said and done in this session", _run)
