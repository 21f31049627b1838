"""The tree of a session as lines: what the person said on each branch, and where one is.

1  a1b2c3d4  fix the failing test
2  d4e5f6a7  ├─ try it with a mock
3  77ab0912  │  now the other one
4  0789abcd  └─ [label] use the real server   ← here

What follows without a branch stands below; only where the talk went on in several ways do lines part.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.archive import Archive
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import User

_ID = 8
_WORDS = 100
_LEVELS = 12
"""Branches in branches that are drawn; of deeper ones the innermost."""
_SAID = frozenset({"prompt", "follow_up", "steering"})


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that a person said: its entry, what it hangs on (the entry before it), its words, its label, and its branches, from the outermost: whether others follow below that one.

    `begins`: it is the first of its branch.
    """

    entry_id: str
    parent: str | None
    words: str
    label: str
    branches: tuple[bool, ...]
    begins: bool
    here: bool


def nodes_of(archive: Archive) -> tuple[Node, ...]:
    """What a person said, branch by branch, in the order in which it was said. `here` marks the last one of the branch in use."""
    spoken = [entry for entry in archive if entry.type == "message" and _words(entry.value) is not None]
    on_path = [entry.id for entry in archive.path() if entry.type == "message" and _words(entry.value) is not None]
    last = on_path[-1] if on_path else None
    drawn: dict[str, tuple[tuple[bool, ...], bool]] = {}
    before: dict[str, str | None] = {}
    ids = {entry.id for entry in spoken}
    for entry in spoken:
        before[entry.id] = _spoken_before(archive, entry.parent, ids)
    children: dict[str | None, list[str]] = {}
    for entry in spoken:
        children.setdefault(before[entry.id], []).append(entry.id)
    pending = _below(children.get(None, []), ())
    while pending:
        here, branches, begins = pending.pop()
        drawn[here] = (branches, begins)
        pending += _below(children.get(here, []), branches)
    by_id = {entry.id: entry for entry in spoken}
    return tuple(
        Node(
            one,
            by_id[one].parent,
            _words(by_id[one].value) or "",
            archive.labels.get(one, ""),
            *drawn[one],
            here=one == last,
        )
        for one in drawn
    )


def _below(ids: Sequence[str], branches: tuple[bool, ...]) -> list[tuple[str, tuple[bool, ...], bool]]:
    """What was said behind one place, the last first: on the same branch where it is one thing, else each on a branch of its own."""
    if len(ids) == 1:
        return [(ids[0], branches, False)]
    return [(one, (*branches, at > 0), True) for at, one in enumerate(reversed(ids))]


def tree_lines(nodes: Sequence[Node]) -> list[str]:
    """The nodes as lines, numbered from 1."""
    width = len(str(len(nodes)))
    lines = []
    for number, node in enumerate(nodes, 1):
        label = f"[{node.label}] " if node.label else ""
        words = node.words if len(node.words) <= _WORDS else node.words[: _WORDS - 1] + "…"
        mark = "  ← here" if node.here else ""
        lines.append(f"{number:{width}}  {node.entry_id[:_ID]}  {_drawn(node)}{label}{words}{mark}")
    return lines


def _drawn(node: Node) -> str:
    """The lines in front of a node's words."""
    shown = node.branches[-_LEVELS:]
    signs = ["│  " if more else "   " for more in shown]
    if node.begins and signs:
        signs[-1] = "├─ " if shown[-1] else "└─ "
    return ("… " if len(shown) < len(node.branches) else "") + "".join(signs)


def _spoken_before(archive: Archive, parent: str | None, ids: set[str]) -> str | None:
    while parent is not None and parent not in ids:
        entry = archive.get(parent)
        parent = None if entry is None else entry.parent
    return parent


def _words(value: object) -> str | None:
    """What a person said in an entry, on one line; None when it is something else."""
    if (
        not isinstance(value, MessageEntry)
        or not isinstance(message := value.message, User)
        or message.origin not in _SAID
    ):
        return None
    return " ".join(" ".join(message.said).split())
