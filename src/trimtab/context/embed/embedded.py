"""One embedded conversation: a log, an engine over it, the codec of its messages and the tools of its model.

    dicts ──take_in──▶ log        observe, propose ──▶ what the policy sees and wants        execute ──▶ edits        prepared ──▶ dicts

`manager` is its public face; this is where the parts meet. `Setup` is all that a program decides.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Summarize, Summary
from trimtab.context.budget import Thresholds, budget_for
from trimtab.context.counting.counter import Counter
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.look import Look, Tally
from trimtab.context.cycle.saving import restore, saved
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.editing.applying import BLANK, Done
from trimtab.context.editing.checks import INSTRUCTIONS, refusal
from trimtab.context.editing.compacting import Compactor
from trimtab.context.editing.limits import policy_author
from trimtab.context.editing.outcomes import outcome
from trimtab.context.editing.planning import plan
from trimtab.context.embed.foreign import (
    PLAIN_FUNCTION,
    EstimateTally,
    EstimateTokens,
    PolicyFunction,
    Summarizer,
    asked,
    policy_of,
)
from trimtab.context.embed.log_in_memory import MemoryLog, drive
from trimtab.context.embed.problems import KEPT, Problem, event, problems_in
from trimtab.context.embed.toolbox import Toolbox
from trimtab.context.embed.unasked import placed, why_unasked
from trimtab.context.engine import Engine
from trimtab.context.markers import KEPT_OUTSIDE, RECALL, hides
from trimtab.context.policies.base import Policy
from trimtab.context.policies.fallback import Fallback
from trimtab.context.reasons import in_words
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings, Profile
from trimtab.context.shorten.compress import Compressor
from trimtab.context.slips import slips_in_params
from trimtab.context.summary.job import Summariser
from trimtab.context.telling.layers import observed
from trimtab.context.telling.pinned import kept_as_they_stand
from trimtab.context.vendor.formats import format_named
from trimtab.context.vendor.plain import VendorMessage
from trimtab.context.vendor.remembered import Remembered
from trimtab.context.window.slots import Slot
from trimtab.types.edits import Pin, Restate, Restore
from trimtab.types.entries import EditEntry
from trimtab.types.errors import ContextFloor, UsageError
from trimtab.types.messages import Assistant, Message, ToolResult, User
from trimtab.types.models import Api, ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage, why_impossible

T = TypeVar("T")
FormatName: TypeAlias = Literal["openai", "anthropic"]
_APIS: Mapping[str, Api] = {"openai": "openai-chat", "anthropic": "anthropic"}
_SESSION = "context"
_NEVER = 1 << 60
_MOST_TOKENS = 1 << 40
"""More than any window has; larger numbers are slips, and don't go into every file."""
_SUMMARISER_WINDOW = 32_768
"""What is taken for the window of the program's summarizer when the conversation's own is smaller."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a program decides; see `ContextManager`."""

    policy: str | Policy | PolicyFunction
    max_tokens: int
    summarizer: Summarizer | None = None
    estimate_tokens: EstimateTokens | None = None
    format: FormatName = "openai"
    reserve: int | None = None
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    compressor: Compressor | None = None

    def model(self) -> ModelInfo:
        """What is known of the model: its wire and its window. Prices and cache are not. Raises `UsageError` for settings that make no sense."""
        if type(self.max_tokens) is not int or not 1 <= self.max_tokens <= _MOST_TOKENS:
            raise UsageError(
                f"max_tokens must be a whole number above 0, not {self.max_tokens!r}",
                hint="Give the window of the model, in tokens.",
            )
        reserve = self.reserve
        if reserve is not None and (type(reserve) is not int or not 0 <= reserve < self.max_tokens):
            raise UsageError(
                f"reserve must be a whole number from 0 to below max_tokens, not {reserve!r}", hint="Leave it out."
            )
        for name, function in (("summarizer", self.summarizer), ("estimate_tokens", self.estimate_tokens)):
            if function is not None and not callable(function):
                raise UsageError(
                    f"{name} must be a function, not {function!r}", hint="Leave it out, or give a function."
                )
            if inspect.iscoroutinefunction(function):
                raise UsageError(f"{name} is an async function, and nobody here awaits it", hint=PLAIN_FUNCTION)
        compress = getattr(self.compressor, "compress", None)
        if self.compressor is not None and (isinstance(self.compressor, type) or not callable(compress)):
            raise UsageError(
                f"compressor must be an object with compress(text, share=…, words=…, key=…), not {self.compressor!r:.100}",
                hint="Leave it out, or give an instance.",
            )
        form = format_named(self.format)
        model = ModelInfo(
            provider=form.provider,
            id="",
            api=_APIS[form.name],
            context_window=self.max_tokens,
            max_output=max(1, self.max_tokens // 4 if reserve is None else reserve),
            input=("text", "image", "pdf", "audio", "video"),
        )
        self._require_room(model)
        return model

    def _require_room(self, model: ModelInfo) -> None:
        """Raise `UsageError` for a window that its margins take whole, with the smallest that they don't."""
        margins = Thresholds(reserve_tokens=self.reserve)
        budget = budget_for(model, margins)
        if budget.room:
            return
        least = budget
        while not least.room:
            window = max(least.window + 1, least.reserve + least.safety + 1)
            most = max(1, window // 4) if self.reserve is None else model.max_output
            least = budget_for(structs.replace(model, context_window=window, max_output=most), margins)
        raise UsageError(
            f"max_tokens={self.max_tokens:,} leaves no room for messages: {budget.reserve:,} are kept for the answer, and {budget.safety:,} are a safety margin",
            hint=f"Give the window of the model, in tokens; the least that leaves any is {least.window:,}, and a conversation needs some thousands.",
        )

    def settings(self) -> EngineSettings:
        """The thresholds are those of every engine. Nothing is cut when it comes in: the log is the only place that holds the whole.

        A result has a handle at its head only for a model that can use it: before tools are offered, messages go out as they came. System prompt
        and tools are sent by the program, so here they are as it says.
        """
        margins = Thresholds(reserve_tokens=self.reserve)
        return EngineSettings(margins, headed_tokens=_NEVER, result_share=None, epochs=False)

    def writer(self) -> Summariser | None:
        """The program's summarizer as the engine knows it."""
        if self.summarizer is None:
            return None
        window = max(self.max_tokens, _SUMMARISER_WINDOW)
        return Summariser("summarizer", window, window // 4, strict=False)


class Embedded:
    """See the module. `proposed` is what the policy wants and nobody has done; `offered` is the profile of context tools that the model has; `notes` are for a person."""

    def __init__(self, setup: Setup) -> None:
        model = setup.model()
        self.setup = setup
        self.log = MemoryLog()
        self.format = format_named(setup.format)
        self.offered: Profile = "off"
        self.proposed: list[Action] = []
        self.notes: list[str] = []
        self.request = ModelRequest(model, (), system=setup.system, tools=setup.tools, session_id=_SESSION)
        policy = policy_of(setup.policy, self.seen)
        self.engine = Engine(
            model,
            session_id=_SESSION,
            policy=policy,
            settings=setup.settings(),
            tally=_tally(setup, model, self._counter_failed),
            way_back=lambda _slot: KEPT_OUTSIDE if self.offered == "off" else RECALL,
            compactor=lambda: Compactor(setup.writer(), profile="general"),
            compressor=setup.compressor,
        )
        self.engine.compressor_failed = self._compressor_failed
        self.engine.faults = faultfinder(model, has_way=self._has_way)
        self.author = policy_author(policy.name)
        self._asks_always = isinstance(policy, Fallback)
        self._remembered = Remembered(self.format)
        self._done: list[Action] = []
        self._asked_at: int | None = None
        """How long the log was when the request went out that nobody has answered yet."""
        self.toolbox = Toolbox(self.engine, view=lambda: self.log.view, request=lambda: self.request, drive=self.drive)

    def take_in(self, given: Sequence[VendorMessage], usage: Usage | None) -> None:
        """Record messages; `usage` belongs to the first answer among them. Raises `VendorMessageError`, and then nothing was recorded."""
        for number, one in enumerate(given):
            self.format.decode(one, index=number)
        for decoded in [m for one in given for m in self._remembered.decode(one)]:
            message = placed(self.log.view, decoded)
            if message is not decoded and isinstance(decoded, ToolResult):
                self.log.record([event("result_without_call", why_unasked(self.log.view, decoded))])
            if isinstance(message, Assistant):
                usage = self._believed(usage, message)
                answer = message if usage is None else structs.replace(message, usage=usage)
                usage = None
                self.engine.answered(answer)
                self._asked_at = None
                self._record(answer)
            else:
                self._record(message)

    def look(self) -> Look:
        """The next request as it stands, counted."""
        return self.engine.look(self.log.view, self.request)

    def observe(self) -> Observation:
        """The context as policies see it."""
        return self.engine.observe(self.look())

    def seen(self, observation: Observation) -> dict[str, Any]:
        """The same as plain data."""
        return observed(self.log.view, observation, self.engine.budget)

    def problems(self) -> list[Problem]:
        """What gave way to something else, oldest first."""
        return problems_in(self.log.archive.path())

    def propose(self, look: Look) -> list[Action]:
        """What the policy wants now, the most wanted first, and behind it what it wanted before and nobody did."""
        fresh: Sequence[Action] = ()
        decider = self.engine.manager.decider
        told = len(decider.passed)
        if self._asks_always:
            fresh = self.drive(decider.ask(self.engine.observe(look)))
        elif look.used >= look.budget.soft and self.engine.manager.policy_name != "none":
            fresh = self.drive(decider.decide(self.engine.observe(look)))
        self._tell(decider.passed[told:])
        # What was just done comes last if it is wanted again, so that the rest gets its turn.
        again = [action for action in fresh if action in self._done]
        first = [action for action in fresh if action not in again]
        rest = [action for action in self.proposed if action not in fresh and self._makes_sense(action)]
        self._done = []
        return [*first, *rest, *again]

    def execute(self, action: Action, *, author: str, notes: Sequence[str] = ()) -> dict[str, Any]:
        """Do an action and return what came of it, `notes` with it. One that brings something into view is taken back if then nothing valid fits."""
        if action.action == "keep":
            return outcome("keep", action.targets, used=self.look().used, fine=True)
        slips = slips_in_params(action.action, action.params)
        if slips.problems:
            return outcome(action.action, action.targets, problems=slips.problems, used=self.look().used)
        if pinned := self._pinned(action):
            return outcome(action.action, action.targets, problems=[f"{pinned!r} is pinned"], used=self.look().used)
        made = self.drive(self.engine.act(self.log.view, self.request, [action], author=author))
        problems = [in_words(problem) for problem in made.problems]
        done = made.done
        if any(isinstance(d.entry.edit, Restore | Restate | Pin) for d in done) and (over := self._too_much(done)):
            for edit in reversed(done):
                self.drive(self.engine.revert(self.log.view, self.request, edit.entry_id, reason=over))
            done, problems = (), [over, *problems]
        if done:
            self._done.append(action)
        as_they_stand = kept_as_they_stand(self.log.view, (d.entry.edit for d in done))
        notes = (*made.notes, *as_they_stand, *notes, *slips.notes)
        self._tell(notes)
        return outcome(action.action, action.targets, done=done, problems=problems, notes=notes, used=self.look().used)

    def prepared(self) -> list[dict[str, Any]]:
        """The messages of the next request. Raises `ContextFloor`."""
        prepared = self.drive(self.engine.prepare(self.log.view, self.request, decide=False))
        self._asked_at = len(self.log.archive)
        self._tell(prepared.notes)
        messages = self._remembered.encode([_named_in_text(message) for message in prepared.request.messages])
        if self.setup.system and self.format.name == "openai":
            return [{"role": "system", "content": self.setup.system}, *messages]
        return messages

    def _tell(self, notes: Iterable[str]) -> None:
        self.notes = [*self.notes, *notes][-KEPT:]

    def offer(self, profile: Profile) -> tuple[ToolSpec, ...]:
        """Give the model the context tools of a profile. Raises `UsageError` when there is no such profile."""
        specs = self.toolbox.specs(profile)
        self.offered = profile
        headed = _NEVER if profile == "off" else EngineSettings().headed_tokens
        self.engine.settings = replace(self.engine.settings, headed_tokens=headed)
        self.request = structs.replace(self.request, tools=(*self.setup.tools, *specs))
        if self.engine.faults.without_way(self.log.view):
            self.drive(self.engine.manager.rehome(self.log.view, self.request))
        return specs

    def drive(self, plan: Generator[Ask, Answer, T]) -> T:
        """Run a plan of the engine to its end."""
        return drive(plan, self.log, summarize=self._summary)

    def data(self) -> dict[str, Any]:
        """Everything but the setup, as JSON values."""
        self.look()  # what the last answer reported is learned when it is first needed
        return {
            "entries": self.log.lines(),
            "given": self._remembered.dump(),
            "asked_at": self._asked_at,
            "offered": self.offered,
            "proposed": msgspec.to_builtins(self.proposed),
            "done": msgspec.to_builtins(self._done),
            "notes": self.toolbox.data(),
            "learned": saved(self.engine, self.log.view),
        }

    def load(self, data: Mapping[str, Any]) -> None:
        """Take over what `data` gave, in a conversation that hasn't begun. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
        entries, asked_at = data["entries"], data["asked_at"]
        self.log.load(entries[:asked_at])
        asked = None if asked_at is None else self.log.view
        self.log.load(entries[len(self.log.archive) :])
        self._remembered.load(data["given"])
        self.proposed = msgspec.convert(data["proposed"], list[Action])
        self._done = msgspec.convert(data["done"], list[Action])
        self.toolbox.load(data["notes"])
        if data["offered"] != "off":
            self.offer(data["offered"])
        restore(self.engine, data["learned"], self.look())
        if asked is not None:
            self.engine.sent(asked, self.request)
            self._asked_at = asked_at

    def _has_way(self, slot: Slot, text: str) -> bool:
        """The program has every text (`ContextManager.recall`), so a stub that names no call is right, whatever the model has; one that does needs it."""
        hidden = hides(text)
        return (hidden is not None and hidden.way_back is None) or self.engine.has_way(slot, text)

    def _record(self, message: Message) -> None:
        """Instructions among the messages are what nothing may take out."""
        instructs = isinstance(message, User) and (message.wire or {}).get("role") is not None
        if isinstance(message, User) and instructs:
            message = structs.replace(message, origin="note")
        ids = self.log.append([self.engine.admit(message)])
        if instructs:
            pin = Pin(targets=ids)
            self.log.record([EditEntry(**BLANK, edit=pin, reason="instructions stay", author=INSTRUCTIONS)])

    def _makes_sense(self, action: Action) -> bool:
        """Whether an action that was proposed earlier can still be done."""
        if action.action in ("compact", "summarize"):
            return action not in self._done
        edits = plan(action, self.log.view, self.engine.manager.kit).edits
        return any(refusal(self.log.view, edit, author=self.author) is None for edit in edits)

    def _believed(self, usage: Usage | None, answer: Assistant) -> Usage | None:
        """The usage, unless it can't be true. What an answer was allowed to have, the program doesn't tell: no more than a window for certain."""
        most = self.setup.max_tokens
        why = usage and why_impossible(usage, window=most, most_output=most, heard=len(answer.text))
        if why:
            self.log.record([event("usage_not_believed", f"{why}; it counts as none")])
            return None
        return usage

    def _pinned(self, action: Action) -> str | None:
        """A target that may not be touched, or None."""
        if action.action in ("pin", "unpin", "reload", "restate"):
            return None
        view = self.log.view
        found = ((target, view.find(target)) for target in action.targets)
        return next((target for target, at in found if at is not None and view.slots[at.index].pinned), None)

    def _too_much(self, done: Iterable[Done]) -> str:
        """Why what was brought into view can't stay, though the ladder made what room it could; nothing when it can."""
        try:
            view = self.drive(self.engine.make_room(self.log.view, self.request))
        except ContextFloor as problem:
            return problem.message
        for made in done:
            applied = view.edit(made.entry_id)
            places = applied.slots if applied and not isinstance(made.entry.edit, Pin) else ()
            if gone := [view.slots[i].id for i in places if view.slots[i].state in ("gone", "stub")]:
                return f"there is no room for {', '.join(gone[:3])} beside what has to stay"
        return ""

    def _summary(self, ask: Summarize) -> Summary | Failed:
        if self.setup.summarizer is None:
            return Failed("there is no summarizer")
        answer = asked(self.setup.summarizer, ask, self.format)
        if isinstance(answer, Failed):
            self.log.record([event("summarizer_failed", answer.reason)])
        return answer

    def _counter_failed(self, why: str) -> None:
        self.log.record([event("counter_failed", why)])

    def _compressor_failed(self, why: str) -> None:
        self.log.record([event("compressor_failed", why)])


def _tally(setup: Setup, model: ModelInfo, tell: Callable[[str], None]) -> Tally:
    """Counts by the program's own function, else by ours: the program may send more than it told us, so a large report may be true."""
    if setup.estimate_tokens:
        return EstimateTally(setup.estimate_tokens, Counter(model), tell=tell)
    return MeterTally(model, complete=False)


def _named_in_text(message: Message) -> Message:
    """A shown result has its handle at the head of its text already; whoever pairs the messages once more would put it there again."""
    return structs.replace(message, handle=None) if isinstance(message, ToolResult) and message.handle else message
