"""Sound views: one that the validator passed, so that the next only has to be looked at where it differs.

    sound view ──new messages, new edits──▶ view        validate(groups that the edits touch + what is new)  ──clean──▶ sound view
                                                                                                        └──▶ the validator looks at all of it

Most rules of a wire are about one answer and its results; those are asked about what changed. Those about a whole request are kept as sums:
where the newest request stands, which messages hold pictures, how many bytes there are. Where neither will do (a revert, a new prompt behind edits,
signed thinking beside an edit), the answer is None and the whole view is validated, so a shortcut never says more than the full check would.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from trimtab.context.editing.checks import is_request, newest_request
from trimtab.context.validate.check import validate
from trimtab.context.validate.media import media_faults, text_bytes
from trimtab.context.validate.rules import MediaRules, WireRules
from trimtab.context.validate.thinking import has_proofs, opens_loop
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Shown, View
from trimtab.types.edits import Restate
from trimtab.types.messages import Assistant, Image, Message

Reachable: TypeAlias = Callable[[View, Shown], bool]
_BLIND = MediaRules(seen=False)


@dataclass(frozen=True, slots=True)
class Sound:
    """A view that may go out. `newest`: the slot of what the user asked for last; `pictured`: messages with pictures, by slot; `bytes`: of all texts."""

    view: View
    newest: int
    pictured: dict[int, tuple[Message, ...]] = field(default_factory=dict)
    bytes: int = 0


def sound_of(view: View) -> Sound | None:
    """The record of a view that was validated just now; None where it isn't finished."""
    newest = newest_request(view)
    if view.is_waiting or newest is None:
        return None
    shown = view.shown()
    pictured: dict[int, tuple[Message, ...]] = {}
    for place, message, _ in shown:
        if _holds_picture(message):
            pictured[place] = (*pictured.get(place, ()), message)
    return Sound(view, newest, pictured, sum(text_bytes(message) for _, message, _ in shown))


def grown(sound: Sound, view: View, rules: WireRules, reachable: Reachable, *, fixed_bytes: int = 0) -> Sound | None:
    """The record of `view`, if whatever is new in it since `sound` is clean; None where only a look at all of it can tell.

    `fixed_bytes`: what stands in front of the messages, which may be another front than `sound` had.
    """
    touched = _touched(sound, view)
    if touched is None or not rules.wired:
        return None
    count = len(sound.view.slots)
    fresh = range(count, len(view.slots))
    newest = next((i for i in reversed(fresh) if is_request(view.slots[i].base)), sound.newest)
    if newest in touched or (newest >= count and view.slots[newest].edits) or _thinking_is_near(view, touched, fresh):
        return None
    shown = [*_shown(view, touched), *_shown(view, fresh)]
    if not _is_clean(view, shown, rules, reachable):
        return None
    base = replace(sound, bytes=sound.bytes - _bytes(sound.view, touched))
    made = _with(replace(base, view=view, newest=newest), view, (*touched, *fresh))
    pictured = [message for place in sorted(made.pictured) for message in made.pictured[place]]
    words = fixed_bytes + made.bytes - sum(text_bytes(message) for message in pictured)
    if next(media_faults(pictured, rules.media, fixed_bytes=words), None) is not None:
        return None
    return made


def _touched(sound: Sound, view: View) -> list[int] | None:
    """The slots that stood in `sound` and that edits since then touch, with their groups; None when more than edits and messages came."""
    before = sound.view
    edits, count = len(before.applied), len(before.slots)
    if (view.lineage, view.reverted, view.parked) != (before.lineage, before.reverted, before.parked):
        return None
    if len(view.applied) < edits or len(view.slots) < count or view.slots[count - 1].id != before.slots[-1].id:
        return None
    if edits and view.applied[edits - 1].id != before.applied[-1].id:
        return None
    fresh = list(view.applied.range(edits, len(view.applied)))
    changes = sum(len(applied.slots) for applied in fresh if not isinstance(applied.edit, Restate))
    if view.epoch - before.epoch != changes:
        return None
    places = {place for applied in fresh for place in applied.slots if place < count}
    return sorted({member for place in places for member in view.group(place)})


def _thinking_is_near(view: View, touched: Sequence[int], fresh: range) -> bool:
    """Whether rules about a whole tool loop could be broken: it closes behind edits, or an answer that carries proofs was changed."""
    if len(view.applied) and any(opens_loop(message) for i in fresh for message in view.slots[i].shown):
        return True
    return any(slot.overlays and has_proofs(slot.base) for slot in (view.slots[i] for i in touched) if slot.shown)


def _is_clean(view: View, shown: Sequence[Shown], rules: WireRules, reachable: Reachable) -> bool:
    if not shown:
        return True

    def original(number: int) -> Message | None:
        return recorded(view, shown[number])

    problems = validate(
        [s.message for s in shown],
        rules=replace(rules, media=_BLIND),
        original=original,
        reachable=lambda number: reachable(view, shown[number]),
    )
    return not problems


def recorded(view: View, shown: Shown) -> Message | None:
    """The message of the log that a shown one shows; None for one that an edit made."""
    slot = view.slots[shown.place]
    return None if shown.lead or slot.note else slot.base


def _shown(view: View, places: Iterable[int]) -> list[Shown]:
    return [shown for place in places for shown in _of_slot(place, view.slots[place])]


def _of_slot(place: int, slot: Slot) -> list[Shown]:
    return [Shown(place, m, lead=slot.lead is not None and n == 0) for n, m in enumerate(slot.shown)]


def _bytes(view: View, places: Iterable[int]) -> int:
    return sum(text_bytes(message) for place in places for message in view.slots[place].shown)


def _with(sound: Sound, view: View, places: Sequence[int]) -> Sound:
    """The record with these slots taken in anew."""
    pictured, size = dict(sound.pictured), sound.bytes
    for place in places:
        shown = view.slots[place].shown
        size += sum(map(text_bytes, shown))
        if held := tuple(message for message in shown if _holds_picture(message)):
            pictured[place] = held
        elif place in pictured:
            pictured[place] = ()
    return replace(sound, pictured=pictured, bytes=size)


def _holds_picture(message: Message) -> bool:
    return not isinstance(message, Assistant) and any(isinstance(part, Image) for part in message.parts)
