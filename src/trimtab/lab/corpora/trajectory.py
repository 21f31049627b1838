"""Trajectories: a recording without its texts, and with labels: what each request asked for, what came of it, and which of it was used later.

    recording ──steps──▶ requests: what each called
       │
       ├──results──▶ size, tool, what it is about, how many strings it was the first to show
       └──strings, reads──▶ needs: (result, request) pairs, with how strongly and how freshly

`needs_of` says what a replay counts. Here stands more of the same: also uses of what had been shown again shortly before (a replay takes it from there), and
readings of a file that had been read before. `Trajectory.until` is all that was known at a decision; whatever looks at the past looks at that.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import msgspec
from msgspec import structs

from trimtab.context.seeing.resources import resource_of
from trimtab.sessions.recorded import Answered, Came, Event, Recording
from trimtab.sessions.replay.needs import RECENT, StringRecord
from trimtab.sessions.replay.steps import Step, steps_of
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, User

Strength: TypeAlias = Literal["weak", "strong"]
STRONG = 3
"""Strings of one result in one request from which on it was certainly that result that was used: one alone may be a name that the model knows anyway."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a session stands among all: what may be fitted on it, and what it is kin to."""

    name: str
    """Its file, relative to the folder of the corpus."""
    project: str = ""
    """What was worked on."""
    family: str = ""
    """Sessions of one family share messages."""
    split: str = ""
    """Such as `train` or `eval`."""


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call of a tool. `resource`, `path`, `reads`, `writes`: what it is about, as the engine sees it."""

    id: str
    """The call's id."""
    tool: str
    """The tool's name."""
    resource: str
    """Equal for calls about the same."""
    path: str | None = None
    """The file that it shows or changes."""
    reads: bool = False
    """Whether it shows it."""
    writes: bool = False
    """Whether it changes it."""


class Request(msgspec.Struct, frozen=True, omit_defaults=True):
    """One model request, and what its answer called."""

    number: int
    """From 1."""
    calls: tuple[Asked, ...] = ()
    """In order."""
    prompt: int = 0
    """Tokens that were reported for it; 0 where none were."""
    said: int = 0
    """Characters of what came in front of it besides results: a person's words, what the client injected."""


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool result. `call` is what was asked for; None where the call isn't known."""

    number: int
    """Its message in the chain, from 0."""
    step: int
    """The request whose answer was the last before it: it came `n - step` calls before the answer to request `n`."""
    call_id: str
    """The call that it answers."""
    tool: str
    """The tool's name."""
    size: int
    """Characters."""
    novel: int = 0
    """Distinctive strings that nothing had shown before."""
    error: bool = False
    """Whether it was a failure."""
    call: Asked | None = None
    """What was asked for."""

    @property
    def file(self) -> str | None:
        """The file that it shows."""
        return self.call.path if self.call is not None and self.call.reads else None


class Need(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request that used a result: it wrote `strings` that the result was the first to show, or read the same file again."""

    result: int
    """The result's number."""
    step: int
    """The request's number."""
    gap: int
    """Calls between them."""
    strings: tuple[str, ...] = ()
    """What was written, in the order of its places."""
    shown: tuple[int, ...] = ()
    """For each string the request after which it was last shown or written again before; -1: never since."""
    reread: bool = False
    """Whether it read the file that the result shows, and nothing else had shown it since."""

    def fresh(self, *, since: int | None = None) -> tuple[str, ...]:
        """The strings that hang on the result: not shown again within the last ten requests nor, where that is given, after request `since`."""
        until = self.step - RECENT - 1
        until = until if since is None else min(until, since)
        return tuple(s for s, shown in zip(self.strings, self.shown, strict=True) if shown < 0 or shown <= until)

    @property
    def reexposed(self) -> bool:
        """Whether all of it had been shown again within the last ten requests, so that nothing hung on the result."""
        return not self.reread and not self.fresh()

    @property
    def strength(self) -> Strength:
        """How sure it is that the result was used."""
        return "strong" if len(self.fresh()) >= STRONG or (self.reread and self.gap >= RECENT) else "weak"


class Trajectory(msgspec.Struct, frozen=True, kw_only=True):
    """A session as requests, results and needs. The same recording and place always give the same trajectory."""

    place: Place
    """Where it stands."""
    model: str
    """The model that answered most of the whole session."""
    steps: tuple[Request, ...]
    """In order."""
    results: tuple[Result, ...]
    """In order; those that answer no open call are left out."""
    needs: tuple[Need, ...]
    """By request, then by result."""

    def until(self, step: int) -> "Trajectory":
        """What was known when the request behind `step` was about to be sent: the answers up to `step` and their results."""
        return structs.replace(
            self,
            steps=tuple(one for one in self.steps if one.number <= step),
            results=tuple(one for one in self.results if one.step <= step),
            needs=tuple(one for one in self.needs if one.step <= step),
        )


def trajectory_of(recording: Recording, place: Place) -> Trajectory:
    """Read a trajectory out of a recording."""
    reading = _Reading()
    for step in steps_of(recording.events):
        reading.take(step)
    novel = Counter(seen.origin for seen in reading.record.seen.values())
    results = tuple(structs.replace(result, novel=novel[result.number]) for result in reading.results)
    return Trajectory(
        place=place,
        model=recording.model,
        steps=tuple(reading.steps),
        results=results,
        needs=tuple(reading.needs),
    )


def blinded(recording: Recording, step: int) -> Recording:
    """The recording up to the request behind `step`, whose answer is empty: what was there to decide by, and nothing of what followed."""
    events: list[Event] = []
    answers = 0
    for event in recording.events:
        if isinstance(event, Answered):
            answers += 1
            if answers > step:
                events.append(Answered(Assistant((Text(""),), "stop")))
                break
        events.append(event)
    return replace(recording, events=tuple(events))


@dataclass(slots=True)
class _Reading:
    """A session being read. `at`: place of each result in `results`; `shows`: the newest results that show a file, several where one answer read it in parts."""

    record: StringRecord = field(default_factory=StringRecord)
    calls: dict[str, Asked] = field(default_factory=dict)
    steps: list[Request] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)
    at: dict[int, int] = field(default_factory=dict)
    shows: dict[str, list[Result]] = field(default_factory=dict)

    def take(self, step: Step) -> None:
        for number, came in enumerate(step.came, step.first):
            self._came(came, number, step.number - 1)
        answer = step.answer.message
        asked = tuple(map(_asked, answer.tool_calls))
        self.needs += self._needs(step, asked)
        self.record.take(answer, step=step.number, number=-1)
        self.calls.update((call.id, call) for call in asked)
        said = sum(_words(came.message) for came in step.came if isinstance(came.message, User))
        self.steps.append(Request(step.number, asked, answer.usage.prompt if answer.usage else 0, said))

    def _came(self, came: Came, number: int, after: int) -> None:
        self.record.take(came.message, step=after, number=number)
        message = came.message
        if not isinstance(message, ToolResult):
            return
        call = self.calls.get(message.call_id)
        tool = message.tool_name or (call.tool if call else "")
        result = Result(number, after, message.call_id, tool, len(message.text), 0, message.is_error, call)
        self.at[number] = len(self.results)
        self.results.append(result)
        if result.file is not None:
            older = self.shows.get(result.file, [])
            self.shows[result.file] = [*(one for one in older if one.step == after), result]

    def _needs(self, step: Step, asked: Sequence[Asked]) -> list[Need]:
        written: dict[int, dict[str, int]] = {}
        for string, seen in self.record.written_by(step):
            if seen.origin is not None:
                written.setdefault(seen.origin, {})[string] = -1 if seen.again is None else seen.again
        read = {call.path for call in asked if call.reads}
        again = {result.number for path in read for result in self.shows.get(path or "", ())}
        return [
            Need(
                number,
                step.number,
                step.number - self.results[self.at[number]].step,
                tuple(written.get(number, ())),
                tuple(written.get(number, {}).values()),
                number in again,
            )
            for number in sorted(written.keys() | again)
        ]


def _asked(call: ToolCall) -> Asked:
    about = resource_of(call)
    return Asked(call.id, call.name, about.key, about.path, about.reads, about.writes)


def _words(message: User) -> int:
    return sum(len(part.text) for part in message.parts if isinstance(part, Text))
