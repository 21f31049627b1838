"""Which call a piece of a streamed tool call belongs to.

Chat Completions says: by `index`. Servers leave the index out, start it at 1, give two calls the same one, change or repeat ids, or send a
call whole. The rule: an index (or id, or else the latest call) decides, unless the piece carries a new id or name where the call so far is
already complete; then it begins another call. Ids are made unique within the answer. Pure.
"""

from dataclasses import dataclass, field
from typing import Any

from trimtab.types.ids import new_call_id
from trimtab.types.stream import parse_arguments


@dataclass(slots=True)
class CallPiece:
    """One piece as it streamed; empty strings are absent."""

    index: int | None
    id: str
    name: str
    arguments: str
    wire: dict[str, Any] | None = None


@dataclass(slots=True)
class Slot:
    """One call as far as it is known. `sent` counts the chunks that were already passed on."""

    part: int
    wire_id: str
    call_id: str
    name: str
    chunks: list[str] = field(default_factory=list)
    size: int = 0
    started: bool = False
    sent: int = 0
    wire: dict[str, Any] | None = None

    @property
    def raw(self) -> str:
        """The argument text so far."""
        return "".join(self.chunks)

    @property
    def complete(self) -> bool:
        """Whether the argument text is a whole JSON object."""
        last = next((c for c in reversed(self.chunks) if c.strip()), "")
        return last.rstrip().endswith("}") and parse_arguments(self.raw) is not None


class CallSlots:
    """The calls of one answer, in the order they began."""

    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self._by_index: dict[int | None, Slot] = {}
        self._used: set[str] = set()

    def take(self, piece: CallPiece, next_part: int) -> Slot:
        """Return the call that `piece` belongs to, with the piece added; a new one gets the number `next_part`."""
        slot = self._find(piece)
        if slot is None or _begins_another(slot, piece):
            slot = self._new(piece, next_part)
        elif _repeats(slot, piece):
            return slot
        slot.name = slot.name or piece.name
        slot.wire_id = slot.wire_id or piece.id
        slot.wire = slot.wire or piece.wire
        if piece.arguments:
            slot.chunks.append(piece.arguments)
            slot.size += len(piece.arguments)
        return slot

    def _find(self, piece: CallPiece) -> Slot | None:
        if piece.index in self._by_index:
            return self._by_index[piece.index]
        if piece.index is not None and (piece.id or piece.name):
            return None
        if piece.id:
            same = next((s for s in reversed(self.slots) if s.wire_id == piece.id), None)
            if same is not None or piece.name:
                return same
        return self.slots[-1] if self.slots else None

    def _new(self, piece: CallPiece, part: int) -> Slot:
        call_id = piece.id if piece.id and piece.id not in self._used else new_call_id()
        self._used.add(call_id)
        slot = Slot(part, piece.id, call_id, piece.name)
        self.slots.append(slot)
        if piece.index is not None:
            self._by_index[piece.index] = slot
        return slot


def _begins_another(slot: Slot, piece: CallPiece) -> bool:
    new_id = bool(piece.id) and bool(slot.wire_id) and piece.id != slot.wire_id
    new_name = bool(piece.name) and bool(slot.name) and piece.name != slot.name
    if new_id and new_name:
        return True
    if new_id:
        return bool(piece.name or piece.arguments.strip()) and slot.complete
    if not piece.name or not slot.name:
        return False
    # No id tells them apart: a name of its own, or whole arguments of its own behind a call that is finished.
    if new_name and (piece.index is None or slot.complete):
        return True
    if piece.arguments.strip():
        return slot.complete and piece.arguments != slot.raw
    return piece.index is None and not piece.id and slot.complete


def _repeats(slot: Slot, piece: CallPiece) -> bool:
    """Some servers send the whole call again at its end."""
    if not (piece.id or piece.name) or not piece.arguments or len(piece.arguments) != slot.size:
        return False
    return slot.complete and piece.arguments == slot.raw
