"""Staleness: which results something newer replaces, and which repeat an earlier one word for word.

    answered results, in order ──fold──▶ newer: place → the id of what replaces it      first: place → the id of what it repeats

A file that was read again, whole or the same lines, or that was written since; the same call made again without an error. It follows one
conversation: what came since the last look is taken in, and only where something that was taken in reads otherwise now (a call that was
passed over got its answer, another branch) is everything looked at anew. Edits change what is shown and not what was recorded, so they are
passed over.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from trimtab.context.naming import body_of
from trimtab.context.seeing.resources import Resource
from trimtab.context.window.slots import Slot
from trimtab.context.window.vector import Vector
from trimtab.types.messages import ToolResult

_LEAST_COPY = 80
"""Characters from which on a text that comes again counts as a copy."""


@dataclass(slots=True)
class Staleness:
    """What is known of the results up to the last look."""

    newer: dict[int, str] = field(default_factory=dict)
    """Place of a result to the id of what replaces it."""
    first: dict[int, str] = field(default_factory=dict)
    """Place of a result to the id of the first that says the same."""
    _slots: Vector[Slot] = field(default_factory=Vector)
    _texts: dict[tuple[str, str], str] = field(default_factory=dict)
    """What was asked and what it said, to the id of the result that said it first."""
    _latest: dict[str, int] = field(default_factory=dict)
    _readers: dict[str, list[int]] = field(default_factory=dict)

    def update(self, slots: Vector[Slot], changed: list[int], resource_of: Callable[[Slot], Resource | None]) -> None:
        """Take in what came since the last look. `changed`: the places, ascending, where `slots` holds another slot than it did then."""
        before, start = self._slots, len(self._slots)
        if len(slots) < start or any(not _reads_alike(slots[i], before[i]) for i in changed if i < start):
            for known in (self.newer, self.first, self._texts, self._latest, self._readers):
                known.clear()
            start = 0
        self._slots = slots
        for place, slot in enumerate(slots.range(start, len(slots)), start):
            if slot.answered and isinstance(slot.base, ToolResult) and not slot.base.is_error:
                resource = resource_of(slot)
                if resource is not None:
                    self._take(place, slot, slot.base, resource)

    def _take(self, place: int, slot: Slot, result: ToolResult, resource: Resource) -> None:
        if resource.writes and resource.path:
            for reader in self._readers.pop(resource.path, ()):
                self.newer.setdefault(reader, slot.id)
            return
        key, text = resource.key, body_of(result)
        known = self._texts.get((key, text))
        if known is None:
            self._texts[key, text] = slot.id
        elif len(text) > _LEAST_COPY:
            self.first[place] = known
        if key in self._latest and (resource.reads or known is not None):
            self.newer.setdefault(self._latest[key], slot.id)
        self._latest[key] = place
        if resource.path and resource.reads:
            if resource.whole:
                for reader in self._readers.pop(resource.path, ()):
                    self.newer.setdefault(reader, slot.id)
            self._readers.setdefault(resource.path, []).append(place)


def _reads_alike(slot: Slot, before: Slot) -> bool:
    """Whether both say the same of what was recorded, whatever edits show of it."""
    return slot.base is before.base and slot.answered == before.answered and slot.id == before.id
