"""`/export [FILE] [FORMAT]`: this session written down for others, without secrets."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import get_args

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.commands.files import path_in
from trimtab.coding.new_file import write_new
from trimtab.coding.session import Session
from trimtab.coding.session_export import ENDINGS, Format, export, format_of
from trimtab.coding.telling.printable import one_line
from trimtab.coding.told import told_in
from trimtab.types.errors import UsageError

FORMATS: tuple[Format, ...] = get_args(Format)


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    path = session.log.path
    if path is None:
        raise UsageError(
            "this session is kept nowhere, so it can't be written down", hint="Start without --no-session."
        )
    name, chosen = read(rest)
    file = path_in(session, name) if name else None
    target = file or session.project.cwd / f"trimtab-{session.id}{ENDINGS[chosen]}"

    told = told_in(session)

    def write() -> None:
        write_new(target, export(session.project, path, chosen, told=told))

    desk.work(partial(_written, desk, write, target), is_turn=False)


async def _written(desk: Desk, write: Callable[[], None], target: Path) -> None:
    await anyio.to_thread.run_sync(write)
    desk.tell(one_line(f"written to {target}"))


def read(rest: str) -> tuple[str, Format]:
    """The file, which may have blanks in it, and the format: the last word where it is one, else what the file's name ends with, else html."""
    words = rest.replace("--format=", "").replace("--format ", "").rsplit(maxsplit=1)
    if words and (chosen := next((one for one in FORMATS if one == words[-1]), None)):
        return (words[0] if len(words) == 2 else ""), chosen
    return rest, format_of(rest)


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    before, blank, word = typed.rpartition(" ")
    return [Completion(f"{before}{blank}{one}") for one in FORMATS if one.startswith(word)]


COMMAND = Command(
    "export", "[FILE] [FORMAT]", "write this session down: html, md, jsonl, openai, anthropic", _run, _complete
)
