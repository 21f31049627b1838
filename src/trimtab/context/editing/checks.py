"""Checks: which edits may be applied to a view, and to whom.

    edits ──refusal of each──▶ those that may ──all together on the view──▶ valid messages? ──no──▶ one by one, the culprits out

Three lines of defence. The first asks about targets: they exist, aren't pinned, aren't what the user asked for last, aren't waiting for an
answer; what a person pinned, only a person unpins. The second asks whether what is made to stay leaves room (`limits`). The third asks the outgoing validator about the messages that would go out: whatever rule of a wire an edit would break, it
finds here, before the edit is recorded. So no edit needs to know the wires.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trimtab.context.editing.limits import Limits
from trimtab.context.window.overlays import Address
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Drop, Edit, Expire, Pin, Restate, Restore, Unpin, edit_kind
from trimtab.types.messages import Image, Message, ToolResult, User

INSTRUCTIONS = "policy:instructions"
"""The author of pins that keep instructions among the messages."""
Faults: TypeAlias = Callable[[View], frozenset[str]]
"""What is wrong with the messages of a view, as comparable words; empty: nothing."""


@dataclass(frozen=True, slots=True)
class Checked:
    """Edits that may be applied, and why the others may not."""

    edits: tuple[Edit, ...]
    refused: tuple[str, ...]
    tried: View | None = None
    """The view with all of them, where they were tried together; whoever holds it has them measured without laying them once more."""


def check(edits: Iterable[Edit], view: View, *, author: str, faults: Faults, limits: Limits) -> Checked:
    """Return which of `edits` may be applied to `view`, in order. Nothing is applied here."""
    wanted: list[Edit] = []
    refused: list[str] = []
    trial, tried = view, 0
    for edit in edits:
        reason = refusal(view, edit, author=author)
        if reason is None and limits.concern(edit, author=author):
            # What went before counts: several may fit each alone and not together, and what is hidden first takes less.
            trial, tried = _applied(trial, wanted[tried:], first=tried), len(wanted)
            reason = limits.refusal(trial, edit, author=author)
        if reason is None:
            wanted.append(edit)
        else:
            refused.append(f"{edit_kind(edit)}: {reason}")
    before = faults(view)
    together = _applied(view, wanted)
    if not faults(together) - before:
        return Checked(tuple(wanted), tuple(refused), together)
    fine: list[Edit] = []
    for edit in wanted:
        new = faults(_applied(view, [*fine, edit])) - before
        if new:
            refused.append(f"{edit_kind(edit)} of {', '.join(edit.targets[:3])}: {'; '.join(sorted(new)[:2])}")
        else:
            fine.append(edit)
    return Checked(tuple(fine), tuple(refused))


def refusal(view: View, edit: Edit, *, author: str) -> str | None:
    """Return why `edit` may not touch one of its targets, or None."""
    if isinstance(edit, Restate):
        return None
    if not edit.targets:
        return "it names no target"
    for target in edit.targets:
        address = view.find(target)
        if address is None:
            return f"there is no item {target!r}"
        if reason := _of_target(view, edit, target, address, author=author):
            return reason
    return None


def newest_request(view: View) -> int | None:
    """The index of what the user said last."""
    for index in range(len(view.slots) - 1, -1, -1):
        if is_request(view.slots[index].base):
            return index
    return None


def is_request(message: Message) -> bool:
    """Say whether `message` is something that the user wants, not what an edit or the engine says in their name."""
    return isinstance(message, User) and message.origin not in ("note", "summary")


def _of_target(view: View, edit: Edit, target: str, address: Address, *, author: str) -> str | None:
    slot = view.slots[address.index]
    if address.part is not None and address.part >= len(slot.base.parts):
        return f"{target!r} has no such part"
    if isinstance(edit, Pin | Unpin):
        return None if author == "user" else _of_mark(view, edit, target, slot)
    if isinstance(edit, Restore):
        return None
    members = [view.slots[i] for i in view.group(address.index)] if isinstance(edit, Compact | Drop) else [slot]
    if isinstance(edit, Drop) and isinstance(slot.base, ToolResult):
        # Its call goes with it, and of an answer that is nothing but that call the answer.
        members = [slot] if slot.group is None else [slot, view.slots[slot.group]]
    if address.edit is None:
        return _of_members(view, edit, target, members, address, author=author)
    # A summary stands in the slot of the first message that it covers, and is pinned with it.
    return f"{target!r} is pinned" if author != "user" and slot.pinned else None


def _of_members(
    view: View, edit: Edit, target: str, members: Sequence[Slot], address: Address, *, author: str
) -> str | None:
    slot = view.slots[address.index]
    if any(isinstance(m.base, ToolResult) and not m.answered for m in members):
        return f"{target!r} still waits for an answer"
    if author == "recovery" and address.part is not None and isinstance(slot.base.parts[address.part], Image):
        return None  # a picture that the provider refuses goes wherever it stands
    if author != "user" and any(m.pinned for m in members):
        return f"{target!r} is pinned"
    if isinstance(edit, Expire):
        return None
    if slot.state == "gone":
        return f"{target!r} is not shown"
    if author != "user" and is_request(slot.base) and address.index == newest_request(view):
        return f"{target!r} is what the user asked for last"
    return None


def _of_mark(view: View, edit: Pin | Unpin, target: str, slot: Slot) -> str | None:
    """Why nobody but a person may pin or unpin it, or None."""
    if isinstance(edit, Pin):
        # How long the answer will be, nobody knows yet.
        return (
            f"{target!r} still waits for an answer" if isinstance(slot.base, ToolResult) and not slot.answered else None
        )
    pinners = _pinners(view, slot)
    if "user" in pinners:
        return f"{target!r}: a person pinned it, so only a person unpins it"
    return f"{target!r} holds instructions, which stay" if INSTRUCTIONS in pinners else None


def _pinners(view: View, slot: Slot) -> set[str]:
    """The authors of all pins since it was last unpinned: whoever pins it once more doesn't make it theirs."""
    found: set[str] = set()
    for overlay in slot.layers if slot.pinned else ():
        if overlay.edit in view.reverted or overlay.act not in ("pin", "unpin"):
            continue
        if overlay.act == "unpin":
            found.clear()
        elif (applied := view.edit(overlay.edit)) is not None:
            found.add(applied.author)
    return found


def _applied(view: View, edits: Iterable[Edit], *, first: int = 0) -> View:
    for number, edit in enumerate(edits, first):
        view = view.with_edit(f"?{number}", edit)
    return view
