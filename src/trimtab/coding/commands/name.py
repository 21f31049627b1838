"""`/name [TITLE]`: what the session is called in lists, or another name for it."""

import anyio

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.telling.printable import one_line
from trimtab.types.errors import UsageError

_MOST = 120
"""Characters of a title that a person gives."""


def title_in(text: str) -> str:
    """The title that a person means by `text`: one line. Raises `UsageError` when it is too long."""
    title = " ".join(one_line(text).split())
    if len(title) > _MOST:
        raise UsageError(f"a title has at most {_MOST} characters, and this one has {len(title):,}", hint="Shorten it.")
    return title


async def _run(desk: Desk, rest: str) -> None:
    log = desk.session.log
    if title := title_in(rest):
        await anyio.to_thread.run_sync(log.set_title, title)
    told = log.archive.title
    desk.tell(f"name: {one_line(told)}" if told else "this session has no name yet; /name TITLE gives it one")


COMMAND = Command("name", "[TITLE]", "say what the session is called, or name it", _run)
