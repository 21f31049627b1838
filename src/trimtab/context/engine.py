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
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from trimtab.context.budget import Budget, budget_for
from trimtab.context.counting.estimate import Estimate
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.front import Front, front_of, is_notice
from trimtab.context.cycle.look import Look, Tally, look
from trimtab.context.cycle.refusals import NOTHING, Lesson, lesson_of
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.editing.housekeeping import housekeeping
from trimtab.context.markers import RECALL, hides
from trimtab.context.naming import name_of
from trimtab.context.policies.base import Policy, manners_of
from trimtab.context.prepared import Prepared, with_room
from trimtab.context.settings import EngineSettings
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Text, ToolResult
from trimtab.types.models import ModelInfo, ModelRequest

if TYPE_CHECKING:
    from trimtab.context.actions import Action
    from trimtab.context.asks import Answer, Ask
    from trimtab.context.counting.counter import Counter
    from trimtab.context.counting.ratio import CalibrationState
    from trimtab.context.cycle.account import Account
    from trimtab.context.cycle.epochs import Epochs
    from trimtab.context.cycle.ladder import Step
    from trimtab.context.cycle.managing import Manager
    from trimtab.context.cycle.marks import Waiting
    from trimtab.context.cycle.tail import Memos
    from trimtab.context.editing.applying import Outcome
    from trimtab.context.editing.compacting import Compactor
    from trimtab.context.seeing.observation import Observation
    from trimtab.context.seeing.regret import Learned
    from trimtab.context.shorten.compress import Compressor

Now: TypeAlias = Callable[[], float]
_LEAST_CAP = 1_000


@dataclass(frozen=True, slots=True)
class Status:
    """The meter. `used` is None while nothing is certain; `upper` is the end of the band that decisions use.

    `over`: the next request doesn't fit as it is. `savings`: what edits saved and cost so far. `waiting`: the edits that wait until they pay;
    None: there are none.
    """

    used: int | None
    upper: int
    budget: Budget
    over: bool
    savings: dict[str, int | float | None]
    waiting: "Waiting | None" = None


class Engine:
    """Manages the context of one session. `now` gives seconds (for cache lifetimes); without it nothing ever counts as idle.

    `policy` is one, or the name of one that is looked up when it is first needed. `next_handle` is the first number that no result of the
    session has. `counter` makes what counts for a model, `regret` gives what other sessions taught; both are asked when they are first needed.
    `way_back` names, for a slot, the file that holds its body where the model has no `recall`. `steps` is the ladder. `memos` lists what the
    model has kept. `compressor` makes texts shorter in place of the built-in one, which stands in where it fails.

    A request with room to spare needs little of all this; what does the work on a full window is loaded with the first one that does.
    """

    def __init__(
        self,
        model: ModelInfo,
        *,
        session_id: str,
        policy: Policy | str = "rules",
        settings: EngineSettings | None = None,
        now: Now | None = None,
        next_handle: int = 1,
        way_back: Callable[[Slot], str] | None = None,
        tally: Tally | None = None,
        steps: "Sequence[Step] | None" = None,
        compactor: "Callable[[], Compactor] | None" = None,
        counter: "Callable[[ModelInfo], Counter] | None" = None,
        regret: "Callable[[], Learned] | None" = None,
        memos: "Memos | None" = None,
        compressor: "Compressor | None" = None,
    ) -> None:
        self.settings = settings or EngineSettings()
        self.session_id = session_id
        self.policy = policy
        self.deciding = True
        """Whether the policy may act before a request. Without that only the ladder does, over the limit."""
        self.next_handle = next_handle
        self.compactor = compactor
        self.memos = memos
        self.compressor = compressor
        self.compressor_failed: Callable[[str], None] | None = None
        """Hears why the compressor failed, the first time; without it a note of the outcome or of the prepared request says so."""
        self.window_cap: int | None = None
        self.output_cap: int | None = None
        self.steps = steps
        self._now = now
        self._way_back = way_back
        self._last: Look | None = None
        self._homed: object = None
        self._noticed: object = None
        """`View.reverted` when the view was last looked through for notices: another one with each edit and revert, the same otherwise."""
        self.told = False
        """Whether the view may hold a notice of what isn't sent in front yet."""
        self._epochs: Epochs | None = None
        self.tailed: tuple[object, int] = (None, -1)
        """The lineage and the epoch of the view at whose end nothing was left to say."""
        self._heard: tuple[Look, Assistant, float | None] | None = None
        self._manager: Manager | None = None
        self._account: Account | None = None
        self._counter = counter
        self.known_regret = regret
        self._take(model, tally or MeterTally(model, make=counter))
        self.page_tokens = self.budget.page
        """Tokens of a page, for whoever reads one and whoever brings one back. One size for the whole session: numbers of pages count in it."""

    def use_model(
        self, model: ModelInfo, *, tally: Tally | None = None, settings: EngineSettings | None = None
    ) -> None:
        """Manage for another model from here on: other counts, other rules, another cache. What was learned about the last one goes.

        Not while a request is out: its answer would be taken for the new model's.
        """
        self._learn()  # what the last answer reported is about the model that gave it
        self._last = None
        self.settings = settings or self.settings
        self._take(model, tally or _switched(self.tally, MeterTally(model, make=self._counter)))
        if self._manager is not None:
            self._manager.use_model()

    def _take(self, model: ModelInfo, tally: Tally) -> None:
        self.model = model
        self.tally = tally
        self.faults = faultfinder(model, has_way=self.has_way)
        self.window_cap = self.output_cap = None
        self.front: Front | None = None
        self._asked = 0
        self._account = None

    @property
    def account(self) -> "Account":
        """What the cache holds, what was spent and saved."""
        if self._account is None:
            from trimtab.context.cycle.account import Account  # noqa: PLC0415 - not needed for a first request

            self._account = Account(self.model)
        return self._account

    @property
    def policy_name(self) -> str:
        """Which policy decides."""
        return self.policy if isinstance(self.policy, str) else self.policy.name

    @property
    def manager(self) -> "Manager":
        """What edits the context."""
        if self._manager is None:
            from trimtab.context.cycle.managing import Manager  # noqa: PLC0415 - not needed while there is room

            self._manager = Manager(self)
        return self._manager

    @property
    def calibration(self) -> "CalibrationState | None":
        """What was learned about the model's counts; None while no report was taken in."""
        tally = self.tally
        return tally.counter.learned if isinstance(tally, MeterTally) and tally.counts else None

    @property
    def regret(self) -> "Learned | None":
        """What this session taught about hiding results; None while nothing was edited."""
        return self._manager.regret.learned if self._manager is not None else None

    @property
    def epochs(self) -> "Epochs":
        """What decides when another system prompt or other tools are sent."""
        if self._epochs is None:
            from trimtab.context.cycle.epochs import Epochs  # noqa: PLC0415 - not needed while nothing changes

            self._epochs = Epochs(self)
        return self._epochs

    @property
    def budget(self) -> Budget:
        """The budget of the model, within what a server said that it takes."""
        model = self.model
        if self.window_cap is not None and self.window_cap < model.context_window:
            model = structs.replace(model, context_window=self.window_cap)
        return budget_for(model, self.settings.thresholds)

    # Around a request

    def admit(self, message: Message) -> Message:
        """Return `message` as it is to be recorded: one worth naming gets a handle, and one too large for the window is cut if its tool kept the whole.

        Where nobody keeps the whole, the log does, and what is shown is folded before it is first sent (see `housekeeping`).
        """
        if not isinstance(message, ToolResult):
            return message
        if sum(len(part.text) for part in message.parts if isinstance(part, Text)) * 4 < self.settings.headed_tokens:
            return message  # no token is less than a byte: too small to be cut or named
        size = self.tally.message(message)
        most = self._most_shown
        if most is not None and size > most and message.cut is not None and message.cut.where:
            message = self._cut(message, most, message.cut.where)
            size = self.tally.message(message)
        if self.settings.tools != "off" and message.handle is None and size >= self.settings.headed_tokens:
            message = structs.replace(message, handle=f"r{self.next_handle}")
            self.next_handle += 1
        return message

    def prepare(
        self, view: View, request: ModelRequest, *, after: ErrorInfo | None = None, decide: bool = True
    ) -> "Generator[Ask, Answer, Prepared]":
        """Make the next request out of `view`. `after`: why the server refused the last one (see `refusals`); no rate limit shortens anything.
        `decide`: the policy may act. Its system prompt and tools may still be those of the last request (see `epochs`).

        Raises `ContextFloor` when no valid request fits.
        """
        if view.lineage is not self._homed:
            # Made by other tools than there are now, a stub may name a way back that is gone; seldom, so once for each line of history.
            if len(view.applied) and self.faults.without_way(view):
                view = yield from self.manager.rehome(view, request)
            self._homed = view.lineage
        if view.reverted is not self._noticed:  # whoever edits or reverts may bring a notice back
            self.told = any(is_notice(applied.edit) and applied.id not in view.reverted for applied in view.applied)
            self._noticed = view.reverted
        view = yield from self._settled(view, request)
        lesson = NOTHING if after is None else self._learn_from(after, view, request)
        if self.output_cap is not None:
            most = min(request.max_output or self.output_cap, self.output_cap)
            request = structs.replace(request, max_output=most)
        decide = decide and self.deciding
        now = (self._glance(view, request) if after is None else None) or self.look(view, request)
        prepared = None if lesson.shrink or lesson.media else self._as_it_stands(now)
        if prepared is None:
            prepared = yield from self.manager.prepare(
                view, request, forced=lesson.shrink, refused_media=lesson.media, decide=decide
            )
            if self._is_unsettled(request):
                prepared = yield from self.epochs.settled(prepared, request)
            now = self.look(prepared.view, request)
        self._last, self._asked = now, prepared.request.max_output or 0
        if self.model.cache.kind != "explicit":
            return prepared
        marks = self.account.marks(now)
        return replace(prepared, request=structs.replace(prepared.request, cache_marks=marks))

    def prepare_ahead(self, view: View, request: ModelRequest) -> "Generator[Ask, Answer, str]":
        """Have the summary written that the policy is about to ask a model for; for a driver that runs it beside the conversation.

        It yields `Summarize` and nothing else. An accepted text waits for the compaction that comes, which then asks nobody; if what it was made of
        has changed by then, it isn't used. Returns why nothing came of it, once; then nothing is prepared any more.

        It asks only above the soft threshold, only when a policy of ours says that it would compact with a few more requests, by a model and not by
        a digest, and only if that pays. The ladder's own summary isn't prepared: it comes after a digest that was not enough, which nobody can foresee.
        """
        if view.is_waiting or not self.settings.ahead:
            return ""
        now = self.look(view, request)
        return "" if now.used < now.budget.soft or not self.deciding else (yield from self.manager.prepare_ahead(now))

    def make_room(self, view: View, request: ModelRequest) -> "Generator[Ask, Answer, View]":
        """Bring `view` under the limit without the policy and without a request. Raises `ContextFloor` when nothing valid fits."""
        return (yield from self.manager.prepare(view, request, forced=False, decide=False)).view

    def sent(self, view: View, request: ModelRequest) -> None:
        """Take the request that `view` makes for the one that is out: what `prepare` does, for a conversation that goes on elsewhere."""
        self._last = Look(view, request, self.budget, Estimate(0, 0, known=False, anchored=False), self.tally)

    def answered(self, answer: Assistant) -> None:
        """The last prepared request was answered: learn from what was reported, when that is first needed."""
        if self._last is not None:
            self._heard = (self._last, answer, self.time())
            self._last = None

    # Wishes

    def act(
        self, view: View, request: ModelRequest, actions: "Sequence[Action]", *, author: str
    ) -> "Generator[Ask, Answer, Outcome]":
        """Do what a model (`author` "model") or a person ("user") wants, one batch; what can't be done is refused in words."""
        return (yield from self.manager.act(view, request, actions, author=author))

    def revert(
        self, view: View, request: ModelRequest, target: str, *, author: str = "user", reason: str = ""
    ) -> "Generator[Ask, Answer, View | str]":
        """Take an edit, or an earlier revert, back and return the view, or why that can't be done: no such edit, or the result would not fit."""
        return (yield from self.manager.revert(view, request, target, author=author, reason=reason))

    def status(self, view: View, request: ModelRequest) -> Status:
        """The meter: the same count that decides."""
        now = self.look(view, request)
        known = now.estimate.known
        savings = self.account.savings.as_data()
        waiting = self._manager.waiting if self._manager is not None else None
        return Status(
            now.estimate.tokens if known else None, now.used, now.budget, now.used > now.budget.hard, savings, waiting
        )

    def look(self, view: View, request: ModelRequest) -> Look:
        """Count the request that `view` makes of `request`, with the system prompt and the tools that are sent."""
        self._learn()
        request = request if self.front is None else self.front.on(request)
        self.faults.behind(request)
        return look(view, request, self.budget, self.tally)

    def observe(self, look: Look) -> "Observation":
        """What a policy sees of this request."""
        return self.manager.observe(look)

    def way_of(self, slot: Slot) -> str:
        """How the model reads again what `slot` hides: `recall`, or the path of a file; empty when it has no tool for either."""
        return RECALL if self._way_back is None else self._way_back(slot)

    def time(self) -> float | None:
        """Seconds, if there is a clock."""
        return None if self._now is None else self._now()

    def _settled(self, view: View, request: ModelRequest) -> "Generator[Ask, Answer, View]":
        """Choose what stands in front of the messages; see `epochs`. `none` changes nothing, so it sends what it gets."""
        if not self.settings.epochs or self.policy_name == "none":
            return view
        if self.front is None:
            self.front = front_of(request)
        return (yield from self.epochs.settle(view, request)) if self._is_unsettled(request) else view

    def _is_unsettled(self, request: ModelRequest) -> bool:
        return self.front is not None and (self.told or not self.front.before(request))

    def _learn(self) -> None:
        """Take in what the last answer reported."""
        if self._heard is None:
            return
        (asked, answer, time), self._heard = self._heard, None
        self.tally.estimate(asked.view, asked.request.system, asked.request.tools)
        self.tally.observe(answer)
        self.account.settle(asked, answer, time)

    def _glance(self, view: View, request: ModelRequest) -> Look | None:
        """The first request of a process, if it is small whatever a tokenizer would say; no vocabulary is loaded for it."""
        if self._heard is not None or not isinstance(self.tally, MeterTally) or self.tally.counts:
            return None
        budget = self.budget
        wanted = request.max_output or request.model.max_output
        most = min(budget.soft, budget.window - budget.safety - wanted)
        size = self.tally.glance(view, request.system, request.tools, most=most)
        return None if size is None else Look(view, request, budget, size, self.tally)

    def _as_it_stands(self, now: Look) -> Prepared | None:
        """The request without an edit; None where something has to be decided first."""
        if not self._is_quiet(now):
            return None
        messages, notes = self.faults.ready(now)
        if notes and self.faults.pictures(now.view, refused=False):
            return None
        return Prepared(with_room(now, messages), now.estimate.tokens, now.view, notes=notes)

    def _is_quiet(self, now: Look) -> bool:
        """Whether this request needs nobody's decision: there is room, and nothing to tidy."""
        if now.used >= now.budget.soft or (self._manager is not None and self._manager.rides(now)):
            return False
        if not isinstance(self.policy, str) and manners_of(self.policy).early:
            return False
        return not self.untidy(now) and not self.tail(now)

    def untidy(self, now: Look) -> "Sequence[Action]":
        """What to tidy before it is first sent: see `housekeeping`."""
        places, most = range(len(now.view.slots)), self._most_shown
        fresh = places if self._account is None else self._account.unsent(now)
        return housekeeping(
            now.view, fresh, is_large=lambda result: self._is_large(result, most), frozen=self.faults.frozen
        )

    def tail(self, now: Look) -> "Sequence[Action]":
        """What has to be said again at the end, for an edit took it out of sight; see `tail`. Looked for once after each change."""
        view, (lineage, epoch) = now.view, self.tailed
        if not len(view.applied) or (lineage is view.lineage and epoch == view.epoch):
            return ()
        from trimtab.context.cycle.tail import tail  # noqa: PLC0415 - not needed before there are edits

        wanted = tail(now, self.memos)
        self.tailed = (None, -1) if wanted else (view.lineage, view.epoch)
        return wanted

    @property
    def _most_shown(self) -> int | None:
        """Tokens that one fresh result may show."""
        share = self.settings.result_share
        return None if share is None else max(_LEAST_CAP, int(self.budget.room * share))

    def _is_large(self, result: ToolResult, most: int | None) -> bool:
        if most is None or 4 * sum(len(part.text) for part in result.parts if isinstance(part, Text)) < most:
            return False  # as in `admit`
        return self.tally.message(result) > most

    def _cut(self, result: ToolResult, most: int, where: str) -> ToolResult:
        from trimtab.context.shorten.cap import cap_text  # noqa: PLC0415 - results this large are rare

        texts = [part.text for part in result.parts if isinstance(part, Text)]
        others = tuple(part for part in result.parts if not isinstance(part, Text))
        text, cut = cap_text("\n".join(texts), most, self.tally.text, where=where)
        return structs.replace(result, parts=(Text(text), *others), cut=cut or result.cut)

    def _learn_from(self, error: ErrorInfo, view: View, request: ModelRequest) -> Lesson:
        """Take in why a request was refused."""
        counted = self.look(view, request).used
        asked = self._asked or request.max_output or self.model.max_output
        lesson = lesson_of(error, counted=counted, asked=asked, window=self.budget.window)
        if lesson.window is not None:
            self.window_cap = min(lesson.window, self.window_cap or lesson.window)
        if lesson.output is not None:
            self.output_cap = min(lesson.output, self.output_cap or lesson.output)
        return lesson

    def has_way(self, slot: Slot, text: str) -> bool:
        """Whether `text`, which stands in for the body of `slot`, tells a way to it that this request offers."""
        hidden = hides(text)
        found = hidden.way_back if hidden is not None else None
        way = self.way_of(slot)
        if found is None or not way:
            return False
        if way != RECALL:
            return found == f"read path={' '.join(way.split())}"
        verb, _, name = found.partition("=")
        call_id = slot.base.call_id if isinstance(slot.base, ToolResult) else slot.id
        return verb == "recall id" and name.partition("#")[0] in (name_of(slot), call_id, slot.id)


def _switched(tally: Tally, made: MeterTally) -> MeterTally:
    """The tally `made` for another model, of the conversation that `tally` counted: what its requests hide from us stays hidden, unless more is known."""
    hidden = tally.counter.calibration.hidden if isinstance(tally, MeterTally) else None
    if hidden is not None and made.counter.calibration.hidden is None:
        made.counter.calibration.hidden = hidden
    return made
