"""`/bug [FILE]`: a report for whoever mends Trimtab, in a file; nothing is sent."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.files import path_in
from trimtab.coding.logs import now
from trimtab.coding.new_file import write_new
from trimtab.coding.telling.printable import one_line


async def _run(desk: Desk, rest: str) -> None:
    project = desk.session.project
    name = f"trimtab-bug-{now():%Y%m%dT%H%M%SZ}.md"
    file = path_in(desk.session, rest) if rest else project.home.data / "bugs" / name
    desk.work(partial(_written, desk, file, make_folder=not rest), is_turn=False)


async def _written(desk: Desk, file: Path, *, make_folder: bool) -> None:
    from trimtab.coding.bug_report import report  # noqa: PLC0415 - few talks need one, and the doctor loads much
    from trimtab.coding.doctor import examine  # noqa: PLC0415 - as above

    checks = await examine(desk.session.project)
    make: Callable[[], str] = partial(report, desk.session, checks)

    def write() -> None:
        write_new(file, [make().encode("utf-8", "replace")], make_folder=make_folder)

    await anyio.to_thread.run_sync(write)
    desk.tell(one_line(f"written to {file}"))
    desk.tell("It holds no words of the conversation, and secrets are taken out; read it before you send it.")


COMMAND = Command("bug", "[FILE]", "a report of what runs and what went wrong, without secrets", _run)
