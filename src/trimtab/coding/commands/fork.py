"""`/fork [PLACE]`: go on with a copy up to a place, in a session of its own; this one stays as it is."""

from trimtab.coding.choose import Fork
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.tree import complete_places, place_of
from trimtab.coding.telling.tree_text import nodes_of
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    await go_on_with_copy(desk, rest)


async def go_on_with_copy(desk: Desk, place: str) -> None:
    """Go on with a copy of the session up to `place`, all of it without one. Raises `UsageError`, and as `Desk.switch` does."""
    session = desk.session
    if session.log.path is None:
        raise UsageError(
            "this session is kept nowhere, so there is nothing to copy", hint="Start without --no-session."
        )
    at = None
    if place:
        at, _ = place_of(session, nodes_of(session.log.archive), place)
        if at is None:
            raise UsageError("nothing stands before that place", hint="/new begins a fresh session.")
    await desk.switch(session.project, Fork(str(session.log.path), at))


COMMAND = Command("fork", "[PLACE]", "go on with a copy of this session, up to a place of /tree", _run, complete_places)
