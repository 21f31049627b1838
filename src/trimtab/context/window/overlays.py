"""What an edit does to which slots: the meaning of each kind of edit, in one table of small functions.

    edit + slots ──overlays_of──▶ {index of a slot: overlays to lay on it}

Pure and total: a target that the conversation doesn't hold is passed over, for an edit may come from any file. Whether an edit *should* be
applied is decided elsewhere; here every edit keeps calls and results together, however it was written:

- whoever takes a result out takes its call out; whoever takes an answer out takes all its results out;
- a compaction that names part of a group (an answer and its results) takes the whole group, so its border never falls into a pair;
- one that names an earlier summary takes what that hides, and not what somebody has brought back from under it;
- whoever brings one member of a group back lets the whole group stand again.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from trimtab.context.window.layers import Act, Overlay, State
from trimtab.context.window.slots import Slot
from trimtab.types.edits import (
    Compact,
    Compress,
    Drop,
    Edit,
    Elide,
    Expire,
    Fold,
    Offload,
    Pin,
    Restate,
    Restore,
    Summarize,
    Truncate,
    Unpin,
)
from trimtab.types.messages import Assistant, ToolCall, ToolResult

Laid: TypeAlias = dict[int, tuple[Overlay, ...]]

_STATES: dict[type[Edit], State] = {
    Elide: "stub",
    Summarize: "summary",
    Fold: "folded",
    Truncate: "folded",
    Compress: "folded",
}
_MARKS: dict[type[Edit], Act] = {Pin: "pin", Unpin: "unpin", Expire: "expire"}


@dataclass(frozen=True, slots=True)
class Address:
    """A place that a name stands for: a slot, one part of it, or (`edit`) the summary that stands in front of it."""

    index: int
    part: int | None = None
    edit: str | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the meaning of an edit depends on: the slots, what a name stands for, and which slots an earlier edit took out."""

    slot: Callable[[int], Slot]
    find: Callable[[str], Address | None]
    touched_by: Callable[[str], tuple[int, ...]]


@dataclass(slots=True)
class _Layer:
    edit_id: str
    look: Lookup
    laid: dict[int, list[Overlay]] = field(default_factory=dict)

    def add(self, index: int, overlay: Overlay) -> None:
        self.laid.setdefault(index, []).append(overlay)

    def addresses(self, targets: Iterable[str]) -> Iterator[tuple[str, Address]]:
        for target in targets:
            address = self.look.find(target)
            if address is not None:
                yield target, address

    def group(self, index: int) -> range:
        """The indices of the answer and results that `index` belongs to; of itself when it belongs to none."""
        slot = self.look.slot(index)
        if slot.group is not None:
            return range(slot.group, self.look.slot(slot.group).end)
        return range(index, slot.end) if isinstance(slot.base, Assistant) else range(index, index + 1)


def overlays_of(edit_id: str, edit: Edit, look: Lookup) -> Laid:
    """Return what `edit`, recorded under `edit_id`, lays on which slots."""
    layer = _Layer(edit_id, look)
    match edit:
        case Elide() | Summarize() | Fold() | Truncate() | Compress():
            _shorten(layer, edit)
        case Drop():
            _drop(layer, edit)
        case Restore():
            _restore(layer, edit)
        case Offload():
            _offload(layer, edit)
        case Compact():
            _compact(layer, edit)
        case Pin() | Unpin() | Expire():
            for _, address in layer.addresses(edit.targets):
                layer.add(address.index, Overlay(edit_id, _MARKS[type(edit)]))
        case Restate():
            pass  # it makes a slot of its own
        case _:
            assert_never(edit)
    return {index: tuple(overlays) for index, overlays in layer.laid.items()}


def _shorten(layer: _Layer, edit: Elide | Summarize | Fold | Truncate | Compress) -> None:
    for target, address in layer.addresses(edit.targets):
        if target in edit.texts and address.edit is None:
            overlay = Overlay(layer.edit_id, "body", edit.texts[target], address.part, _STATES[type(edit)])
            layer.add(address.index, overlay)


def _offload(layer: _Layer, edit: Offload) -> None:
    for target, address in layer.addresses(edit.targets):
        if target in edit.arguments and address.part is not None:
            layer.add(address.index, Overlay(layer.edit_id, "arguments", edit.arguments[target], address.part))


def _drop(layer: _Layer, edit: Drop) -> None:
    for _, address in layer.addresses(edit.targets):
        if address.edit is not None:
            layer.add(address.index, Overlay(layer.edit_id, "unlead", address.edit))
            continue
        slot = layer.look.slot(address.index)
        if slot.group is not None and isinstance(slot.base, ToolResult):
            layer.add(address.index, Overlay(layer.edit_id, "hide"))
            part = _call_part(layer.look.slot(slot.group), address.index - slot.group - 1)
            if part is not None:
                layer.add(slot.group, Overlay(layer.edit_id, "uncall", part=part))
            continue
        for index in layer.group(address.index):
            layer.add(index, Overlay(layer.edit_id, "hide"))


def _call_part(answer: Slot, number: int) -> int | None:
    """The part of the answer that holds its call of that number: results stand in call order."""
    if not isinstance(answer.base, Assistant):
        return None
    calls = [n for n, part in enumerate(answer.base.parts) if isinstance(part, ToolCall)]
    return calls[number] if number < len(calls) else None


def _restore(layer: _Layer, edit: Restore) -> None:
    for target, address in layer.addresses(edit.targets):
        group = layer.group(address.index)
        for index in group:
            if index != address.index:
                layer.add(index, Overlay(layer.edit_id, "unhide"))
        layer.add(address.index, Overlay(layer.edit_id, "unhide"))
        layer.add(address.index, Overlay(layer.edit_id, "whole", part=address.part))
        if target in edit.texts:
            layer.add(address.index, Overlay(layer.edit_id, "body", edit.texts[target], address.part, "folded"))


def _compact(layer: _Layer, edit: Compact) -> None:
    covered: set[int] = set()
    for _, address in layer.addresses(edit.targets):
        if address.edit is not None:
            layer.add(address.index, Overlay(layer.edit_id, "unlead", address.edit))
            covered.update(i for i in layer.look.touched_by(address.edit) if layer.look.slot(i).state == "gone")
        else:
            covered.update(layer.group(address.index))
    hide = Overlay(layer.edit_id, "hide")
    for index in sorted(covered):
        layer.add(index, hide)
    if layer.laid:
        layer.add(min(layer.laid), Overlay(layer.edit_id, "lead", edit.summary))
