"""The engine: one conversation's context, managed.

    message ──admit──▶ what is recorded (capped, with a handle)          the driver records it; the view grows
    before each request:  prepare(view, request) ──asks──▶ Prepared      see `cycle`
    after each answer:    answered(look, answer)                         counts, cache and savings learn from what was reported
    a model's or a person's wish:  act(view, actions, author) ──asks──▶ Outcome

The engine holds no messages, no file and no clock. It gets a view, which is a value, and yields requests for everything outside; so the same
engine runs in an async agent, a script, a proxy and a simulator. What it keeps is what it learned: counts, the cache, what was done lately.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from msgspec import structs

from trimtab.context.account import Account
from trimtab.context.actions import Action
from trimtab.context.applying import BLANK, Means, Outcome, Passed, apply
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.budget import Budget, budget_for
from trimtab.context.compacting import Compactor
from trimtab.context.cycle import Prepared, Rung, cycle
from trimtab.context.deciding import Decider
from trimtab.context.economics.survival import expected_remaining
from trimtab.context.faults import faultfinder
from trimtab.context.housekeeping import housekeeping
from trimtab.context.ladder import STEPS, Step
from trimtab.context.look import Look, Tally, look
from trimtab.context.observation import Observation, Prices
from trimtab.context.observing import Circumstances, Observer
from trimtab.context.planning import RECALL, Kit
from trimtab.context.policies.base import Policy
from trimtab.context.policies.rules import Rules
from trimtab.context.settings import EngineSettings
from trimtab.context.shorten.cap import cap_text
from trimtab.context.slots import Slot
from trimtab.context.tally import MeterTally
from trimtab.context.view import View
from trimtab.types.edits import Edit, Restore
from trimtab.types.entries import RevertEntry
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Text, ToolResult
from trimtab.types.models import ModelInfo, ModelRequest

Now: TypeAlias = Callable[[], float]
_TIGHTER = 0.8
"""Of the counted size: what a request may have after a server refused it as too large without saying what it takes."""
_LEAST_CAP = 1_000


@dataclass(frozen=True, slots=True)
class Status:
    """The meter. `used` is None while nothing is certain; `upper` is the end of the band that decisions use.

    `over`: the next request doesn't fit as it is. `savings`: what edits saved and cost so far.
    """

    used: int | None
    upper: int
    budget: Budget
    over: bool
    savings: dict[str, int | float | None]


class Engine:
    """Manages the context of one session. `now` gives seconds (for cache lifetimes); without it nothing ever counts as idle.

    `next_handle` is the first number that no result of the session has. `way_back` names, for a slot, the file that holds its body where the
    model has no `recall`. `steps` is the ladder.
    """

    def __init__(
        self,
        model: ModelInfo,
        *,
        session_id: str,
        policy: Policy | None = None,
        settings: EngineSettings | None = None,
        now: Now | None = None,
        next_handle: int = 1,
        way_back: Callable[[Slot], str] | None = None,
        tally: Tally | None = None,
        steps: Sequence[Step] = STEPS,
        compactor: Compactor | None = None,
    ) -> None:
        self.settings = settings or EngineSettings()
        self.session_id = session_id
        self.decider = Decider(policy or Rules(), self.settings)
        self.observer = Observer()
        self.compactor = compactor or Compactor()
        self.next_handle = next_handle
        self.rungs: tuple[Rung, ...] = tuple(_Rung(step, self) for step in steps)
        self._now = now
        self._way_back = way_back
        self.restored: dict[str, int] = {}
        """Slot id to the step at which somebody brought it back."""
        self._window_cap: int | None = None
        self._last: Look | None = None
        self.use_model(model, tally=tally)

    def use_model(self, model: ModelInfo, *, tally: Tally | None = None) -> None:
        """Manage for another model from here on: other counts, other rules, another cache. What was learned about the last one goes."""
        self.model = model
        self.tally: Tally = tally or MeterTally(model)
        self.account = Account(model)
        self.faults = faultfinder(model, has_way=self._has_way)
        self._window_cap = None

    @property
    def budget(self) -> Budget:
        """The budget of the model, within what a server said that it takes."""
        model = self.model
        if self._window_cap is not None and self._window_cap < model.context_window:
            model = structs.replace(model, context_window=self._window_cap)
        return budget_for(model, self.settings.thresholds)

    @property
    def kit(self) -> Kit:
        """What texts of edits are made with."""
        # A page that comes back must leave room for what comes after it.
        page = max(500, self.budget.room // 8)
        return Kit(self.session_id, self.tally.text, self._way_of, page_tokens=page)

    # Around a request

    def admit(self, message: Message) -> Message:
        """Return `message` as it is to be recorded: a result that is too large for the window is cut, one worth naming gets a handle.

        Nothing is lost by the cut where the tool kept the whole somewhere; `cut` says what is shown.
        """
        if not isinstance(message, ToolResult):
            return message
        size = self.tally.message(message)
        share = self.settings.result_share
        if share is not None and size > (most := max(_LEAST_CAP, int(self.budget.room * share))):
            message = self._cut(message, most)
            size = self.tally.message(message)
        if self.settings.tools != "off" and message.handle is None and size >= self.settings.headed_tokens:
            message = structs.replace(message, handle=f"r{self.next_handle}")
            self.next_handle += 1
        return message

    def prepare(
        self, view: View, request: ModelRequest, *, after: ErrorInfo | None = None, decide: bool = True
    ) -> Generator[Ask, Answer, Prepared]:
        """Make the next request out of `view`. `after`: the server refused the last one as too large. `decide`: the policy may act.

        Raises `ContextFloor` when no valid request fits.
        """
        if after is not None:
            self._learn_limit(after, view, request)
        self.decider.notes.clear()
        prepared = yield from cycle(self, view, request, forced=after is not None, decide=decide)
        self._last = self.look(prepared.view, request)
        marks = self.account.marks(self._last)
        request = structs.replace(prepared.request, cache_marks=marks)
        return replace(prepared, request=request, notes=(*self.decider.notes, *prepared.notes))

    def make_room(self, view: View, request: ModelRequest) -> Generator[Ask, Answer, View]:
        """Bring `view` under the limit without the policy and without a request. Raises `ContextFloor` when nothing valid fits."""
        return (yield from cycle(self, view, request, decide=False)).view

    def answered(self, answer: Assistant) -> None:
        """The last prepared request was answered: learn from what was reported. Call it before the answer is recorded."""
        if self._last is None:
            return
        self.tally.observe(answer)
        self.account.settle(self._last, answer.usage, self._time())
        self._last = None

    # Wishes

    def act(
        self, view: View, request: ModelRequest, actions: Sequence[Action], *, author: str
    ) -> Generator[Ask, Answer, Outcome]:
        """Do what a model (`author` "model") or a person ("user") wants, one batch; what can't be done is refused in words."""
        look = self.look(view, request)
        batch = f"{view.step}.{author}"
        means = self.means(look, forced=True)
        textless = [a for a in actions if a.action in ("compact", "summarize") and not a.params.get("summary")]
        outcome = yield from apply(view, [a for a in actions if a not in textless], means, author=author, batch=batch)
        self.acted(outcome, actions, author=author, step=view.step)
        for action in textless:
            look = self.look(outcome.view, request)
            more = yield from self.compact(look, action, author=author, batch=batch)
            self.acted(more, [action], author=author, step=view.step)
            outcome = replace(more, done=(*outcome.done, *more.done), refused=(*outcome.refused, *more.refused))
        return outcome

    def revert(
        self, view: View, request: ModelRequest, target: str, *, author: str = "user", reason: str = ""
    ) -> Generator[Ask, Answer, View | str]:
        """Take one edit back and return the view, or why that can't be done: no such edit, or the result would not fit."""
        applied = view.edit(target)
        if applied is None:
            return f"there is no edit {target!r} on this path"
        if target in view.reverted:
            return f"edit {target!r} is reverted already"
        trial = view.with_revert("?revert", target)
        size = self.look(trial, request)
        if size.used > size.budget.hard:
            return f"without edit {target!r} the context has {size.used:,} tokens, and {size.budget.hard:,} may be sent"
        if new := self.faults(trial, trial.messages()) - self.faults(view, view.messages()):
            return f"without edit {target!r} the request would be invalid: {'; '.join(sorted(new)[:2])}"
        answer = yield Record((RevertEntry(**BLANK, target=target, reason=reason, author=author),))
        if not isinstance(answer, Recorded):
            return f"the log can't be written: {answer.reason if isinstance(answer, Failed) else 'unexpected answer'}"
        for index in applied.slots:
            self.restored[view.slots[index].id] = view.step
        return view.with_revert(answer.ids[0], target)

    def status(self, view: View, request: ModelRequest) -> Status:
        """The meter: the same count that decides."""
        now = self.look(view, request)
        known = now.estimate.known
        savings = self.account.savings.as_data()
        return Status(now.estimate.tokens if known else None, now.used, now.budget, now.used > now.budget.hard, savings)

    def observe(self, look: Look) -> Observation:
        """What a policy sees of this request."""
        now = self._time()
        return self.observer.observe(
            look,
            Circumstances(
                sent=self.account.sent_count(look.view),
                cached=self.account.cached(look, now),
                cold=self.account.is_cold(now),
                remaining=expected_remaining(look.view.step),
                prices=_prices(self.model),
                since=self.decider.since(look.view.step),
                last_actions=self.decider.last,
                restored=self.restored,
            ),
        )

    # What a cycle asks of its desk

    @property
    def policy_name(self) -> str:
        """Which policy decides."""
        return self.decider.policy.name

    @property
    def attempts(self) -> int:
        """Tries of each rung of the ladder."""
        return self.settings.attempts

    def look(self, view: View, request: ModelRequest) -> Look:
        """Count the request that `view` makes of `request`."""
        return look(view, request, self.budget, self.tally)

    def means(self, look: Look, *, forced: bool) -> Means:
        """What edits of this request are made, checked and weighed with."""

        def gate(_view: View, edits: Sequence[Edit]) -> Passed:
            return self.account.gate(look, edits, self._time())

        return Means(
            kit=self.kit,
            size=self.tally.message,
            faults=self.faults,
            gate=None if forced else gate,
            keep_files=self.settings.tools == "off",
        )

    def decide(self, look: Look) -> Generator[Ask, Answer, Sequence[Action]]:
        """Ask the policy, unless it is too early for it to act again."""
        return (yield from self.decider.decide(self.observe(look)))

    def housekeeping(self, look: Look) -> Sequence[Action]:
        """Edits of bytes that no request has carried."""
        return housekeeping(look.view, sent=self.account.sent_count(look.view))

    def compact(self, look: Look, action: Action, *, author: str, batch: str) -> Generator[Ask, Answer, Outcome]:
        """Do a `compact` or `summarize` that has no text yet."""
        means = self.means(look, forced=True)
        return (yield from self.compactor.compact(look, action, means, author=author, batch=batch))

    def ready(self, look: Look) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages as they may go out. Raises `ContextFloor`."""
        return self.faults.ready(look)

    def acted(self, outcome: Outcome, actions: Sequence[Action], *, author: str, step: int) -> None:
        """Keep in mind what was done."""
        self.decider.acted(actions, step=step, done=len(outcome.done))
        if not outcome.done:
            return
        self.account.edited(outcome.gained, len(outcome.done))
        if author in ("model", "user"):
            for done in outcome.done:
                if isinstance(done.entry.edit, Restore):
                    self.restored.update(dict.fromkeys(done.entry.edit.targets, step))

    def _cut(self, result: ToolResult, most: int) -> ToolResult:
        texts = [part.text for part in result.parts if isinstance(part, Text)]
        others = tuple(part for part in result.parts if not isinstance(part, Text))
        where = result.cut.where if result.cut else None
        text, cut = cap_text("\n".join(texts), most, self.tally.text, where=where)
        return structs.replace(result, parts=(Text(text), *others), cut=cut or result.cut)

    def _learn_limit(self, error: ErrorInfo, view: View, request: ModelRequest) -> None:
        """A request was refused as too large: the window is what the server says, or smaller than what was sent."""
        counted = self.look(view, request).used
        limit = error.limit if error.limit and error.limit > 0 else None
        if limit is not None and error.actual and error.actual > limit and counted:
            # Both figures are the server's; our count of the same request tells how its tokens relate to ours.
            limit = int(limit * min(1.0, counted / error.actual))
        elif limit is None or limit >= self.budget.window:
            limit = int(counted * _TIGHTER)
        self._window_cap = max(1_000, min(limit, self._window_cap or limit))

    def _way_of(self, slot: Slot) -> str:
        return RECALL if self._way_back is None else self._way_back(slot)

    def _has_way(self, slot: Slot, text: str) -> bool:
        way = self._way_of(slot)
        return ("recall id=" in text or "memo action=read" in text) if way == RECALL else "read path=" in text

    def _time(self) -> float | None:
        return None if self._now is None else self._now()


@dataclass(frozen=True, slots=True)
class _Rung:
    """A step of the ladder, fitted to looks."""

    step: Step
    engine: Engine

    @property
    def name(self) -> str:
        return self.step.name

    def propose(self, look: Look, need: int) -> Sequence[Action]:
        return self.step.propose(self.engine.observe(look), need)


def _prices(model: ModelInfo) -> Prices | None:
    if not model.prices:
        return None
    price = model.prices[0]
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return Prices(price.input, read, write, price.output)
