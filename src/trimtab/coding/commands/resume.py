"""`/resume [SESSION]`: go on with another session."""

import os
from collections.abc import Sequence

import anyio

from trimtab.coding.choose import Resume
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.logs import session_folder
from trimtab.coding.session import Session
from trimtab.coding.session_list import Row, ended_in_words, list_sessions
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, table
from trimtab.types.errors import UsageError

_SHOWN = 15


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    if rest:
        if session.log.path is not None and await anyio.to_thread.run_sync(_is_this, session, rest):
            raise UsageError(f"{one_line(rest)} is this session", hint="/resume lists the others.")
        await desk.switch(session.project, Resume(rest))
        return
    rows, notes = await anyio.to_thread.run_sync(lambda: list_sessions(session.project, everywhere=False))
    for text in notes:
        desk.tell(one_line(text))
    shown = [row for row in rows if row.summary.entries and row.summary.id != session.log.header.id]
    if not shown and notes:
        return
    if not shown:
        desk.tell("no other session in this folder; trimtab sessions list --all shows those of other folders")
        return
    cells = [_cells(row) for row in shown[:_SHOWN]]
    if not any(row[3] for row in cells):
        cells = [(*row[:3], row[4]) for row in cells]
    lines = table(cells, None, right=(1, 2))
    more = [f"and {len(shown) - _SHOWN} more: trimtab sessions list"] if len(shown) > _SHOWN else []
    desk.tell("\n".join([*map(one_line, lines), *more, "/resume ID goes on with one (the start of an id is enough)"]))


def _is_this(session: Session, ref: str) -> bool:
    """Whether `ref` names the session that is open. Raises `UnknownSession` for one that there is not."""
    if ref == session.log.header.id:
        return True
    found = session_folder(session.project).find(ref, str(session.project.cwd))
    return os.path.realpath(found) == os.path.realpath(session.log.path or "")


def _cells(row: Row) -> tuple[str, ...]:
    """Id, age, entries, how it ended, title."""
    summary = row.summary
    minutes = row.age_s / 60
    age = (
        "just now"
        if minutes < 1
        else f"{minutes:.0f} min"
        if minutes < 120
        else f"{minutes / 60:.0f} h"
        if minutes < 2_880
        else f"{minutes / 1_440:.0f} d"
    )
    entries = counted(summary.entries, "entry").replace("entrys", "entries")
    return summary.id, age, entries, ended_in_words(summary), summary.title or "(empty)"


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    rows, _ = list_sessions(session.project, everywhere=False)
    return tuple(Completion(row.summary.id, row.summary.title) for row in rows)


COMMAND = Command("resume", "[SESSION]", "go on with another session; without a name, list them", _run, _complete)
