"""The ways that a talk went and that its path doesn't tell: each entry once, on the branch that goes on longest from where it leaves.

tree without the path ──last child after last child──▶ a branch        the children that are left ──▶ branches of their own, behind it
"""

from collections.abc import Iterator
from dataclasses import dataclass

from trimtab.context.archive import Archive
from trimtab.context.stores.bodies import BodyStore
from trimtab.context.summary.redact import redact
from trimtab.sessions.export.story import Said, Step, steps_of
from trimtab.types.codec import Entry
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Text, ToolResult, User

_WORDS = 120
_READ = 2_000
"""Characters of a prompt that is shown by its first words."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One way: the first words that a person said on it, when, where it leaves what was told before it (None: it begins anew), and its steps."""

    words: str
    time: str
    after: str | None
    steps: tuple[Step, ...]

    @property
    def messages(self) -> int:
        """How many messages stand on it."""
        return sum(isinstance(step, Said) for step in self.steps)


def branches_of(archive: Archive, bodies: BodyStore) -> tuple[Branch, ...]:
    """The branches beside the one that `story_of` tells, in the order in which they began; those on which nothing was said are left out."""
    told = {entry.id for entry in archive.path()}
    children: dict[str | None, list[Entry]] = {}
    for entry in archive:
        if entry.id not in told and entry.type not in ("leaf", "label"):
            children.setdefault(entry.parent, []).append(entry)
    found = (_branch(archive, way, bodies) for way in _ways(archive, told, children))
    return tuple(branch for branch in found if branch.messages)


def _ways(archive: Archive, told: set[str], children: dict[str | None, list[Entry]]) -> Iterator[list[Entry]]:
    """Each entry that isn't told, once, in ways from where they leave."""
    begins = [entry for entry in archive if entry.id not in told and (entry.parent is None or entry.parent in told)]
    pending = [entry for entry in begins if entry.type not in ("leaf", "label")][::-1]
    while pending:
        way = [pending.pop()]
        later: list[Entry] = []
        while below := children.get(way[-1].id):
            *others, last = below
            later += others
            way.append(last)
        yield way
        pending += later[::-1]


def _branch(archive: Archive, way: list[Entry], bodies: BodyStore) -> Branch:
    steps = steps_of(way, archive.labels, bodies)
    first = next((step for step in steps if isinstance(step, Said) and isinstance(step.message, User)), None)
    texts = (part.text for part in first.message.parts if isinstance(part, Text)) if first else ()
    words = redact(" ".join(" ".join(texts)[:_READ].split()))[:_WORDS]
    return Branch(words, first.time if first else way[0].time, _above(archive, way[0]), steps)


def _above(archive: Archive, entry: Entry) -> str | None:
    """The nearest message above that stands by itself."""
    at = entry.parent
    while at is not None and (above := archive.get(at)) is not None:
        value = above.value if above.type == "message" else None
        if isinstance(value, MessageEntry) and not isinstance(value.message, ToolResult):
            return at
        at = above.parent
    return None
