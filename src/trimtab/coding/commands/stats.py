"""`/stats`: what was said and done in this session, in numbers."""

from collections import Counter

import anyio

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.cost import cost_lines
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Assistant, ToolResult, User

_TOOLS = 8


async def _run(desk: Desk, rest: str) -> None:
    lines = await anyio.to_thread.run_sync(stats_lines, desk.session)
    desk.tell("\n".join(map(one_line, lines)))


def stats_lines(session: Session) -> list[str]:
    """The branch in use, and what the session took. Reads its file: call it in a thread."""
    archive = session.log.archive
    kinds: Counter[str] = Counter(entry.type for entry in archive.path())
    messages = [value.message for entry in archive.path() if isinstance(value := entry.value, MessageEntry)]
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
        *cost_lines(session),
    ]


COMMAND = Command("stats", "", "what was said and done in this session", _run)
