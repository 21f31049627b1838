"""Offloading: large arguments of calls become pointers to where they can be read."""

from collections.abc import Callable, Iterator, Sequence

from trimtab.context import markers
from trimtab.context.actions import Action
from trimtab.context.editing.housekeeping import KEPT_ELSEWHERE, LEAST_KEPT
from trimtab.context.editing.kit import Kit, Plan, Target, params_of
from trimtab.context.shorten.arguments import Path, offload_arguments
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Offload
from trimtab.types.messages import ToolCall, ToolResult


def offload(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    """Return the edit that puts a pointer in place of each large argument of the calls that `targets` mean."""
    arguments: dict[str, str] = {}
    refused: list[str] = []
    for target in targets:
        done = False
        for slot, part, call in _calls(view, target):
            address = f"{slot.id}#{part}"
            least = LEAST_KEPT if call.name in KEPT_ELSEWHERE else kit.min_arguments
            text = offload_arguments(
                call.raw, min_tokens=least, count=kit.count, pointer_for=_pointers(slot, address, call, kit)
            )
            if text is not None:
                arguments[address] = text
                done = True
        if not done:
            refused.append(f"{target.name}: no argument is large enough for a pointer, or nothing could read it again")
    if not arguments:
        return Plan(refused=tuple(refused))
    return Plan((Offload(targets=tuple(arguments), arguments=arguments, params=params_of(action)),), tuple(refused))


def _calls(view: View, target: Target) -> Iterator[tuple[Slot, int, ToolCall]]:
    """The calls that a target means: itself, those of an answer, or the one that a result answers."""
    slot, wanted = target.slot, target.address.part
    call_id = None
    if isinstance(slot.base, ToolResult) and slot.group is not None:
        call_id = slot.base.call_id
        slot = view.slots[slot.group]
    for part, call in enumerate(slot.base.parts):
        if isinstance(call, ToolCall) and wanted in (None, part) and call_id in (None, call.id):
            yield slot, part, call


def _pointers(slot: Slot, address: str, call: ToolCall, kit: Kit) -> Callable[[Path, str], str | None]:
    memo = call.name == "memo"
    arguments = call.arguments or {}
    way_back = "memo" if memo else kit.way_back(slot)
    kept = KEPT_ELSEWHERE.get(call.name)

    def pointer(path: Path, value: str) -> str | None:
        if memo and path != ("content",):
            return None  # a memo's key and summary are what the model knows it by
        size = kit.count(value)
        if not way_back or (path != (kept,) and size < kit.min_arguments):
            return None
        return markers.pointer(
            name=address,
            key=markers.marker_key(address, size=size, salt=kit.salt),
            tokens=size,
            lines=value.count("\n") + 1,
            memo=str(arguments.get("key") or "") if memo else "",
            summary=str(arguments.get("summary") or "") if memo else "",
            way_back=way_back,
        )

    return pointer
