"""`/tree [PLACE] [summary WISHES]`: what was said on every branch, and going on from another place; with `summary`, what was said on the branch that is left is summed up there.

PLACE is a number of the list, the id of an entry (or its start), or a label. What a person said is gone on from *before*: its words come back to be changed and said again;
anything else is gone on from behind.
"""

from collections.abc import Sequence
from functools import partial

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.telling.tree_text import Node, nodes_of, tree_lines
from trimtab.types.errors import UsageError

_WORDS = 200
_WAY = "/tree N goes back to before N, on the same session"


async def _run(desk: Desk, rest: str) -> None:
    archive = desk.session.log.archive
    nodes = nodes_of(archive)
    if not rest:
        lines = [one_line(line) for line in tree_lines(nodes)]
        if lines and not any(node.here for node in nodes):
            lines = ["← here, before all of it", *lines]
        desk.tell("\n".join([*lines, _WAY]) if lines else "nothing was said yet")
        return
    place, _, more = rest.partition(" ")
    word, _, wishes = more.strip().partition(" ")
    if word not in ("", "summary"):
        raise UsageError(f"/tree doesn't know {word!r}", hint="/tree PLACE, or /tree PLACE summary [WISHES].")
    entry_id, said = place_of(desk.session, nodes, place)
    if word:
        desk.work(partial(_go, desk, entry_id, said, summary=True, wishes=wishes.strip()), is_turn=False)
    else:
        await _go(desk, entry_id, said)


async def _go(desk: Desk, entry_id: str | None, said: str, *, summary: bool = False, wishes: str = "") -> None:
    outcome = await desk.session.go_to(entry_id, summary=summary, wishes=wishes)
    again = f"; it was: {shortened(said, _WORDS)}" if said else ""
    desk.tell(one_line(f"the talk goes on from there{again}"))
    if summary:
        how = (
            "nothing to sum up"
            if outcome is None or not outcome.text
            else f"summed up by {outcome.model or 'a digest'}"
        )
        desk.tell(one_line(f"the branch that was left: {how}"))


def place_of(session: Session, nodes: Sequence[Node], text: str) -> tuple[str | None, str]:
    """The entry that `text` means as the new leaf, and the words of the person that stood behind it. Raises `UsageError`."""
    if text.isdecimal() and 0 < int(text) <= len(nodes):
        node = nodes[int(text) - 1]
        return node.parent, node.words
    found = session.log.archive.matches(text)
    if len(found) != 1:
        what = f"{text!r} fits {len(found)} entries" if found else f"no entry {text!r}"
        raise UsageError(what, hint="/tree lists the numbers, ids and labels that there are.")
    said = next((node for node in nodes if node.entry_id == found[0]), None)
    return (found[0], "") if said is None else (said.parent, said.words)


def complete_places(session: Session, typed: str) -> Sequence[Completion]:
    """What was said, and labels."""
    return tuple(Completion(str(number), node.words) for number, node in enumerate(nodes_of(session.log.archive), 1))


COMMAND = Command(
    "tree", "[PLACE [summary]]", "all branches of this session, and going on from another place", _run, complete_places
)
