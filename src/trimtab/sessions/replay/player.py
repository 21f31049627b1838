"""The player: one recording under one policy, step by step.

    each step:  what came in ──admit──▶ log ──engine.prepare──▶ request ──till──▶ bill
                       └ a policy elsewhere is asked: that question goes out, its answer comes in
                needs of the step × request ──▶ visible | stub | lost; each that is not visible is fetched: paid, and appended
                recorded answer ──▶ log

The engine is the one that runs live, over a log in memory. The recording goes on as it went, whatever the policy hides: playing it says what a
context costs and what it lacks, not what a model would have done otherwise. Nothing here reads a clock, a network or the environment. `replay` plays a
recording from end to end; the lab stops wherever a policy is asked.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import assert_never

from msgspec import structs

from trimtab.context.asks import (
    Answer,
    Ask,
    Consent,
    Consented,
    Consult,
    Failed,
    Keep,
    Kept,
    Record,
    Recorded,
    Summarize,
    Summary,
    partly_answered,
)
from trimtab.context.budget import budget_for
from trimtab.context.counting.counter import Counter
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.look import Look
from trimtab.context.economics import shape_of
from trimtab.context.editing.compacting import Compactor
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.naming import body_of
from trimtab.context.policies.base import Policy, manners_of
from trimtab.context.settings import EngineSettings
from trimtab.context.summary.job import Summariser
from trimtab.sessions.recorded import Answered, Recording
from trimtab.sessions.replay.needs import Need, needs_of
from trimtab.sessions.replay.reach import Reach, leads_to, reach_of
from trimtab.sessions.replay.sizes import Sizes
from trimtab.sessions.replay.steps import Step, steps_of
from trimtab.sessions.replay.till import RELOAD_OUTPUT, Till, charged, reloaded, repeated, summarised
from trimtab.types.edits import Compact
from trimtab.types.edits import Summarize as SummarizeEdit
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.usage import Usage

UNLIMITED = 1_000_000_000
"""The window of a policy that ignores the window."""
_HEAD = 16
"""Tokens that a handle at the head of a result takes, at most."""


@dataclass(frozen=True, slots=True)
class Item:
    """One recorded call's result as a request shows it; `summary` where a summary stands for it that says how it is read."""

    call_id: str
    state: str
    tokens: int


@dataclass(frozen=True, slots=True)
class StepRun:
    """One request. `states` has a word for each need of the step.

    `request`: with its answer. `summaries` were written in front of it, `reloads` fetched behind it. `repeated`: the original calls of what was reloaded, made again.
    """

    step: int
    calls: tuple[str, ...]
    prompt: int
    cached: int
    output: int
    request: Usage
    summaries: tuple[Usage, ...] = ()
    reloads: tuple[Usage, ...] = ()
    repeated: tuple[Usage, ...] = ()
    states: tuple[Reach, ...] = ()
    overflow: bool = False
    invalid: bool = False
    items: tuple[Item, ...] = ()
    stays: int = 0
    """Of a request that the engine doesn't let out: tokens that it has at least, whatever is taken out."""

    @property
    def paid(self) -> tuple[Usage, ...]:
        """All that the step took at least: the request, the summaries in front of it, the reloads behind it."""
        return (self.request, *self.summaries, *self.reloads)


@dataclass(frozen=True, slots=True)
class Plan:
    """How recordings are played. `items`: list each result's state at each step, for a dump. `counter`: of the same model, to count a text once.

    `refetch`: what a step needs and nothing leads to is fetched all the same; without it, it stays away.
    """

    policy: Policy
    model: ModelInfo
    settings: EngineSettings = field(default_factory=lambda: EngineSettings(result_share=1e6))
    items: bool = False
    counter: Counter | None = None
    refetch: bool = True

    @property
    def unmanaged(self) -> bool:
        """Whether the policy leaves everything, and so ignores the window."""
        return self.policy.name == "none"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What of a recording is the same under every policy."""

    recording: Recording
    steps: tuple[Step, ...]
    needs: Mapping[int, tuple[Need, ...]]


def prepare(recording: Recording) -> Prepared:
    """Read steps and needs out of a recording."""
    steps = steps_of(recording.events)
    return Prepared(recording, steps, needs_of(steps))


@dataclass(slots=True)
class Clock:
    """The recorded time of the request that is being made."""

    now: float | None = None

    def __call__(self) -> float:
        """Seconds."""
        return self.now or 0.0


class Player:
    """Plays the steps of one recording, in order, each once. `edits` and `events` are what the log got on the way, `sent` is the last request, `shape` what the cache sees of it.

    `summaries`: tokens of each text that a model would have been asked for.
    """

    def __init__(self, prepared: Prepared, plan: Plan) -> None:
        self.recording, self.steps, self.needs = prepared.recording, prepared.steps, prepared.needs
        self.plan = plan
        self.clock = Clock()
        self.log = MemoryLog()
        self.model = plan.model
        self.budget = budget_for(self.model, plan.settings.thresholds)
        self.sizes = Sizes(self.model, counter=plan.counter)
        self.sizes.hidden = self._hidden()
        engine_model = structs.replace(self.model, context_window=UNLIMITED) if plan.unmanaged else self.model
        self.engine = Engine(
            engine_model,
            session_id=self.recording.id or "replay",
            policy=plan.policy,
            settings=replace(plan.settings, tools="off") if plan.unmanaged else plan.settings,
            now=self.clock if all(step.asked_at is not None for step in self.steps) else None,
            tally=self.sizes,
            compactor=partial(_compactor, self.model, self.budget.window),
        )
        self.request = ModelRequest(engine_model, (), system=self.recording.system)
        self.sent = self.request
        self.till = Till(self.model)
        self.shape = shape_of(())
        self.messages: list[tuple[str, Message]] = []
        self.edits: list[EditEntry] = []
        self.events: list[CustomEntry] = []
        self.summaries: list[int] = []
        self.reloads: set[str] = set()
        self._asked = False
        self._last_prompt = 0

    def play(self, step: Step) -> Generator[Consult, Answer, StepRun]:
        """Play the next step. It yields the questions to a policy elsewhere, and nothing else."""
        self.clock.now = step.asked_at
        summaries_before = len(self.summaries)
        self._append([self.engine.admit(came.message) for came in step.came])
        look, fits = yield from self._prepared(step)
        shape = self.engine.account.shape(look)
        if marks := self.engine.account.marks(look):
            shape = shape.extended((), marks=(shape.fixed, *(mark + shape.fixed + 1 for mark in marks)))
        if step.number == 1:
            self.till.open(shape, now=self.clock.now)
        self.shape = shape
        bill = self.till.take(shape, now=self.clock.now)
        output = self._output(step.answer)
        summaries = tuple(summarised(self._last_prompt, tokens) for tokens in self.summaries[summaries_before:])
        self._last_prompt = shape.total
        needs = self.needs.get(step.number, ())
        states = tuple(self._reach(look, need) for need in needs)
        items = self._items(look) if self.plan.items else ()
        answer = step.answer.message
        plain = structs.replace(answer, usage=None)
        if fits:
            self.engine.answered(plain)
        else:
            self.engine.account.settle(look, plain, self.clock.now)
        fetched = self._fetched(needs, states)
        again = tuple(self._repeat(number, shape.total) for number in fetched)
        for number in fetched:
            self._reload(number)
        self._append([plain if step.answer.output_unreliable else answer])
        return StepRun(
            step.number,
            tuple(call.id for call in answer.tool_calls),
            shape.total,
            bill.read,
            output,
            charged(bill, output),
            summaries,
            tuple(reloaded(shape.total) for _ in fetched),
            again,
            states,
            overflow=shape.total > self.budget.room,
            invalid=not fits and shape.total <= self.budget.room,
            items=items,
            stays=0 if fits else self._stays(look),
        )

    def _stays(self, look: Look) -> int:
        """The floor where that is what doesn't fit, else what the ladder came down to."""
        floor = floor_of(look).total
        return floor if floor > self.budget.hard else look.used

    def may_ask(self, step: Step) -> bool:
        """Whether a policy elsewhere may be asked in the next step. False is certain; costs what is new since the last request."""
        if self.plan.unmanaged:
            return False
        if manners_of(self.plan.policy).early:
            return True
        size = self.sizes.estimate(self.log.view, self.request.system, self.request.tools).upper
        size += sum(self.sizes.message(came.message) + _HEAD for came in step.came)
        return size >= self.budget.soft

    def _hidden(self) -> int:
        """The first reported prompt less our count of what the file shows of it."""
        for step in self.steps:
            usage = step.answer.message.usage
            if usage is None or not usage.prompt:
                continue
            before: list[Message] = [c.message for s in self.steps[: step.number] for c in s.came]
            before += [s.answer.message for s in self.steps[: step.number - 1]]
            visible = sum(map(self.sizes.message, before)) + self.sizes.fixed(self.recording.system, ())
            return max(0, usage.prompt - visible)
        return 0

    def _prepared(self, step: Step) -> Generator[Consult, Answer, tuple[Look, bool]]:
        """The request of a step, and whether the engine lets it out. One that it doesn't goes out as it is."""
        try:
            made = yield from partly_answered(
                self.engine.prepare(self.log.view, self.request), partial(self._answer, step)
            )
        except ContextFloor:
            view = self.log.view
            self.sent = structs.replace(self.request, messages=view.messages())
            return self.engine.look(view, self.request), False
        self.sent = made.request
        return self.engine.look(made.view, self.request), True

    def _answer(self, step: Step, ask: Ask) -> Answer | Consult:
        """What a replay answers itself; only what a policy elsewhere is asked goes out."""
        match ask:
            case Record():
                for value in ask.values:
                    if isinstance(value, EditEntry):
                        self._edited(value)
                    elif isinstance(value, CustomEntry):
                        self.events.append(value)
                return Recorded(self.log.record(ask.values))
            case Keep():
                return Kept({name: f"results/{name}.txt" for name in ask.texts})
            case Summarize():
                self._asked = True
                if step.summary:
                    return Summary(step.summary, model=self.recording.model)
                return Failed("a replay asks no model")
            case Consult():
                return ask
            case Consent():
                return Consented()
            case _:
                assert_never(ask)

    def _edited(self, entry: EditEntry) -> None:
        """Keep an edit in mind, and that a model would have written its text."""
        self.edits.append(entry)
        if self._asked and isinstance(entry.edit, Compact | SummarizeEdit):
            texts = (entry.edit.summary,) if isinstance(entry.edit, Compact) else entry.edit.texts.values()
            self.summaries.append(sum(map(self.sizes.text, texts)))
            self._asked = False

    def _append(self, messages: list[Message]) -> None:
        self.messages += zip(self.log.append(messages), messages, strict=True)

    def _reach(self, look: Look, need: Need) -> Reach:
        return reach_of(look.view, self.request.system, self.messages[need.result][0], need.strings)

    def _fetched(self, needs: Sequence[Need], states: Sequence[Reach]) -> tuple[int, ...]:
        """The numbers of the messages that are fetched again, each once: those that a step needs and doesn't see."""
        missing = (need.result for need, state in zip(needs, states, strict=True) if self._is_fetched(state))
        return tuple(dict.fromkeys(missing))

    def _is_fetched(self, state: Reach) -> bool:
        return state == "stub" or (state == "lost" and self.plan.refetch)

    def _reload(self, number: int) -> None:
        """What `recall` brings: the text, as a call and its result behind all that is there."""
        entry_id, message = self.messages[number]
        name = message.call_id if isinstance(message, ToolResult) else entry_id
        parts = message.parts if isinstance(message, ToolResult) else (Text(body_of(message)),)
        call = ToolCall(f"reload-{len(self.reloads) + 1}", "recall", {"id": name}, f'{{"id":"{name}"}}')
        recalled = ToolResult(call.id, "recall", parts, is_error=False)
        _, entry = self.log.append([Assistant((call,), "tool_use"), self.engine.admit(recalled)])
        self.reloads.add(entry)

    def _repeat(self, number: int, prompt: int) -> Usage:
        return repeated(prompt, RELOAD_OUTPUT, self.sizes.message(self.messages[number][1]))

    def _output(self, answered: Answered) -> int:
        answer = answered.message
        texts = [part.text for part in answer.parts if isinstance(part, Text | Thinking)]
        texts += [f"{call.name} {call.raw}" for call in answer.tool_calls]
        counted = sum(self.sizes.text(text) for text in texts)
        return max(answer.usage.output if answer.usage else 0, counted)

    def _items(self, look: Look) -> tuple[Item, ...]:
        items: list[Item] = []
        for slot in look.view.slots:
            if isinstance(slot.base, ToolResult) and slot.answered and slot.id not in self.reloads:
                tokens = sum(self.sizes.message(m) for m in slot.shown if not isinstance(m, User))
                state = "summary" if slot.state == "gone" and leads_to(look.view, slot) else slot.state
                items.append(Item(slot.base.call_id, state, tokens))
        return tuple(items)


def _compactor(model: ModelInfo, window: int) -> Compactor:
    return Compactor(Summariser(model.ref, window, model.max_output))
