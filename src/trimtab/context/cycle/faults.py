"""Faults: the outgoing validator, asked about views.

    before an edit    faults(view) now and after: whatever is new, the edit breaks
    before a request  ready(look): mended messages, or the typed stop

`behind(request)` says what stands in front of the messages, whenever a request is counted.
One validator, one set of rules; edits and requests can't disagree about what is valid. What was found sound is kept in mind (see `sound`), so a
step costs what is new in it.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trimtab.context.cycle.look import Look
from trimtab.context.cycle.sound import Sound, grown, recorded, sound_of
from trimtab.context.editing.checks import newest_request
from trimtab.context.markers import hides
from trimtab.context.validate.check import validate
from trimtab.context.validate.media import after_refusal, front_bytes, to_hide, without_pictures
from trimtab.context.validate.problems import Problem
from trimtab.context.validate.rules import WireRules, rules_for
from trimtab.context.validate.thinking import frozen_answers
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Shown, View
from trimtab.types.edits import Elide
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Message, Text, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec

if TYPE_CHECKING:
    from trimtab.context.validate.mend import Mended

_LISTED = 3
_SUMS = frozenset({"request_bytes", "media_bytes", "image_count"})
"""Faults of a whole request whose words hold a sum: an edit that makes it smaller doesn't bring in another fault."""


class Faultfinder:
    """Knows the rules of one model's wire. `has_way(slot, text)`: whether what stands in for that slot's body tells a way back that exists."""

    def __init__(self, rules: WireRules, has_way: Callable[[Slot, str], bool]) -> None:
        self.rules = rules
        self._has_way = has_way
        self._sound: Sound | None = None
        self._front: tuple[str, Sequence[ToolSpec]] = ("", ())
        self._counted: tuple[str, Sequence[ToolSpec], int] = ("", (), 0)

    def behind(self, request: ModelRequest) -> None:
        """Say what stands in front of the messages from here on: its bytes count where the wire limits those of a request."""
        self._front = (request.system, request.tools)

    @property
    def _fixed_bytes(self) -> int:
        """Bytes of system prompt and tools as sent; nobody asks where the wire has no such limit."""
        if self.rules.media.request_bytes is None:
            return 0
        system, tools = self._front
        if self._counted[0] is not system or self._counted[1] is not tools:
            self._counted = (system, tools, front_bytes(system, tools))
        return self._counted[2]

    def _grown(self, view: View) -> Sound | None:
        if self._sound is None:
            return None
        return grown(self._sound, view, self.rules, self._reachable, fixed_bytes=self._fixed_bytes)

    def __call__(self, view: View) -> frozenset[str]:
        """What is wrong with the messages of `view`, in words that are the same for the same fault elsewhere in the list."""
        if self._grown(view) is not None:
            return frozenset()
        found = self._problems(view, view.shown(), view.messages())
        return frozenset(p.kind if p.kind in _SUMS else f"{p.kind}: {p.message}" for p in found)

    def ready(self, look: Look) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages of a request as they may go out, and what was mended. Raises `ContextFloor` when they can't be made right."""
        view, fits = look.view, look.used <= look.budget.room
        messages = view.messages()
        self.behind(look.request)
        sound = self._grown(view) if fits else None
        if sound is not None:
            self._remember(sound)
            return messages, ()
        shown = view.shown()
        problems = self._problems(view, shown, messages, tokens=look.used, limit=look.budget.room)
        if not problems:
            self._remember(sound_of(view))
            return messages, ()
        return self._mended(look, shown, messages)

    def takes(self, view: View, upto: int, question: User) -> bool:
        """Whether the wire takes the first `upto` messages of `view` as they are, with `question` behind them."""
        shown = view.shown()[:upto]
        messages = (*view.messages()[:upto], question)

        def original(number: int) -> Message | None:
            return recorded(view, shown[number]) if number < len(shown) else None

        return not validate(messages, rules=self.rules, original=original, fixed_bytes=self._fixed_bytes)

    def pictures(self, view: View, *, refused: bool) -> tuple[tuple[Elide, str], ...]:
        """Edits that put notes in place of the pictures that the provider won't take, each with its reason.

        `refused`: it said no to the media of the last request, and no limit tells why.
        """
        if not refused and self._grown(view) is not None:
            return ()
        shown, messages = view.shown(), view.messages()
        hidden = (
            after_refusal(messages) if refused else to_hide(messages, self.rules.media, fixed_bytes=self._fixed_bytes)
        )
        noted = without_pictures(messages, hidden) if hidden else ()
        reasons: dict[str, dict[str, str]] = {}
        for (number, part), why in hidden.items():
            slot, note = view.slots[shown[number].place], noted[number].parts[part]
            image = messages[number].parts[part]
            at = next((n for n, own in enumerate(slot.base.parts) if own is image), None)
            if at is not None and isinstance(note, Text):
                reasons.setdefault(why, {})[f"{slot.id}#{at}"] = note.text.strip()
        return tuple((Elide(targets=tuple(texts), texts=texts), why) for why, texts in reasons.items())

    def frozen(self, view: View) -> frozenset[int]:
        """The slots of signed answers that may not change now: see `frozen_answers`."""
        shown = view.shown()
        return frozenset(shown[n].place for n in frozen_answers([place.message for place in shown], self.rules))

    def _mended(
        self, look: Look, shown: Sequence[Shown], messages: tuple[Message, ...]
    ) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        original = self._original(look.view, shown)
        from trimtab.context.validate.mend import mend  # noqa: PLC0415 - few requests need mending

        mending = mend(messages, rules=self.rules, original=original, fixed_bytes=self._fixed_bytes)
        left = validate(
            mending.messages,
            rules=self.rules,
            original=mending.original(original),
            reachable=mending.reachable(lambda number: self._reachable(look.view, shown[number])),
            newest=_newest(look.view),
            tokens=look.used,
            limit=look.budget.room,
            fixed_bytes=self._fixed_bytes,
        )
        if left:
            raise unsendable(left)
        return mending.messages, tuple(dict.fromkeys(map(_in_words, mending.notes)))

    def _remember(self, sound: Sound | None) -> None:
        # While a call waits for its answer, what was sound before it is still the place to look from.
        if sound is not None and not sound.view.is_waiting:
            self._sound = sound

    def without_way(self, view: View) -> tuple[str, ...]:
        """The ids of what is hidden by a text that names a way back which there is not: it was made while the model had other tools."""
        return tuple(view.slots[place.place].id for place in view.shown() if not self._reachable(view, place))

    def _problems(
        self,
        view: View,
        shown: Sequence[Shown],
        messages: Sequence[Message],
        *,
        tokens: int | None = None,
        limit: int | None = None,
    ) -> tuple[Problem, ...]:
        return validate(
            messages,
            rules=self.rules,
            original=self._original(view, shown),
            reachable=lambda number: self._reachable(view, shown[number]),
            newest=_newest(view),
            tokens=tokens,
            limit=limit,
            fixed_bytes=self._fixed_bytes,
        )

    def _original(self, view: View, shown: Sequence[Shown]) -> Callable[[int], Message | None]:
        return lambda number: recorded(view, shown[number])

    def _reachable(self, view: View, place: Shown) -> bool:
        slot = view.slots[place.place]
        if place.lead or slot.note or slot.state in ("full", "gone"):
            return True
        texts = [part.text for part in place.message.parts if isinstance(part, Text)]
        hidden = [text for text in texts if hides(text) is not None]
        return all(self._has_way(slot, text) for text in hidden)


def _in_words(note: "Mended") -> str:
    """What was put right, for a person; a note in place of a picture is in words already."""
    if note.kind == "image":
        return note.text
    return f"put right in the request, which the provider would have refused (the session stays as it is): {note.text}"


def faultfinder(model: ModelInfo, *, has_way: Callable[[Slot, str], bool]) -> Faultfinder:
    """Return the one for `model`."""
    return Faultfinder(rules_for(model), has_way)


def unsendable(problems: Sequence[Problem]) -> ContextFloor:
    """The error for a request that no repair makes right."""
    said = "; ".join(f"{p.message}" for p in problems[:_LISTED])
    return ContextFloor(
        f"the request can't be sent: {said}",
        hint="Take the last edits of the context back, or use another model.",
    )


def _newest(view: View) -> User | None:
    index = newest_request(view)
    base = None if index is None else view.slots[index].base
    return base if isinstance(base, User) else None
