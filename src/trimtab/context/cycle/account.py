"""The account: what the provider's cache holds, what the next request costs, and whether an edit pays.

    look ──shape──▶ segments in wire order ──bill──▶ tokens read, written, fresh; money
    marked edits ──gate──▶ those that pay now, those that wait
    answer's usage ──settle──▶ the cache as it is, what was saved

It keeps what lasts from request to request and is otherwise arithmetic on values of `economics`. The one rule: only what went out (`settle`, `was_sent`, `edited`) changes it;
whoever asks what a request would cost, of however many trials, leaves no trace.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from trimtab.context.cycle.look import Look
from trimtab.context.cycle.marks import Waiting
from trimtab.context.economics.bill import Bill, bill, bill_of, cache_rates
from trimtab.context.economics.breakpoints import message_marks, place
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.cold import Warmth
from trimtab.context.economics.gate import MarkedEdit, Situation, decide
from trimtab.context.economics.savings import Savings
from trimtab.context.economics.shapes import RequestShape, Segment, key_of, shape_of
from trimtab.context.economics.survival import remaining
from trimtab.context.editing.applying import shown_size
from trimtab.context.window.view import View
from trimtab.types.codec import encode_message
from trimtab.types.edits import Edit, EditCost, Restate
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelInfo, ModelRequest, add_costs

_KEPT_KEYS = 20_000
_IN_PLACE = 64
"""Messages that an edit may change one by one; where more differ, the rest is taken in anew."""


@dataclass(slots=True)
class _Shaped:
    """The shape of a look, and what it was made of."""

    fixed_key: bytes
    view: View
    shape: RequestShape


@dataclass(frozen=True, slots=True)
class Weighed:
    """Which of the edits, by number, are due; what each costs; what waits."""

    due: frozenset[int]
    waiting: Waiting
    cost: EditCost


@dataclass(slots=True)
class Account:
    """Of one session with one model. `growth` is what a request adds to the one before, on average, in tokens."""

    model: ModelInfo
    state: CacheState = field(default_factory=CacheState)
    warmth: Warmth = field(default_factory=Warmth)
    savings: Savings = field(default_factory=Savings)
    growth: float = 0.0
    last_sent_s: float | None = None
    calls: int = 0
    removed: int = 0
    """Tokens that edits have taken out of the request so far."""
    _keys: dict[int, tuple[Message, bytes]] = field(default_factory=dict)
    _shaped: _Shaped | None = None
    """Of the last request."""
    _looked: _Shaped | None = None
    """Of the last look since: the same look is asked about several times."""
    _last: RequestShape | None = None
    _showed: View | None = None
    """What the last request showed."""
    _placed: tuple[RequestShape, RequestShape] | None = None
    """The next request, without and with its breakpoints."""

    def shape(self, look: Look) -> RequestShape:
        """The request as the cache sees it. Costs what is new since the last one while the view only grows."""
        fixed_key, known = _fixed_key(look.request), self._looked
        if known is None or known.view is not look.view or known.fixed_key != fixed_key:
            # Counts change only with what goes out, so a look that goes on from the last one comes to the same as one from the last request.
            grown = known is not None and known.fixed_key == fixed_key and look.view.extends(known.view)
            known = self._looked = self._shape(look, fixed_key, known if grown else self._shaped)
        return known.shape

    def _shape(self, look: Look, fixed_key: bytes, known: _Shaped | None) -> _Shaped:
        messages = look.view.messages()
        if known is None or known.fixed_key != fixed_key:
            sizes = _Sizes(self._last)
            front = sizes.of(fixed_key) or Segment(fixed_key, look.fixed, 2)
            base, start = shape_of([front], model=look.request.model.ref, fixed=1), 0
        elif look.view.extends(known.view):
            base, start, sizes = known.shape, len(known.view.messages()), None
        else:
            base, start = self._reshaped(known, messages, look)
            sizes = _Sizes(self._last, behind=start + 1) if start < len(known.view.messages()) else None
        fresh = [
            (None if sizes is None else sizes.of(self._key(message)))
            or self._segment(message, look.tally.message(message))
            for message in messages[start:]
        ]
        return _Shaped(fixed_key, look.view, base.extended(fresh) if fresh else base)

    @property
    def last_sent(self) -> tuple[Segment, ...] | None:
        """The last request as the cache saw it; None before any."""
        return None if self._last is None else self._last.segments

    def was_sent(self, look: Look, segments: Sequence[Segment]) -> None:
        """Take `segments` for the last request: that of `look` is the next.

        What went out keeps the size that it had then, as it does in an account that saw it go.
        """
        self._shaped = self._looked = self._placed = None
        self._last = shape_of(segments, model=look.request.model.ref, fixed=1)

    def _reshaped(self, known: _Shaped, messages: tuple[Message, ...], look: Look) -> tuple[RequestShape, int]:
        """The known shape with what an edit changed in place, and how many messages it has; of a longer change, only what stands in front."""
        before = known.view.messages()
        changed = [i for i, (old, new) in enumerate(zip(before, messages, strict=False)) if old is not new]
        if len(changed) <= _IN_PLACE and len(messages) >= len(before):
            segments = {i + 1: self._segment(messages[i], look.tally.message(messages[i])) for i in changed}
            return known.shape.edited(segments), len(before)
        same = changed[0] if changed else min(len(before), len(messages))
        return known.shape.edited(dict.fromkeys(range(same + 1, known.shape.size))), same

    def is_cold(self, now: float | None) -> bool:
        """Whether the cache probably holds nothing."""
        idle = None if now is None or self.last_sent_s is None else now - self.last_sent_s
        return self._last is None or self.warmth.cold(idle, self.model.cache)

    def cached(self, look: Look, now: float | None) -> int:
        """Tokens of this request that the cache probably serves."""
        return 0 if self.is_cold(now) else self.state.readable(self.shape(look), self.model.cache, now=now)

    def bill(self, look: Look, now: float | None) -> Bill:
        """What this request costs as it stands."""
        return self._bill(self._marked(self.shape(look)), now)

    def sent_count(self, look: Look) -> int:
        """How many of the messages of this request went out like this before."""
        return 0 if self._last is None else max(0, self._last.shared_with(self.shape(look)) - 1)

    def unsent(self, look: Look) -> Sequence[int]:
        """The slots whose messages no request has carried yet; behind a change, what was sent before it is not among them."""
        view, shown, sent = look.view, look.view.shown(), self.sent_count(look)
        start = shown[sent].place if sent < len(shown) else len(view.slots)
        known = self._showed
        if known is None or known.lineage is not view.lineage:
            return range(start, len(view.slots))
        late = [place for place in known.open_places if place >= start]
        return [*late, *range(max(start, len(known.slots)), len(view.slots))]

    def broken_at(self, look: Look) -> int | None:
        """Up to where the cache still reads, where something that was sent has changed since; None where nothing has."""
        return self._broken_at(self.shape(look))

    def gate(
        self, look: Look, edits: Sequence[Edit], now: float | None, *, need: int = 0, text_usd: float = 0.0
    ) -> Weighed:
        """Say which of these pay now: whole batches, compared by what all calls that may follow would cost. `need`: so many tokens have to go, whatever it costs.

        `text_usd`: what a model takes for the texts of all of them, where they are not written yet.
        """
        shape = self.shape(look)
        sent = self.sent_count(look)
        marked: list[MarkedEdit] = []
        free: set[int] = set()
        places = _first_message(look)
        for number, edit in enumerate(edits):
            after = look.view.with_edit(f"?gate{number}", edit)
            applied = after.edit(f"?gate{number}")
            touched = applied.slots if applied else ()
            before = 0 if isinstance(edit, Restate) else shown_size(look.view, touched, look.tally.message)
            left = shown_size(after, touched, look.tally.message)
            if left >= before:
                # It takes nothing out, so it isn't the gate's business: whoever wants it, back or pinned, has a reason of his own.
                free.add(number)
                continue
            first = min((places[i] for i in touched if i in places), default=len(places))
            marked.append(MarkedEdit(str(number), first + 1, before, left, first < sent, text_usd / len(edits)))
        decision = decide(marked, self._situation(shape, look, now, wanted=sum(e.gain for e in marked), need=need))
        chosen = free | {int(name) for name in decision.apply}
        share = decision.broken * _write_surcharge(self.model) / max(1, len(chosen))
        waits = [edit for edit in marked if edit.id in decision.mark]
        waiting = Waiting(len(waits), sum(edit.gain for edit in waits), decision.reason, decision.break_even)
        cost = EditCost(cache_usd=share if self.model.prices else None)
        return Weighed(frozenset(chosen), waiting if waits else Waiting(), cost)

    def settle(self, look: Look, answer: Assistant | None, now: float | None) -> None:
        """A request went out and was answered: take in what the cache holds now and what the provider reported."""
        # What was looked at before the answer was counted without what it taught, if anybody looked at all.
        self._looked = None
        self._shaped = self._shape(look, _fixed_key(look.request), self._shaped)
        shape = self._marked(self._shaped.shape)
        sent = self._bill(shape, now)
        idle = None if now is None or self.last_sent_s is None else now - self.last_sent_s
        if answer is not None and answer.usage is not None and self._last is not None:
            self.warmth = self.warmth.observed(sent.read, answer.usage, idle_s=idle)
        kept = shape.total + self.removed
        served = min(kept, sent.read + self.removed)
        reference = bill_of(served, kept, kept, self.model.cache, self.model.prices or None)
        broken = 0
        if self._last is not None and self._broken_at(shape) is not None and not self.is_cold(now):
            broken = max(0, self.state.readable(self._last, self.model.cache, now=now) - sent.read)
        self.savings = self.savings.with_request(sent, reference, broken=broken)
        if self._last is not None and shape.total > self._last.total:
            self.growth = 0.8 * self.growth + 0.2 * (shape.total - self._last.total)
        caches = self.model.cache.caches_answer
        following = (self._segment(answer, look.tally.message(answer)),) if answer is not None and caches else ()
        self.state = self.state.after(shape, self.model.cache, answer=following, now=now)
        self.calls += 1
        self._last, self._showed, self._placed = shape, look.view, None
        self.last_sent_s = now

    def edited(self, gained: int, costs: Sequence[EditCost]) -> None:
        """Edits of those costs were recorded that took `gained` tokens out."""
        self.removed += gained
        self.savings = self.savings.with_batch(
            len(costs),
            text_tokens=sum(cost.model_tokens for cost in costs),
            text_usd=add_costs(*(cost.model_usd for cost in costs if cost.model_tokens)),
        )

    def marks(self, look: Look) -> tuple[int, ...]:
        """Indices of the messages behind which the request should put a cache breakpoint."""
        shape = self._marked(self.shape(look))
        return message_marks(shape.marks, shape.fixed)

    def _marked(self, shape: RequestShape) -> RequestShape:
        """The shape with its breakpoints; on an edit step they also stand around what has changed."""
        if self._placed is not None and self._placed[0] is shape:
            return self._placed[1]
        last = self._last
        shared = shape.size if last is None else last.shared_with(shape)
        edited_at = edited_to = None
        if last is not None and shared < last.size:
            edited_at = shared
            edited_to = max(shape.last_change(last), shared + 1)
        marks = place(shape, self.state.written(), self.model.cache, edited_at=edited_at, edited_to=edited_to)
        self._placed = shape, replace(shape, marks=marks)
        return self._placed[1]

    def _bill(self, shape: RequestShape, now: float | None) -> Bill:
        rules, prices = self.model.cache, self.model.prices or None
        return bill(self.state, shape, rules, prices, cold=self.is_cold(now), now=now)

    def _segment(self, message: Message, tokens: int) -> Segment:
        # Behind an answer no breakpoint may stand: its last block may be one that can't carry any.
        return Segment(
            self._key(message), tokens, max(1, len(message.parts)), markable=not isinstance(message, Assistant)
        )

    def _broken_at(self, shape: RequestShape) -> int | None:
        last = self._last
        if last is None or last.shared_with(shape) >= last.size:
            return None
        return self.state.boundary(shape, self.model.cache)

    def _situation(self, shape: RequestShape, look: Look, now: float | None, *, wanted: int, need: int) -> Situation:
        return Situation(
            request=shape,
            state=self.state,
            rules=self.model.cache,
            remaining=remaining(look.view.step),
            prices=self.model.prices,
            growth=int(self.growth),
            arriving=(self.removed + wanted) / max(1, self.calls),
            cold=self.is_cold(now),
            broken_at=self._broken_at(shape),
            need=need,
            now=now,
        )

    def _key(self, message: Message) -> bytes:
        known = self._keys.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        if len(self._keys) > _KEPT_KEYS:
            self._keys.clear()
        try:
            key = key_of(encode_message(message))
        except (UnicodeEncodeError, msgspec.MsgspecError):
            key = key_of(repr(message))
        self._keys[id(message)] = (message, key)
        return key


class _Sizes:
    """The segments of the last request, to be found by what they hold: what went out keeps the size that it had then. Each is given once."""

    def __init__(self, last: RequestShape | None, *, behind: int = 0) -> None:
        self._known: dict[bytes, list[Segment]] = {}
        for segment in reversed(last.segments[behind:] if last is not None else ()):
            self._known.setdefault(segment.key, []).append(segment)

    def of(self, key: bytes) -> Segment | None:
        """The next segment of that key, if there is one left."""
        left = self._known.get(key)
        return left.pop() if left else None


def _first_message(look: Look) -> dict[int, int]:
    """For each slot that shows something, the number of its first message."""
    places: dict[int, int] = {}
    for number, shown in enumerate(look.view.shown()):
        places.setdefault(shown.place, number)
    return places


def _fixed_key(request: ModelRequest) -> bytes:
    tools: Any = [msgspec.to_builtins(tool) for tool in request.tools]
    return key_of(msgspec.json.encode([request.model.ref, request.system, tools]))


def _write_surcharge(model: ModelInfo) -> float:
    """USD that a token costs more when it is paid again than when it is read from the cache."""
    if not model.prices:
        return 0.0
    read, write = cache_rates(model.prices[0], model.cache)
    return max(0.0, write - read) / 1_000_000
