"""Faults: the outgoing validator, asked about views.

    before an edit    faults(view) now and after: whatever is new, the edit breaks
    before a request  ready(look): mended messages, or the typed stop

One validator, one set of rules; edits and requests can't disagree about what is valid.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trimtab.context.checks import newest_request
from trimtab.context.look import Look
from trimtab.context.markers import hides
from trimtab.context.slots import Slot
from trimtab.context.validate.check import validate
from trimtab.context.validate.mend import mend
from trimtab.context.validate.problems import Problem
from trimtab.context.validate.rules import WireRules, rules_for
from trimtab.context.view import Shown, View
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Message, Text, User
from trimtab.types.models import ModelInfo

_LISTED = 3


@dataclass(frozen=True, slots=True)
class Faultfinder:
    """Knows the rules of one model's wire. `has_way(slot, text)`: whether what stands in for that slot's body tells a way back that exists."""

    rules: WireRules
    has_way: Callable[[Slot, str], bool]

    def __call__(self, view: View, messages: Sequence[Message]) -> frozenset[str]:
        """What is wrong with the messages of `view`, in words that are the same for the same fault elsewhere in the list."""
        found = self._problems(view, view.shown(), messages)
        return frozenset(f"{p.kind}: {p.message}" for p in found)

    def ready(self, look: Look) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages of a request as they may go out, and what was mended. Raises `ContextFloor` when they can't be made right."""
        shown = look.view.shown()
        messages = tuple(s.message for s in shown)
        problems = self._problems(look.view, shown, messages, tokens=look.used, limit=look.budget.room)
        if not problems:
            return messages, ()
        mending = mend(messages, rules=self.rules, original=_original(look.view, shown))
        left = validate(
            mending.messages,
            rules=self.rules,
            original=mending.original(_original(look.view, shown)),
            reachable=mending.reachable(self._reachable(look.view, shown)),
            newest=_newest(look.view),
            tokens=look.used,
            limit=look.budget.room,
        )
        if left:
            raise unsendable(left)
        return mending.messages, tuple(dict.fromkeys(note.text for note in mending.notes))

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
            original=_original(view, shown),
            reachable=self._reachable(view, shown),
            newest=_newest(view),
            tokens=tokens,
            limit=limit,
        )

    def _reachable(self, view: View, shown: Sequence[Shown]) -> Callable[[int], bool]:
        def reachable(number: int) -> bool:
            place = shown[number]
            slot = view.slots[place.place]
            if place.lead or slot.note or slot.state in ("full", "gone"):
                return True
            texts = [part.text for part in place.message.parts if isinstance(part, Text)]
            hidden = [text for text in texts if hides(text) is not None]
            return all(self.has_way(slot, text) for text in hidden)

        return reachable


def faultfinder(model: ModelInfo, *, has_way: Callable[[Slot, str], bool]) -> Faultfinder:
    """Return the one for `model`."""
    return Faultfinder(rules_for(model), has_way)


def unsendable(problems: Sequence[Problem]) -> ContextFloor:
    """The error for a request that no repair makes right."""
    said = "; ".join(f"{p.message}" for p in problems[:_LISTED])
    return ContextFloor(
        f"the request can't be sent: {said}",
        hint="Revert the last context edits (trimtab context log), or use another model.",
    )


def _original(view: View, shown: Sequence[Shown]) -> Callable[[int], Message | None]:
    def original(number: int) -> Message | None:
        place = shown[number]
        slot = view.slots[place.place]
        return None if place.lead or slot.note else slot.base

    return original


def _newest(view: View) -> User | None:
    index = newest_request(view)
    base = None if index is None else view.slots[index].base
    return base if isinstance(base, User) else None
