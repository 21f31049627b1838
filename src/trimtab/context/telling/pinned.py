"""What a pin keeps: an item as it stands, which may be no more than a line in place of its text."""

from collections.abc import Iterable

from trimtab.context.naming import name_of
from trimtab.context.window.view import View
from trimtab.types.edits import Edit, Pin

_STANDS = {"stub": "a line in place of its text", "folded": "shortened", "summary": "a summary"}


def kept_as_they_stand(view: View, edits: Iterable[Edit]) -> tuple[str, ...]:
    """Say of each item that one of `edits` pins in `view` and that isn't shown whole what the pin keeps."""
    targets = dict.fromkeys(target for edit in edits if isinstance(edit, Pin) for target in edit.targets)
    told: list[str] = []
    for target in targets:
        address = view.find(target)
        slot = None if address is None or address.edit is not None else view.slots[address.index]
        if slot is not None and slot.state in _STANDS:
            told.append(
                f"{name_of(slot)} is pinned as it stands, {_STANDS[slot.state]}; to keep the text itself, bring it back as well"
            )
    return tuple(told)
