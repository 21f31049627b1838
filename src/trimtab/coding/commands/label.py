"""`/label NAME [PLACE]`: a name for a place in the session, by which /tree and /fork find it."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.tree import complete_places
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tree_text import nodes_of
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    name, _, place = rest.partition(" ")
    if not name:
        raise UsageError(
            "a label needs a name",
            hint="/label NAME [PLACE]; without a place, where the talk is; /label - PLACE takes it away.",
        )
    target = _target(desk, place.strip())
    if target is None:
        raise UsageError("nothing was said yet", hint="Say something first.")
    session.log.label(target, "" if name == "-" else name)
    desk.tell(one_line(f"{target[:8]} has no label now" if name == "-" else f"{target[:8]} has the label {name} now"))


def _target(desk: Desk, place: str) -> str | None:
    log = desk.session.log
    nodes = nodes_of(log.archive)
    if not place:
        here = next((node.entry_id for node in nodes if node.here), None)
        return here or log.archive.leaf
    if place.isdecimal() and 0 < int(place) <= len(nodes):
        return nodes[int(place) - 1].entry_id
    found = log.archive.matches(place)
    if len(found) != 1:
        raise UsageError(f"no entry {place!r}", hint="/tree lists the numbers, ids and labels that there are.")
    return found[0]


COMMAND = Command("label", "NAME [PLACE]", "name a place, for /tree and /fork", _run, complete_places)
