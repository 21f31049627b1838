"""How full the window is: what the provider last reported, plus an estimate of what changed since.

    sync(messages) ─▶ sizes, running total          estimate() = anchor + calibrated (total now − total at the anchor)
    observe(answer) ─▶ anchor (reported prompt ↔ total), and a lesson for the calibration

An anchor is a prompt total that the provider reported for exactly the messages shown then. Sizes are linear, so an anchor survives any edit:
what was taken out is subtracted, what came in is added, and only that part is guessed. An older anchor whose prefix is untouched may be better
than the newest one that an edit reached into; the one with the narrower band is used. So a fork or a revert finds the report of its own
prefix again.

How much was edited since is a difference of two states, that of the last report (`_Base`) and this one, and never a sum along the way. Sizes are in
steps that add up without rounding. So an estimate depends on the request and the reports alone, not on what else was looked at in between.

Not every usage is an anchor: none or zero, an answer that failed or was cancelled, a total under half of what is visible (a placeholder), or
one that adds up earlier requests (cumulative) is not believed.

The one rule: `estimate` is the only number of its kind. The meter shows it, the trigger and the preflight use its upper end.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil

import msgspec

from trimtab.context.counting.counter import Counter, ends_turn
from trimtab.context.counting.estimate import Estimate
from trimtab.context.counting.ratio import Calibration, CalibrationState
from trimtab.context.counting.size import Size
from trimtab.context.pause import breathe
from trimtab.types.messages import Assistant, Message, User
from trimtab.types.tools import ToolSpec

_IN_PLACE = 64
"""Messages that an edit may replace one by one; beyond that, all that follows is counted again."""
_FAILED = ("error", "cancelled")
_FAR = 3.0
"""Times our count: no tokenizer is that far off when nothing of the request is hidden from us …"""
_UNSEEN = 20_000
"""… but for so many tokens that a provider may put around it."""
_UNSAID = 100
"""The same for an answer: more than that was thought, and not told."""


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A believed report: `tokens` for the first `length` messages, whose size was `total`. `changed`: tokens edited within it since."""

    length: int
    tokens: int
    total: Size
    changed: float = 0.0


@dataclass(frozen=True, slots=True)
class _Shown:
    """A message of the request, its size, and what of it goes when its turn is over."""

    message: Message
    size: Size
    thought: Size


@dataclass(slots=True)
class _Totals:
    """The size of all that is shown, and the thinking of the turn under way."""

    all: Size = field(default_factory=Size)
    turn: Size = field(default_factory=Size)

    def add(self, shown: _Shown) -> None:
        if ends_turn(shown.message):
            self.all, self.turn = self.all - self.turn, Size()
        self.all += shown.size
        self.turn += shown.thought


@dataclass(slots=True)
class _Base:
    """What was shown when a report was last believed, and the reports of then. `edited`: the newest of them that an edit had reached into."""

    fixed: Size = field(default_factory=Size)
    shown: list[_Shown] = field(default_factory=list)
    anchors: list[_Anchor] = field(default_factory=list)
    edited: _Anchor | None = None


@dataclass(frozen=True, slots=True)
class _SavedBase:
    """A `_Base` beside what is shown when it is saved: its first `same` messages are shown as they were, then each by its place, or -1.

    `gone`: tokens of each that is shown no more.
    """

    fixed: Size
    same: int
    places: tuple[int, ...]
    gone: tuple[float, ...]


class MeterState(msgspec.Struct, frozen=True):
    """What a meter learned, as it is saved: factors, and reports that it believed."""

    calibration: CalibrationState
    """Of its counter."""
    anchors: tuple[_Anchor, ...]
    """Reports whose prefix was untouched when the last one was believed."""
    edited: _Anchor | None
    """The newest report that an edit had reached into by then."""
    last_report: int
    """The prompt tokens that were reported last, believed or not."""
    base: _SavedBase | None = None
    """What was shown then; null: the same as when this was saved."""


class Meter:
    """Follows one conversation with one model. `complete`: system prompt and tools are known, nothing of a request is hidden from us.

    Appending costs the same whatever came before; an edit costs one pass over sizes that are known already.
    """

    def __init__(self, counter: Counter, *, complete: bool = True) -> None:
        self.counter = counter
        self.complete = complete
        self._front: tuple[str, tuple[ToolSpec, ...]] = ("", ())
        self._fixed = Size()
        self._shown: list[_Shown] = []
        self._totals = _Totals()
        self._base = _Base()
        self._aged: tuple[list[_Anchor], _Anchor | None] | None = None
        """What `_anchors` returns; None when that has to be worked out."""
        self._last_report = 0

    def fixed(self, system: str, tools: Sequence[ToolSpec] = ()) -> None:
        """Set what stands in front of the messages. A change of it is a change like any other."""
        self._front = (system, tuple(tools))
        size = self.counter.fixed_size(system, tools).stepped
        if size != self._fixed:
            self._totals.all += size - self._fixed
            self._fixed = size
            self._aged = None

    def append(self, message: Message, *, trusted: bool = True) -> Size:
        """Take in the next message and return its size. `trusted`: see `Counter.size`."""
        shown = self._sized(message, trusted=trusted)
        self._take(shown)
        return shown.size

    def _sized(self, message: Message, *, trusted: bool) -> _Shown:
        breathe()
        thought = self.counter.thought(message, trusted=trusted) if isinstance(message, Assistant) else Size()
        return _Shown(message, self.counter.size(message, trusted=trusted).stepped, thought.stepped)

    def sync(self, messages: Sequence[Message]) -> None:
        """Make the meter's messages equal to `messages`: those of the next request, after any edit, revert, fork or move."""
        if self._replaced(messages):
            return
        same = _common(self._shown, messages)
        removed = self._shown[same:]
        if removed:
            del self._shown[same:]
            self._recount()
        known = {id(shown.message): shown for shown in removed}
        for message in messages[same:]:
            found = known.pop(id(message), None)
            self._take(self._sized(message, trusted=True) if found is None else found)

    def observe(self, answer: Assistant, *, trusted: bool = True) -> bool:
        """Take in the usage of `answer`, which answered exactly the messages of the last `sync`; say whether it was believed.

        Call it before the answer itself is appended. `trusted`: its output count is real (see `Counter.size`).
        """
        if answer.usage is None or answer.superseded or answer.stop_reason in _FAILED:
            return False
        if trusted and answer.usage.output > 0:
            self._learn_answer(answer)
        reported = answer.usage.prompt
        if not self._believable(reported):
            self._last_report = reported or self._last_report
            return False
        expected = self.estimate()
        if expected.anchored:
            self.counter.calibration.learn_band(above=reported > expected.upper)
        anchors, edited = self._anchors()
        before = edited or (anchors[-1] if anchors else None)
        if before is not None and before.changed == 0.0:
            self.counter.calibration.learn(self._totals.all - before.total, reported - before.tokens)
        if self.complete or not anchors:
            self.counter.calibration.learn_hidden(reported - self.counter.calibration.tokens(self._totals.all))
        self._rest([*anchors, _Anchor(len(self._shown), reported, self._totals.all)], None)
        self._last_report = reported
        return True

    def estimate(self) -> Estimate:
        """Return the size of the next request as it stands."""
        calibration = self.counter.calibration
        anchor = self._best()
        if anchor is not None:
            change = self._totals.all - anchor.total
            tokens = anchor.tokens + calibration.tokens(change)
            return _estimate(tokens, calibration.band * self._deviation(anchor), known=True, anchored=True)
        tokens = calibration.tokens(self._totals.all) + (calibration.hidden or 0.0)
        known = self.complete or calibration.hidden is not None
        width = calibration.band * calibration.deviation(self._totals.all)
        return _estimate(tokens, width, known=known, anchored=False)

    @property
    def state(self) -> MeterState:
        """Everything learned, as a value."""
        base = self._base
        places = {id(shown.message): place for place, shown in enumerate(self._shown)}
        found = [places.get(id(shown.message), -1) for shown in base.shown]
        same = next((at for at, place in enumerate(found) if place != at), len(found))
        gone = tuple(shown.size.plain for shown, place in zip(base.shown, found, strict=True) if place < 0)
        saved = _SavedBase(base.fixed, same, tuple(found[same:]), gone)
        calibration = self.counter.calibration.state
        return MeterState(calibration, tuple(base.anchors), base.edited, self._last_report, saved)

    def restore(self, state: MeterState) -> None:
        """Take over what another meter learned of the same messages; call it when they have been taken in."""
        self.counter.calibration = Calibration(self.counter.family, state.calibration)
        self._last_report = state.last_report
        self._rest(list(state.anchors), state.edited)
        if state.base is not None:
            self._base.fixed = state.base.fixed
            now, gone = self._shown, iter(state.base.gone)
            there = [now[at] if 0 <= at < len(now) else _gone(next(gone, 0.0)) for at in state.base.places]
            self._base.shown = [*now[: state.base.same], *there]

    def switched(self, counter: Counter) -> "Meter":
        """Return a meter of the same conversation for another model. What was hidden from us in requests is taken to be there still."""
        new = Meter(counter, complete=self.complete)
        new.fixed(*self._front)
        for shown in self._shown:
            new.append(shown.message)
        anchor = self._best()
        if anchor is not None and counter.calibration.hidden is None:
            counter.calibration.learn_hidden(anchor.tokens - self.counter.calibration.tokens(anchor.total))
        return new

    @property
    def total(self) -> Size:
        """The size of all that is shown, by kind."""
        return self._totals.all

    def _take(self, shown: _Shown) -> None:
        self._shown.append(shown)
        self._totals.add(shown)
        self._aged = None

    def _rest(self, anchors: list[_Anchor], edited: _Anchor | None) -> None:
        """These are the reports of what is shown now."""
        self._base = _Base(self._fixed, list(self._shown), anchors, edited)
        self._aged = None

    def _replaced(self, messages: Sequence[Message]) -> bool:
        """Take in messages of which a few stand in place of others and the rest is new; say whether it was so simple.

        Where turns or their thinking change, sums depend on what stands around, and everything behind is counted again.
        """
        if len(messages) < len(self._shown):
            return False
        pairs = enumerate(zip(self._shown, messages, strict=False))
        places = list(islice((i for i, (old, new) in pairs if old.message is not new), _IN_PLACE + 1))
        old = [self._shown[i] for i in places]
        new = [self._sized(messages[i], trusted=True) for i in places] if len(places) <= _IN_PLACE else []
        if len(places) > _IN_PLACE or any(ends_turn(s.message) or s.thought != Size() for s in (*old, *new)):
            return False
        for place, before, after in zip(places, old, new, strict=True):
            self._shown[place] = after
            self._totals.all += after.size - before.size
        for message in messages[len(self._shown) :]:
            self.append(message)
        self._aged = None
        return True

    def _recount(self) -> None:
        self._totals = _Totals(all=self._fixed)
        for shown in self._shown:
            self._totals.add(shown)

    def _anchors(self) -> tuple[list[_Anchor], _Anchor | None]:
        """The reports whose prefix is untouched, and the newest of the others with what was edited since: only that one is worth keeping."""
        if self._aged is None:
            base = self._base
            same, changed = self._edits()
            anchors = [anchor for anchor in base.anchors if anchor.length <= same]
            touched = base.anchors[-1] if len(anchors) < len(base.anchors) else base.edited
            if touched is not None and changed:
                touched = replace(touched, changed=touched.changed + changed)
            self._aged = anchors, touched
        return self._aged

    def _edits(self) -> tuple[int, float]:
        """How many messages in front are those of the last report, and the tokens that were edited behind them. What was only appended is no edit."""
        base, now = self._base, self._shown
        if not base.anchors and base.edited is None:
            return 0, 0.0
        same = _common(base.shown, [shown.message for shown in now])
        gone = {id(shown.message): shown for shown in base.shown[same:]}
        end = len(base.shown) if gone else 0
        end = next((at + 1 for at in range(len(now) - 1, end - 1, -1) if id(now[at].message) in gone), end)
        fresh = [shown for shown in now[same:end] if gone.pop(id(shown.message), None) is None]
        changed = sum(abs(shown.size.plain) for shown in (*fresh, *gone.values()))
        if self._fixed != base.fixed:
            return -1, changed + abs((self._fixed - base.fixed).plain)
        return same, changed

    def _best(self) -> _Anchor | None:
        """The anchor with the narrower band: the newest untouched one, or the one that was edited into."""
        anchors, edited = self._anchors()
        clean = anchors[-1] if anchors else None
        if clean is None or edited is None:
            return clean or edited
        return min((clean, edited), key=self._deviation)

    def _deviation(self, anchor: _Anchor) -> float:
        change = self._totals.all - anchor.total
        return self.counter.calibration.deviation(change, changed=anchor.changed + sum(map(abs, change.vector)))

    def _believable(self, reported: int) -> bool:
        """Not zero, not under half of what is visible, not more than the window of a request that was accepted, and not a sum of requests."""
        visible = self.counter.calibration.tokens(self._totals.all)
        if reported <= 0 or reported < visible / 2 or reported > self.counter.model.context_window:
            return False
        if self.complete and reported > _FAR * visible + _UNSEEN:
            return False
        expected = self.estimate().tokens
        if not self._last_report or expected < 1000:
            return True
        return abs(reported - self._last_report - expected) > 0.05 * expected

    def _learn_answer(self, answer: Assistant) -> None:
        """What the model wrote, against the output that was reported for it: only where no thinking is hidden, said or unsaid."""
        size = self.counter.estimated(answer)
        usage = answer.usage
        told = usage is not None and not size.thought and not usage.reasoning
        if usage is not None and told and size.plain / 2 <= usage.output <= _FAR * size.plain + _UNSAID:
            self.counter.calibration.learn(size, usage.output)


def _common(shown: Sequence[_Shown], messages: Sequence[Message]) -> int:
    pairs = enumerate(zip(shown, messages, strict=False))
    return next((at for at, (old, new) in pairs if old.message is not new), min(len(shown), len(messages)))


def _gone(tokens: float) -> _Shown:
    """Stands for a message of which only its size is known."""
    return _Shown(User(()), Size(reported=tokens), Size())


def _estimate(tokens: float, width: float, *, known: bool, anchored: bool) -> Estimate:
    middle = max(0, ceil(tokens))
    return Estimate(middle, max(middle, ceil(tokens + width)), known, anchored)
