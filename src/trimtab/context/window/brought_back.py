"""What somebody brought back lately: a policy leaves it alone for a while.

The log knows it, so that what a person restores between two runs is as safe as what a model restores in one.
"""

from trimtab.context.window.view import View
from trimtab.types.edits import Expire, Pin, Restate, Restore, Unpin


def brought_back(view: View, steps: int) -> dict[str, int]:
    """Return the items that a `Restore`, or the revert of an edit, brought back within the last `steps` requests, each with the step at which."""
    since = view.step - steps
    found: dict[str, int] = {}
    for place in range(len(view.applied) - 1, -1, -1):
        applied = view.applied[place]
        if applied.step < since:
            break
        if isinstance(applied.edit, Restore) and applied.id not in view.reverted:
            addresses = (view.find(target) for target in applied.edit.targets)
            ids = (view.slots[address.index].id for address in addresses if address is not None)
            found.update((slot_id, applied.step) for slot_id in ids if slot_id not in found)
    for place in range(len(view.reverts) - 1, -1, -1):
        revert = view.reverts[place]
        if revert.step < since:
            break
        edit = view.edit(view.edit_behind(revert.id))
        if edit is None or isinstance(edit.edit, Restore | Restate | Pin | Unpin | Expire):
            continue  # such an edit hid nothing
        if edit.id in view.reverted and revert.id not in view.reverted:
            ids = (view.slots[index].id for index in edit.slots)
            found.update((slot_id, max(revert.step, found.get(slot_id, 0))) for slot_id in ids)
    return found
