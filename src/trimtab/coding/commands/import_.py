"""`/import FILE`: a session of another agent, as one of this folder to go on with."""

import os
from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.files import complete_paths, path_in
from trimtab.coding.logs import session_folder
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import indented, one_line
from trimtab.coding.telling.tables import counted
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    if not rest:
        raise UsageError("/import needs a file", hint="/import FILE: a session of pi, tau, Claude Code, Codex, ….")
    desk.work(partial(_imported, desk, rest), is_turn=False)


async def _imported(desk: Desk, name: str) -> None:
    lines = await anyio.to_thread.run_sync(_lines, desk.session, name)
    desk.tell("\n".join(lines))


def _lines(session: Session, name: str) -> list[str]:
    from trimtab.sessions.detect import read_recordings  # noqa: PLC0415 - knows the formats of other agents
    from trimtab.sessions.imported import import_recording  # noqa: PLC0415 - as above

    project = session.project
    file = path_in(session, name)
    if os.path.isdir(file):
        raise UsageError(f"{name} is a folder", hint="Name a file; trimtab sessions import takes folders.")
    lines: list[str] = []
    for recording in read_recordings(file, None, name=str(file)):
        done = import_recording(recording, session_folder(project), str(project.cwd))
        what = "is here already" if done.known else "is a session now"
        lines.append(
            one_line(f"{name} {what}: /resume {done.id} goes on with it ({counted(done.messages, 'message')})")
        )
        lines += [indented(f"  left out: {lost}") for lost in done.lost]
        lines += [indented(f"  note: {text}") for text in done.notes]
    return lines or [one_line(f"{name} holds no session of a known agent")]


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return complete_paths(session, typed)


COMMAND = Command("import", "FILE", "take over a session of another agent", _run, _complete)
