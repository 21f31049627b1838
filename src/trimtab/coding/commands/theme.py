"""`/theme [NAME]`: the colours of a frontend that has some; kept in the person's settings."""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.commands.abilities import Themed
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.config.settings import THEMES
from trimtab.types.errors import UsageError
from trimtab.types.near import nearest


async def _run(desk: Desk, rest: str) -> None:
    project = desk.session.project
    if not rest:
        now = desk.theme if isinstance(desk, Themed) else project.settings.theme
        desk.tell(f"theme: {now}; there are: {', '.join(THEMES)}")
    elif rest not in THEMES:
        meant = nearest(rest, THEMES)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"no theme {rest!r}", hint=f"{guess}There are: {', '.join(THEMES)}.")
    else:
        from trimtab.coding.settings.change import set_setting  # noqa: PLC0415 - loads what writes TOML

        told = await anyio.to_thread.run_sync(partial(set_setting, project, "theme", rest))
        desk.tell("\n".join(map(one_line, told)))
        if isinstance(desk, Themed):
            desk.use_theme(rest)
    if not isinstance(desk, Themed):
        desk.tell("this frontend shows no colours")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return [Completion(name) for name in THEMES if name.startswith(typed)]


COMMAND = Command("theme", "[NAME]", "the colours, and others", _run, _complete)
