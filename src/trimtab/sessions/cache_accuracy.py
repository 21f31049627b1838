"""The bill against reality: predicted and reported cached tokens of a recorded session, call by call.

    Recording ──▶ the requests as their client sent them ──▶ bill of each ──▶ beside what its provider reported

The prediction of a call knows what was recorded up to its request: the messages, their times, the size of the prompt, and the reports of
earlier calls, which give earlier messages their exact sizes. It never sees the cached tokens of the call itself. What makes a cache break
there, and so here:

    another model             each has its own cache
    idle                      longer than the entries live: an hour where the last report said that it wrote for an hour
    thinking that goes        at a new prompt, where the cache row says so (OpenAI): from the first of it on everything is new
    a prompt that shrank      the client took something out in the middle without saying where; only what no session changes is still read

A break that has none of these causes (a request that lands on another machine) can't be foreseen: it counts as missed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

import msgspec

from trimtab.context.economics.bill import LONG_S, bill
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.cold import is_break
from trimtab.context.economics.shapes import RequestShape, Segment, shape_of
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.history import same_model
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import User
from trimtab.types.models import CacheRules
from trimtab.types.usage import Usage

_FIRST = 3
"""Calls at the start that don't count: what is cached then was put there by other sessions."""
_THINKING = b":thinking"


@dataclass(frozen=True, slots=True)
class CachedCall:
    """One call. `expected`: size of the prompt before it, which is what a warm cache serves. `counts`: it is part of the statistics.

    `cause` says why the prediction expects a break: `model`, `idle`, `thinking`, `shrunk`, or "" for none.
    """

    number: int
    model: str
    predicted: int
    reported: int
    prompt: int
    expected: int
    cause: str = ""
    counts: bool = True

    @property
    def abs_pct(self) -> float:
        """Error in per cent of what was reported; 100 where nothing was reported and something predicted."""
        if self.reported:
            return abs(self.predicted - self.reported) * 100 / self.reported
        return 100.0 if self.predicted else 0.0

    @property
    def broke(self) -> bool:
        """Whether the cache broke: under half of the prompt before was read."""
        return is_break(self.expected, self.reported)

    @property
    def foreseen(self) -> bool:
        """Whether a break was predicted."""
        return is_break(self.expected, self.predicted)


class CacheAccuracy(msgspec.Struct, frozen=True):
    """Statistics over calls. `false_breaks` were predicted and didn't happen. Percentiles are of the absolute error."""

    n: int
    median_abs_pct: float | None
    p95_abs_pct: float | None
    breaks_found: int
    breaks_missed: int
    false_breaks: int = 0


def accuracy(calls: Iterable[CachedCall]) -> CacheAccuracy:
    """Return the statistics of the calls that count."""
    counted = [c for c in calls if c.counts]
    errors = sorted(c.abs_pct for c in counted)
    return CacheAccuracy(
        n=len(counted),
        median_abs_pct=median(errors) if errors else None,
        p95_abs_pct=errors[min(len(errors) - 1, int(len(errors) * 0.95))] if errors else None,
        breaks_found=sum(c.broke and c.foreseen for c in counted),
        breaks_missed=sum(c.broke and not c.foreseen for c in counted),
        false_breaks=sum(c.foreseen and not c.broke for c in counted),
    )


def rules_of(model: str, *, catalogue: Catalogue | None = None) -> CacheRules:
    """Return the cache row of a model by its bare id, whoever serves it; no cache when the catalogue doesn't know it."""
    bare = model.partition("[")[0].rpartition("/")[2]
    models = (catalogue or Catalogue.load()).models()
    return next((m.cache for m in models if same_model(m.id, bare)), CacheRules())


def predict_cached(recording: Recording, *, rules: Callable[[str], CacheRules] = rules_of) -> tuple[CachedCall, ...]:
    """Return a prediction beside each call of `recording` that reported its usage."""
    walk = _Walk(rules)
    for event in recording.events:
        walk.take(event)
    return tuple(walk.calls)


@dataclass(slots=True)
class _Walk:
    """The session as its client sent it: the last request as segments, and what each model's cache holds."""

    rules: Callable[[str], CacheRules]
    calls: list[CachedCall] = field(default_factory=list)
    shape: RequestShape = field(default_factory=lambda: shape_of(()))
    states: dict[str, CacheState] = field(default_factory=dict)
    known: dict[str, CacheRules] = field(default_factory=dict)
    number: int = 0
    before: Usage = field(default_factory=Usage)
    before_model: str = ""
    shared: int = 0
    asked_at: float | None = None
    rewritten: bool = False
    prompted: bool = False
    rested: bool = True
    """Whether the answer before asked for nothing: words that come into a running turn take no thinking away."""
    answer: tuple[Segment, ...] = ()

    def take(self, event: Came | Answered | Compacted) -> None:
        """Follow the next event."""
        if isinstance(event, Compacted):
            self.rewritten = True
        elif isinstance(event, Came):
            self.asked_at = event.time if event.time is not None else self.asked_at
            self.prompted |= isinstance(event.message, User) and not event.injected
        elif event.message.usage is not None and event.message.usage.prompt:
            self._call(event, event.message.usage)

    def _call(self, event: Answered, usage: Usage) -> None:
        model = event.message.model or self.before_model
        rules = self._row(model)
        now = self.asked_at if self.asked_at is not None else event.time
        self.number += 1
        cause = self._request(model, usage, rules)
        state = self.states.get(model, CacheState(model))
        predicted = bill(state, self.shape, rules, now=now).read
        cause = cause or self._why_cold(state, rules, predicted, now)
        if cause and not (cause == "idle" and rules.kind == "explicit"):
            predicted = max(predicted, min(self.shared, usage.prompt))
        self.calls.append(
            CachedCall(
                self.number,
                model,
                predicted,
                usage.cache_read,
                usage.prompt,
                self.before.prompt,
                cause,
                self.number > _FIRST and not self.rewritten,
            )
        )
        if self.number == 1 or is_break(self.before.prompt, usage.cache_read):
            self.shared = usage.cache_read
        self.answer = self._answer(usage, rules)
        written = self._written(rules, usage)
        self.states[model] = state.after(self.shape, written, answer=self.answer, now=event.time or now)
        self.before, self.before_model = usage, model
        self.asked_at, self.rewritten, self.prompted = None, False, False
        self.rested = not event.message.tool_calls

    def _row(self, model: str) -> CacheRules:
        if model not in self.known:
            self.known[model] = self.rules(model)
        return self.known[model]

    @staticmethod
    def _written(rules: CacheRules, usage: Usage) -> CacheRules:
        """The row with the lifetime that this call asked for."""
        if rules.kind != "explicit" or not usage.cache_write:
            return rules
        return msgspec.structs.replace(rules, ttl_s=LONG_S if usage.cache_write_1h else min(rules.ttl_s, 300))

    def _request(self, model: str, usage: Usage, rules: CacheRules) -> str:
        """Turn the last request into this one; returns the cause of a break that stands in the request itself."""
        cause, shape = "", self.shape.extended(self.answer)
        thoughts = [i for i, s in enumerate(shape.segments) if s.key.endswith(_THINKING)]
        if self.rewritten:
            shape = shape_of(())
        elif self.prompted and self.rested and rules.drops_thinking and thoughts:
            shape, cause = shape.edited(dict.fromkeys(thoughts)), "thinking"
        elif usage.prompt < self.before.prompt and rules.kind == "explicit":
            shape, cause = shape_of(()), "shrunk"
        # A report counts some of an answer that no later prompt holds.
        kept = _cut(shape, usage.prompt)
        grown = usage.prompt - kept.total
        tail = min(usage.input, grown) if rules.kind == "explicit" else 0
        new = [self._segment(b":new", grown - tail), self._segment(b":tail", tail)]
        marks = (kept.size + 1,) if rules.kind == "explicit" else ()
        self.shape = replace(kept, model=model).extended(new, marks=marks)
        return cause

    def _answer(self, usage: Usage, rules: CacheRules) -> tuple[Segment, ...]:
        """What the next request will have of this call's answer. Reported output may be a placeholder, so it counts only where it matters."""
        if rules.kind != "prefix":
            return ()
        thinking = min(usage.reasoning, usage.output)
        parts = ((_THINKING, thinking), (b":text", usage.output - thinking))
        return tuple(self._segment(kind, tokens) for kind, tokens in parts if tokens)

    def _segment(self, kind: bytes, tokens: int) -> Segment:
        return Segment(str(self.number).encode() + kind, tokens)

    def _why_cold(self, state: CacheState, rules: CacheRules, predicted: int, now: float | None) -> str:
        if not is_break(self.before.prompt, predicted) or self.number == 1:
            return ""
        if state.model and not (state.boundaries or state.requests):
            return "model"
        return "idle" if now is not None and rules.ttl_s else ""


def by_provider(recordings: Sequence[Recording]) -> dict[str, CacheAccuracy]:
    """Return the statistics of many recordings per provider; per format where a recording names none."""
    groups: dict[str, list[CachedCall]] = {}
    for recording in recordings:
        groups.setdefault(recording.provider or recording.format, []).extend(predict_cached(recording))
    return {name: accuracy(calls) for name, calls in sorted(groups.items())}


def _cut(shape: RequestShape, size: int) -> RequestShape:
    """The shape without what stands behind the first `size` tokens; a segment goes as a whole."""
    kept = shape.size
    while kept and shape.tokens_before(kept) > size:
        kept -= 1
    return shape.edited(dict.fromkeys(range(kept, shape.size)))
