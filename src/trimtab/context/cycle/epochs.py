"""Epochs: system prompt and tools stay byte for byte as they were sent, as long as the cache that begins with them is worth more than a notice.

    what is wanted in front ──as it was sent──▶ nothing to do
                            └─otherwise──▶ fold in now?  ──yes──▶ the new front; notices of the change are taken back
                                                         └─no───▶ the old front; a notice at the tail, once, and the question again at the next break

The question is one of price, by what the account says that the cache serves. To fold in costs what is served now and would not be then, at what
writing costs above reading. To tell costs the notice: written once, read in every request that may follow. A cold cache, another model and a session
that was just opened serve nothing, so there it is folded in. When the context was edited since the last time, the front itself is no longer
counted on the one side: it will never be cheaper to send anew while anything is warm, so a compaction, after which little else is served, folds in. Three more reasons
don't ask for the price: a notice for which there is no room or that would be one of too many, and a new tool that was announced in an earlier turn, for nobody can call it before.

A tool that is off stays in the request; whoever runs calls refuses it (`agent/calls.py`).
"""

from collections.abc import Generator
from dataclasses import replace

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Record, Recorded
from trimtab.context.cycle.front import LABEL, Front, front_of, is_notice
from trimtab.context.cycle.look import Look, look
from trimtab.context.cycle.notice import AGAIN, added, notice
from trimtab.context.economics.bill import cache_rates
from trimtab.context.economics.survival import expected_remaining
from trimtab.context.editing.applying import BLANK, apply
from trimtab.context.engine import Engine
from trimtab.context.prepared import Prepared, with_room
from trimtab.context.window.view import Applied, View
from trimtab.types.edits import Restate
from trimtab.types.entries import RevertEntry
from trimtab.types.models import ModelInfo, ModelRequest, Price

AUTHOR = "policy:epoch"
_MOST_TOLD = 6
"""Notices that stand at a time: a model that has to put together more of them gets them wrong."""
_UNPRICED = Price(input=1.0, output=5.0, cache_read=0.1, cache_write=1.25)
"""Without a price, or where all is free but time, the question is asked in units of fresh tokens, at the discount that the large providers give."""


class Epochs:
    """Decides what one engine sends in front. What was told stands in the view; kept here is only when it was last asked whether to fold in."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._weighed: int | None = None
        """`View.epoch` of that time: the same number, the same answer."""
        self._said: tuple[Front, Front, str] | None = None

    def settle(self, view: View, request: ModelRequest) -> Generator[Ask, Answer, View]:
        """Choose the front of the next request, which `engine.front` is then, and return the view with what has to be told, or without."""
        engine, wanted = self.engine, front_of(request)
        sent = engine.front or wanted
        now = engine.look(view, request)
        told = _told(view)
        shown = _shown(view)
        text = self._text(sent, wanted) or (AGAIN if shown else "")
        engine.told = bool(told)
        fresh = bool(text) and (not shown or _says(view, shown[-1]) != text)
        due = self._is_due(view, shown, sent, wanted)
        if not due and not fresh and (self._weighed == view.epoch or not told):
            return view
        due = due or (fresh and len(shown) >= _MOST_TOLD)
        if due or self._folds(now, wanted, told, fresh=fresh, text=text):
            return (yield from self._fold_in(view, told, wanted))
        self._weighed = view.epoch
        return (yield from self._tell(now, text, wanted)) if fresh else view

    def settled(self, prepared: Prepared, request: ModelRequest) -> Generator[Ask, Answer, Prepared]:
        """The same for a request that was edited on its way: what was broken may have paid for it, or swallowed the notice."""
        engine = self.engine
        front = engine.front
        view = yield from self.settle(prepared.view, request)
        if view is prepared.view and engine.front == front:
            return prepared
        now = engine.look(view, request)
        if (
            now.used > now.budget.hard
        ):  # the new front is the larger one, and had to go in; what is told always has room
            more = yield from engine.manager.prepare(view, request, forced=False, decide=False)
            return replace(more, edits=(*prepared.edits, *more.edits), notes=(*prepared.notes, *more.notes))
        messages, notes = engine.faults.ready(now)
        request = with_room(now, messages)
        return Prepared(request, now.estimate.tokens, view, prepared.edits, (*prepared.notes, *notes))

    def _text(self, sent: Front, wanted: Front) -> str:
        if self._said is None or self._said[0] != sent or self._said[1] != wanted:
            self._said = (sent, wanted, notice(sent, wanted))
        return self._said[2]

    def _is_due(self, view: View, shown: list[Applied], sent: Front, wanted: Front) -> bool:
        """Whether folding in is no question of price: nothing is cached, or a new tool was announced in an earlier turn."""
        if self.engine.account.is_cold(self.engine.time()):
            return True
        late = bool(shown) and view.slots[shown[0].slots[0]].turn < view.turn
        return late and bool(added(sent.tools, wanted.tools))

    def _folds(self, now: Look, wanted: Front, told: list[Applied], *, fresh: bool, text: str) -> bool:
        """Whether the new front costs no more than to go on telling."""
        engine, time = self.engine, self.engine.time()
        then = look(_without(now.view, told), wanted.on(now.request), now.budget, now.tally)
        size = now.tally.text(text)
        if not now.has_room_for(size) if fresh else now.used > now.budget.hard:
            return True  # and the ladder makes room for it
        if then.used > now.budget.hard:
            return False
        served = engine.account.cached(now, time)
        if not served:
            return True
        lost = served - engine.account.cached(then, time)
        if told and self._weighed != now.view.epoch and not wanted.before(now.request):
            lost -= now.fixed
        read, write = _rates(engine.model)
        later = expected_remaining(now.view.step) - 1
        return max(0, lost) * (write - read) <= size * (read * max(0.0, later) + (write if fresh else 0.0))

    def _fold_in(self, view: View, told: list[Applied], wanted: Front) -> Generator[Ask, Answer, View]:
        """Send the new front. Where the notices can't be taken back, they and the old one stay together."""
        if told:
            reason = "what it told stands at the head now"
            entries = (RevertEntry(**BLANK, target=applied.id, reason=reason, author=AUTHOR) for applied in told)
            answer = yield Record(tuple(entries))
            if not isinstance(answer, Recorded):
                return view
            for revert_id, applied in zip(answer.ids, told, strict=True):
                view = view.with_revert(revert_id, applied.id)
        self.engine.front, self.engine.told, self._weighed = wanted, False, None
        return view

    def _tell(self, now: Look, text: str, wanted: Front) -> Generator[Ask, Answer, View]:
        """Put the notice at the tail. What can't be told has to be sent in front."""
        wish = Action(
            "restate",
            params={"text": text, "label": LABEL},
            reason="system prompt and tools changed, and the cache that begins with the old ones is worth more",
        )
        means = self.engine.manager.means(now, forced=True)
        outcome = yield from apply(now.view, [wish], means, author=AUTHOR, batch=f"{now.view.step}.epoch")
        if not outcome.done and not self.engine.told:
            self.engine.front = wanted
        self.engine.told = self.engine.told or bool(outcome.done)
        return outcome.view


def _told(view: View) -> list[Applied]:
    """The notices that nobody has taken back, oldest first; a later edit may hide them."""
    return [a for a in view.applied if is_notice(a.edit) and a.slots and a.id not in view.reverted]


def _shown(view: View) -> list[Applied]:
    """Those of them of which a request made of `view` carries anything."""
    return [applied for applied in _told(view) if view.slots[applied.slots[0]].state != "gone"]


def _says(view: View, applied: Applied) -> str:
    """What a request made of `view` says of it; nothing when an edit put something else in its place."""
    return (
        applied.edit.text if isinstance(applied.edit, Restate) and view.slots[applied.slots[0]].state == "full" else ""
    )


def _without(view: View, told: list[Applied]) -> View:
    for number, applied in enumerate(told):
        view = view.with_revert(f"?{number}", applied.id)
    return view


def _rates(model: ModelInfo) -> tuple[float, float]:
    """What a cached read and a write cost."""
    price = model.prices[0] if model.prices and model.prices[0].input > 0 else _UNPRICED
    return cache_rates(price, model.cache)
