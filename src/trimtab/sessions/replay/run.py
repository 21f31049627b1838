"""The run: one recording under one policy, step by step.

    each step:  what came in ──admit──▶ log ──engine.prepare──▶ request ──till──▶ bill
                needs of the step × request ──▶ visible | stub | lost; each that is not visible is fetched: paid, and appended
                recorded answer ──▶ log

The engine is the one that runs live, over a log in memory. The recording goes on as it went, whatever the policy hides: a replay says what a
context costs and what it lacks, not what a model would have done otherwise. Nothing here reads a clock, a network or the environment.
"""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from msgspec import structs

from trimtab.context.asks import (
    Answer,
    Ask,
    Consult,
    Failed,
    Keep,
    Kept,
    Record,
    Recorded,
    Summarize,
    Summary,
    run_plan,
)
from trimtab.context.budget import budget_for
from trimtab.context.counting.counter import Counter
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.look import Look
from trimtab.context.editing.compacting import Compactor
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Policy
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
from trimtab.types.entries import EditEntry
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest, Price
from trimtab.types.usage import Usage

T = TypeVar("T")
UNLIMITED = 1_000_000_000
"""The window of a policy that ignores the window."""


@dataclass(frozen=True, slots=True)
class Item:
    """One recorded call's result as a request shows it; `summary` where a summary stands for it that says how it is read."""

    call_id: str
    state: str
    tokens: int


@dataclass(frozen=True, slots=True)
class StepRun:
    """One request. `states` has a word for each need of the step.

    `paid`: the request with its answer, the summaries in front of it, the reloads behind it. `repeated`: the original calls of what was reloaded, made again.
    """

    step: int
    calls: tuple[str, ...]
    prompt: int
    cached: int
    output: int
    paid: tuple[Usage, ...]
    repeated: tuple[Usage, ...] = ()
    states: tuple[Reach, ...] = ()
    overflow: bool = False
    invalid: bool = False
    items: tuple[Item, ...] = ()
    stays: int = 0
    """Of a request that the engine doesn't let out: tokens that it has at least, whatever is taken out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How recordings are replayed. `items`: list each result's state at each step, for a dump. `counter`: of the same model, to count a text once."""

    policy: Policy
    model: ModelInfo
    settings: EngineSettings = field(default_factory=lambda: EngineSettings(result_share=1e6))
    items: bool = False
    counter: Counter | None = None

    @property
    def unmanaged(self) -> bool:
        """Whether the policy leaves everything, and so ignores the window."""
        return self.policy.name == "none"


@dataclass(frozen=True, slots=True)
class Run:
    """A replayed recording: its steps, and every edit on the way. `prices` are those that the edits were weighed at."""

    recording: Recording
    steps: tuple[StepRun, ...]
    edits: tuple[EditEntry, ...]
    prices: tuple[Price, ...] = ()
    summary_calls: int = 0
    unasked: int = 0
    """Times that a policy elsewhere would have been asked."""
    hidden: int = 0
    """The hidden prefix of each request, in tokens."""


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


def replay(prepared: Prepared, plan: Plan) -> Run:
    """Run a recording under a policy."""
    return _Replay(prepared, plan).run()


class _Replay:
    def __init__(self, prepared: Prepared, plan: Plan) -> None:
        self.recording, self.steps, self.needs = prepared.recording, prepared.steps, prepared.needs
        self.plan = plan
        self.now: float | None = None
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
            now=self._clock if all(step.asked_at is not None for step in self.steps) else None,
            tally=self.sizes,
            compactor=self._compactor,
        )
        self.request = ModelRequest(engine_model, (), system=self.recording.system)
        self.till = Till(self.model)
        self.messages: list[tuple[str, Message]] = []
        self.edits: list[EditEntry] = []
        self.summaries: list[int] = []
        self.asked = False
        self.unasked = 0
        self.last_prompt = 0
        self.reloads: set[str] = set()

    def run(self) -> Run:
        steps = tuple(self._step(step) for step in self.steps)
        return Run(
            self.recording,
            steps,
            tuple(self.edits),
            self.model.prices,
            len(self.summaries),
            self.unasked,
            self.sizes.hidden,
        )

    def _compactor(self) -> Compactor:
        return Compactor(Summariser(self.model.ref, self.budget.window, self.model.max_output))

    def _clock(self) -> float:
        return self.now or 0.0

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

    def _step(self, step: Step) -> StepRun:
        self.now = step.asked_at
        summaries_before = len(self.summaries)
        self._append([self.engine.admit(came.message) for came in step.came])
        look, fits = self._prepared(step)
        shape = self.engine.account.shape(look)
        if marks := self.engine.account.marks(look):
            shape = shape.extended((), marks=(shape.fixed, *(mark + shape.fixed + 1 for mark in marks)))
        if step.number == 1:
            self.till.open(shape, now=self.now)
        bill = self.till.take(shape, now=self.now)
        output = self._output(step.answer)
        paid = [charged(bill, output)]
        paid += [summarised(self.last_prompt, tokens) for tokens in self.summaries[summaries_before:]]
        again: list[Usage] = []
        self.last_prompt = shape.total
        needs = self.needs.get(step.number, ())
        states = tuple(self._reach(look, need) for need in needs)
        items = self._items(look) if self.plan.items else ()
        answer = step.answer.message
        plain = structs.replace(answer, usage=None)
        if fits:
            self.engine.answered(plain)
        else:
            self.engine.account.settle(look, plain, self.now)
        for need, state in zip(needs, states, strict=True):
            if state != "visible":
                paid.append(reloaded(shape.total))
                again.append(self._repeat(need, shape.total))
                self._reload(need)
        self._append([plain if step.answer.output_unreliable else answer])
        return StepRun(
            step.number,
            tuple(call.id for call in answer.tool_calls),
            shape.total,
            bill.read,
            output,
            tuple(paid),
            tuple(again),
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

    def _prepared(self, step: Step) -> tuple[Look, bool]:
        """The request of a step, and whether the engine lets it out. One that it doesn't goes out as it is."""
        try:
            made = self._drive(self.engine.prepare(self.log.view, self.request), step)
        except ContextFloor:
            return self.engine.look(self.log.view, self.request), False
        return self.engine.look(made.view, self.request), True

    def _drive(self, plan: Generator[Ask, Answer, T], step: Step) -> T:
        return run_plan(plan, lambda ask: self._answer(ask, step))

    def _answer(self, ask: Ask, step: Step) -> Answer:
        match ask:
            case Record():
                for value in ask.values:
                    if isinstance(value, EditEntry):
                        self._edited(value)
                return Recorded(self.log.record(ask.values))
            case Keep():
                return Kept({name: f"results/{name}.txt" for name in ask.texts})
            case Summarize():
                self.asked = True
                if step.summary:
                    return Summary(step.summary, model=self.recording.model)
                return Failed("a replay asks no model")
            case Consult():
                self.unasked += 1
                return Failed("a replay asks nobody")
            case _:
                assert_never(ask)

    def _edited(self, entry: EditEntry) -> None:
        """Keep an edit in mind, and that a model would have written its text."""
        self.edits.append(entry)
        if self.asked and isinstance(entry.edit, Compact | SummarizeEdit):
            texts = (entry.edit.summary,) if isinstance(entry.edit, Compact) else entry.edit.texts.values()
            self.summaries.append(sum(map(self.sizes.text, texts)))
            self.asked = False

    def _append(self, messages: list[Message]) -> None:
        self.messages += zip(self.log.append(messages), messages, strict=True)

    def _reach(self, look: Look, need: Need) -> Reach:
        return reach_of(look.view, self.request.system, self._entry(need.result)[0], need.strings)

    def _entry(self, number: int) -> tuple[str, Message]:
        return self.messages[number]

    def _reload(self, need: Need) -> None:
        """What `recall` brings: the text, as a call and its result behind all that is there."""
        message = self._entry(need.result)[1]
        assert isinstance(message, ToolResult)
        call = ToolCall(
            f"reload-{len(self.reloads) + 1}", "recall", {"id": message.call_id}, f'{{"id":"{message.call_id}"}}'
        )
        recalled = ToolResult(call.id, "recall", message.parts, is_error=False)
        _, entry = self.log.append([Assistant((call,), "tool_use"), self.engine.admit(recalled)])
        self.reloads.add(entry)

    def _repeat(self, need: Need, prompt: int) -> Usage:
        message = self._entry(need.result)[1]
        return repeated(prompt, RELOAD_OUTPUT, self.sizes.message(message))

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
