"""Measures the counting against what providers reported in recorded sessions.

    Recording ──events──▶ Meter ──▶ before each call: what we would have said ──▶ compared with what was reported

Three questions, three lists of relative errors. `anchored`: the previous report and everything new, against the next report. `increment`:
the new part alone, where it is at least 300 tokens. `unanchored`: the first report and estimates of all that came since, the case after
edits. The predictions follow the recorded context, and leave out calls 1 to 3 of a session, the first call after a compaction or a change of
the model, and calls without usage. The calibration learns as it would in a live session: from reports before the predicted one, and from no
other session.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

from msgspec.structs import replace

from trimtab.context.counting.anchor import Meter
from trimtab.context.counting.counter import Counter
from trimtab.context.counting.size import Size
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import Assistant, Message, Text, User

WARM_UP = 3
"""Calls at the start of a session that aren't predicted."""
LEAST_INCREMENT = 300
"""Tokens that a step must add for its own error to mean something."""

MakeCounter: TypeAlias = Callable[[str, str], Counter]
"""Provider and model id → a counter for it."""


@dataclass(frozen=True, slots=True)
class ErrorStats:
    """Of absolute errors in percent: how many, median, 90th and 95th percentile; None where there were none."""

    n: int
    median_abs_pct: float | None
    p90_abs_pct: float | None
    p95_abs_pct: float | None


@dataclass(slots=True)
class Errors:
    """Absolute relative errors in percent, by question; `in_band` says for each anchored one whether the report was within the band's upper end."""

    anchored: list[float] = field(default_factory=list)
    increment: list[float] = field(default_factory=list)
    unanchored: list[float] = field(default_factory=list)
    in_band: list[bool] = field(default_factory=list)

    def extend(self, other: "Errors") -> None:
        """Take in the errors of another session."""
        self.anchored += other.anchored
        self.increment += other.increment
        self.unanchored += other.unanchored
        self.in_band += other.in_band

    def stats(self) -> dict[str, ErrorStats]:
        """Question to statistics, as replay reports them."""
        return {
            "anchored": error_stats(self.anchored),
            "increment": error_stats(self.increment),
            "unanchored": error_stats(self.unanchored),
        }


def error_stats(errors: Sequence[float]) -> ErrorStats:
    """Return the statistics of `errors`. Percentiles are interpolated between neighbours."""
    ordered = sorted(errors)
    return ErrorStats(len(ordered), percentile(ordered, 0.5), percentile(ordered, 0.9), percentile(ordered, 0.95))


def percentile(ordered: Sequence[float], share: float) -> float | None:
    """Return the value below which `share` of the sorted values lie, or None when there are none."""
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def predicted_vs_reported(recording: Recording, make_counter: MakeCounter) -> dict[str, Errors]:
    """Return model id → errors of our predictions of the prompt totals in `recording`."""
    replayed = _Replay(recording, make_counter)
    for event in recording.events:
        match event:
            case Came():
                replayed.came(event)
            case Answered():
                replayed.answered(event)
            case Compacted():
                replayed.compacted(event)
            case _:
                assert_never(event)
    return replayed.errors


class _Replay:
    """One recording, event by event."""

    def __init__(self, recording: Recording, make_counter: MakeCounter) -> None:
        self.errors: dict[str, Errors] = {}
        self._make = make_counter
        self._provider = recording.provider
        self._counters: dict[str, Counter] = {}
        self._model = ""
        self._meter: Meter | None = None
        self._waiting: list[Message] = []
        self._calls = 0
        self._previous = 0
        self._first: tuple[int, Size] | None = None

    def came(self, event: Came) -> None:
        """A message entered the context. What the client injects is nobody's prompt: it ends no turn."""
        message = event.message
        if event.injected and isinstance(message, User):
            message = replace(message, origin="command")
        self._append(message)

    def answered(self, event: Answered) -> None:
        """A call was answered: compare, learn, and go on from its report."""
        answer = event.message
        meter = self._meter_for(answer)
        usage = answer.usage
        if usage is not None and usage.prompt > 0:
            self._calls += 1
            self._compare(meter, answer.model, usage.prompt)
            if meter.observe(answer, trusted=not event.output_unreliable):
                self._first = self._first or (usage.prompt, meter.total)
                self._previous = usage.prompt
        if not answer.superseded:
            meter.append(answer, trusted=not event.output_unreliable)

    def compacted(self, event: Compacted) -> None:
        """The client started over with a summary, or with the messages that it recorded."""
        summary = (User((Text(event.summary),), origin="summary"),) if event.summary else ()
        self._waiting = list(summary if event.replacement is None else event.replacement)
        self._meter = None
        self._first = None
        self._previous = 0

    def _append(self, message: Message) -> None:
        if self._meter is None:
            self._waiting.append(message)
        else:
            self._meter.append(message)

    def _meter_for(self, answer: Assistant) -> Meter:
        """The meter of the model that answered; a new one after a compaction or a change of the model."""
        if self._meter is None or answer.model != self._model:
            counter = self._counters.get(answer.model)
            if counter is None:
                counter = self._counters[answer.model] = self._make(answer.provider or self._provider, answer.model)
            self._first, self._previous = None, 0
            if self._meter is None:
                self._meter = Meter(counter, complete=False)
                for message in self._waiting:
                    self._meter.append(message)
                self._waiting = []
            else:
                self._meter = self._meter.switched(counter)
            self._model = answer.model
        return self._meter

    def _compare(self, meter: Meter, model: str, reported: int) -> None:
        if self._calls <= WARM_UP or not self._previous or self._first is None:
            return
        errors = self.errors.setdefault(model, Errors())
        estimate = meter.estimate()
        errors.anchored.append(_percent(estimate.tokens - reported, reported))
        errors.in_band.append(reported <= estimate.upper)
        grown = reported - self._previous
        if grown >= LEAST_INCREMENT:
            errors.increment.append(_percent(estimate.tokens - self._previous - grown, grown))
        first, total = self._first
        since = meter.counter.calibration.tokens(meter.total - total)
        errors.unanchored.append(_percent(first + since - reported, reported))


def _percent(error: float, of: float) -> float:
    return abs(error) / of * 100
