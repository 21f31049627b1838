"""The tree of a session as lines: what the person said on each branch, and where one is.

● 1  a1b2c3  fix the failing test
├─ 2  d4e5f6  try it with a mock
└─ 3  0789ab  [label] use the real server   ← here
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.archive import Archive
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Text, User

_ID = 8
_WORDS = 100
_SAID = frozenset({"prompt", "follow_up", "steering"})


@dataclass(frozen=True, slots=True)
class Node:
    """One thing that a person said: its entry, what it hangs on (the entry before it), its words, its label, and how deep its branch is."""

    entry_id: str
    parent: str | None
    words: str
    label: str
    depth: int
    here: bool


def nodes_of(archive: Archive) -> tuple[Node, ...]:
    """What a person said, branch by branch, in the order in which it was said. `here` marks the last one of the branch in use."""
    spoken = [entry for entry in archive if entry.type == "message" and _words(entry.value) is not None]
    on_path = [entry.id for entry in archive.path() if entry.type == "message" and _words(entry.value) is not None]
    last = on_path[-1] if on_path else None
    depth: dict[str, int] = {}
    before: dict[str, str | None] = {}
    ids = {entry.id for entry in spoken}
    for entry in spoken:
        before[entry.id] = _spoken_before(archive, entry.parent, ids)
    children: dict[str | None, list[str]] = {}
    for entry in spoken:
        children.setdefault(before[entry.id], []).append(entry.id)
    ordered: list[str] = []
    pending = [(one, 0) for one in reversed(children.get(None, []))]
    while pending:
        here, level = pending.pop()
        ordered.append(here)
        depth[here] = level
        below = children.get(here, [])
        pending += [(one, level + (1 if len(below) > 1 else 0)) for one in reversed(below)]
    by_id = {entry.id: entry for entry in spoken}
    return tuple(
        Node(
            one,
            by_id[one].parent,
            _words(by_id[one].value) or "",
            archive.labels.get(one, ""),
            depth[one],
            here=one == last,
        )
        for one in ordered
    )


def tree_lines(nodes: Sequence[Node]) -> list[str]:
    """The nodes as lines, numbered from 1."""
    width = len(str(len(nodes)))
    lines = []
    for number, node in enumerate(nodes, 1):
        label = f"[{node.label}] " if node.label else ""
        words = node.words if len(node.words) <= _WORDS else node.words[: _WORDS - 1] + "…"
        mark = "  ← here" if node.here else ""
        lines.append(f"{number:{width}}  {node.entry_id[:_ID]}  {'  ' * node.depth}{label}{words}{mark}")
    return lines


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
    return " ".join(" ".join(part.text for part in message.parts if isinstance(part, Text)).split())
