"""Managing: the part of an engine that edits, loaded when a window first fills up or somebody wishes something.

engine.prepare ──no room──▶ Manager.prepare ──▶ cycle, with the manager as its desk
engine.act, engine.revert ──▶ the same means, without the question whether it pays
"""

import sys
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.cycle.cycle import Due, Rung, cycle
from trimtab.context.cycle.deciding import Decider
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.ladder import STEPS, Step
from trimtab.context.cycle.look import Look
from trimtab.context.cycle.marks import Mark, Marks, Waiting
from trimtab.context.cycle.told_once import ToldOnce
from trimtab.context.economics.bill import cache_rates
from trimtab.context.economics.survival import expected_remaining
from trimtab.context.editing.applying import BLANK, Means, Outcome, Passed, Wish, apply, shown_size
from trimtab.context.editing.checks import check
from trimtab.context.editing.compacting import Compactor
from trimtab.context.editing.in_place import in_place
from trimtab.context.editing.kit import Kit
from trimtab.context.editing.limits import Limits
from trimtab.context.editing.planning import plan
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Manners
from trimtab.context.policies.registry import find_policy
from trimtab.context.prepared import Prepared
from trimtab.context.seeing.observation import Observation, Prices
from trimtab.context.seeing.observing import Circumstances, Observer
from trimtab.context.seeing.regret import Learned, RegretLedger
from trimtab.context.shorten.compress import Compressor, Extractive
from trimtab.context.summary.job import InPlace
from trimtab.context.window.brought_back import brought_back
from trimtab.context.window.view import View
from trimtab.types.edits import Edit
from trimtab.types.entries import RevertEntry
from trimtab.types.messages import Message
from trimtab.types.models import ModelInfo, ModelRequest

_LEAD_REQUESTS = 3
"""Requests before which a summary is prepared: one takes as long as a few steps."""
_LEAD_ROOM = 20
"""The same as a part of the room, where requests hardly grow: one token in so many."""


class Manager:
    """Edits the context of one engine's session. Keeps what was done lately."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        policy = find_policy(engine.policy) if isinstance(engine.policy, str) else engine.policy
        self.decider = Decider(policy, engine.settings)
        self.observer = Observer()
        self.rungs: tuple[Rung, ...] = tuple(_Rung(step, self) for step in engine.steps or STEPS)
        self.regret = RegretLedger(engine.known_regret() if engine.known_regret else Learned())
        self.marks = Marks()
        self.told_once = ToldOnce()
        self._weighed: tuple[Look, int] | None = None
        self._notes: list[str] = []
        """What the next outcome or prepared request tells besides."""
        self.compressor = self._compressor()
        self.use_model()

    def use_model(self) -> None:
        """Follow the engine to another model: who writes summaries, what input costs and how to behave may differ."""
        engine = self.engine
        self.compactor = engine.compactor() if engine.compactor else Compactor()
        self.decider.settings = engine.settings
        self.regret.input_price = engine.model.prices[0].input if engine.model.prices else None

    @property
    def kit(self) -> Kit:
        """What texts of edits are made with."""
        engine = self.engine
        # What comes back must leave room for what comes after it.
        whole = max(500, engine.budget.room // 8)
        return Kit(
            engine.session_id,
            engine.tally.text,
            engine.way_of,
            self.compressor,
            whole_tokens=whole,
            page_tokens=engine.page_tokens,
        )

    def _told(self) -> tuple[str, ...]:
        notes, self._notes[:] = tuple(self._notes), ()
        return notes

    def _compressor(self) -> Compressor | None:
        """The one that was given to the engine, guarded; None: the built-in one."""
        engine = self.engine
        if engine.compressor is None:
            return None
        from trimtab.context.shorten.guarded import Guarded  # noqa: PLC0415 - hardly anybody brings one

        def tell(why: str) -> None:
            (engine.compressor_failed or self._notes.append)(why)

        instead = Extractive(lambda text: engine.tally.text(text))
        return Guarded(engine.compressor, instead=instead, tell=tell)

    def prepare(
        self,
        view: View,
        request: ModelRequest,
        *,
        forced: bool,
        refused_media: bool = False,
        decide: bool = True,
    ) -> Generator[Ask, Answer, Prepared]:
        """Make the next request, with edits. Raises `ContextFloor` when no valid request fits."""
        self.decider.notes.clear()
        prepared = yield from cycle(self, view, request, forced=forced, refused_media=refused_media, decide=decide)
        return replace(prepared, notes=(*self.decider.notes, *self._told(), *prepared.notes))

    def rehome(self, view: View, request: ModelRequest) -> Generator[Ask, Answer, View]:
        """Show again what is hidden behind a way that is gone; what doesn't fit is then hidden anew, by a way that there is."""
        lost = self.engine.faults.without_way(view)
        if not lost:
            return view
        means = self.means(self.look(view, request), forced=True)
        whole = replace(means, kit=replace(means.kit, whole_tokens=sys.maxsize))
        wish = Action("reload", lost, reason="its way back is gone: the model has other tools now")
        outcome = yield from apply(view, [wish], whole, author="recovery", batch=f"{view.step}.way")
        return outcome.view

    def act(
        self, view: View, request: ModelRequest, actions: Sequence[Action], *, author: str
    ) -> Generator[Ask, Answer, Outcome]:
        """Do what a model (`author` "model") or a person ("user") wants, one batch; what can't be done is refused in words."""
        look = self.look(view, request)
        batch = f"{view.step}.{author}"
        means = self.means(self.look(view, request), forced=True)
        textless = [a for a in actions if a.action in ("compact", "summarize") and not a.params.get("summary")]
        outcome = yield from apply(view, [a for a in actions if a not in textless], means, author=author, batch=batch)
        self.acted(outcome, actions, author=author, step=view.step)
        for action in textless:
            look = self.look(outcome.view, request)
            more = yield from self.compact(look, action, author=author, batch=batch)
            self.acted(more, [action], author=author, step=view.step)
            outcome = replace(more, done=(*outcome.done, *more.done), refused=(*outcome.refused, *more.refused))
        return replace(outcome, notes=(*outcome.notes, *self._told()))

    def revert(
        self, view: View, request: ModelRequest, target: str, *, author: str = "user", reason: str = ""
    ) -> Generator[Ask, Answer, View | str]:
        """Take an edit, or an earlier revert, back and return the view, or why that can't be done: no such edit, or the result would not fit."""
        if view.edit(view.edit_behind(target)) is None:
            return f"there is no edit {target!r} on this path"
        if target in view.reverted:
            return f"edit {target!r} is reverted already"
        if not view.reverted.is_followed(target):
            return (
                f"{target!r} is a revert of a revert of … too many; take back edit {view.edit_behind(target)!r} itself"
            )
        trial = view.with_revert("?revert", target)
        used = self._used_by(trial, view, request)
        if used > max(self.engine.budget.hard, self.look(view, request).used):
            return (
                f"without edit {target!r} the context has {used:,} tokens, and {self.engine.budget.hard:,} may be sent"
            )
        if new := self.engine.faults(trial) - self.engine.faults(view):
            return f"without edit {target!r} the request would be invalid: {'; '.join(sorted(new)[:2])}"
        answer = yield Record((RevertEntry(**BLANK, target=target, reason=reason, author=author),))
        if not isinstance(answer, Recorded):
            return f"the log can't be written: {answer.reason if isinstance(answer, Failed) else 'unexpected answer'}"
        return view.with_revert(answer.ids[0], target)

    def _used_by(self, trial: View, view: View, request: ModelRequest) -> int:
        """The size of a request that shows `trial`, which differs from `view` in what a revert changes. Nothing is learned from it."""
        edit = view.edit(trial.edit_behind("?revert"))
        changed = edit.slots if edit is not None else ()
        size = self.engine.tally.message
        return self.look(view, request).used + shown_size(trial, changed, size) - shown_size(view, changed, size)

    def observe(self, look: Look) -> Observation:
        """What a policy sees of this request."""
        now = self.engine.time()
        steps = self.engine.settings.immune
        self.regret.update(look.view, look.tally.message)
        return self.observer.observe(
            look,
            Circumstances(
                sent=self.engine.account.sent_count(look),
                cached=self.engine.account.cached(look, now),
                cold=self.engine.account.is_cold(now),
                remaining=expected_remaining(look.view.step),
                prices=_prices(self.engine.model),
                since=self.decider.since(look.view.step),
                last_actions=self.decider.last,
                restored=brought_back(look.view, steps),
                fetched=self.regret.fetched(look.view, steps),
                regret=self.regret.regret,
            ),
        )

    @property
    def policy_name(self) -> str:
        """Which policy decides."""
        return self.decider.policy.name

    @property
    def policy_author(self) -> str:
        """Who decided last: the policy, or the rules in its place."""
        return self.decider.author

    @property
    def manners(self) -> Manners:
        """How the policy is to be treated."""
        return self.decider.manners

    @property
    def attempts(self) -> int:
        """Tries of each rung of the ladder."""
        return self.engine.settings.attempts

    def look(self, view: View, request: ModelRequest) -> Look:
        """Count the request that `view` makes of `request`."""
        return self.engine.look(view, request)

    def means(self, look: Look, *, forced: bool) -> Means:
        """What edits of this request are made, checked and weighed with."""

        engine = self.engine

        def gate(_view: View, edits: Sequence[Edit], text_usd: float) -> Passed:
            weighed = engine.account.gate(look, edits, engine.time(), text_usd=text_usd)
            due = tuple(edit for number, edit in enumerate(edits) if number in weighed.due)
            waiting = tuple(edit for number, edit in enumerate(edits) if number not in weighed.due)
            return Passed(due, waiting, weighed.waiting.reason, weighed.cost)

        def beside(look: Look, run: Sequence[int]) -> InPlace | None:
            return in_place(look, run, faults=engine.faults, account=engine.account, now=engine.time())

        return Means(
            kit=self.kit,
            size=self.engine.tally.message,
            faults=self.engine.faults,
            limits=self._limits(look),
            gate=None if forced else gate,
            keep_files=self.engine.settings.tools == "off",
            in_place=beside,
        )

    def _immune(self, look: Look) -> frozenset[str]:
        """What was brought back or fetched again a short while ago, by whomever: nothing of ours takes it out at once."""
        self.regret.update(look.view, look.tally.message)
        steps = self.engine.settings.immune
        return frozenset({*self.regret.fetched(look.view, steps), *brought_back(look.view, steps)})

    def _limits(self, look: Look) -> Limits:
        return Limits(
            floor=lambda view: floor_of(replace(look, view=view)).total,
            count=self.engine.tally.text,
            hard=look.budget.hard,
            room=look.budget.room,
        )

    def mark(self, look: Look, actions: Sequence[Action], *, author: str) -> Outcome:
        """Mark what actions want, as far as it may be done; the outcome says what waits."""
        view, marks = look.view, self.marks
        wished: list[tuple[Edit, Action]] = []
        refused: list[str] = []
        for action in actions:
            made = plan(action, view, self.kit)
            wished += [(edit, structs.replace(action, targets=edit.targets)) for edit in made.edits]
            refused += made.refused
        checked = check(
            [edit for edit, _ in wished], view, author=author, faults=self.engine.faults, limits=self._limits(look)
        )
        may = {id(edit) for edit in checked.edits}
        marks.add(view, (Mark(edit, wish, author, view.step) for edit, wish in wished if id(edit) in may))
        self._weighed = None
        return Outcome(view, refused=(*refused, *checked.refused), waiting=checked.edits)

    def due(self, look: Look, *, need: int) -> Sequence[Due]:
        """The marked edits that pay now, by author, taken off the list; `need`: so many tokens have to go, whatever it costs."""
        known = self._weighed
        if not self.marks or (known is not None and known[0] is look and known[1] >= need):
            return ()
        self._weighed = look, need
        view = look.view
        edits = [mark.edit for mark in self.standing(view)]
        weighed = self.engine.account.gate(look, edits, self.engine.time(), need=need)
        self.marks.waiting = weighed.waiting
        by: dict[str, list[Wish]] = {}
        for mark, fresh in self.marks.take(view, weighed.due):
            made = (mark.edit,) if fresh else plan(mark.wish, view, self.kit).edits
            by.setdefault(mark.author, []).extend((edit, mark.wish.reason) for edit in made)
        return [Due(author, wanted, weighed.cost) for author, wanted in by.items() if wanted]

    def standing(self, view: View) -> tuple[Mark, ...]:
        """The marked edits that are still right."""
        references = self.observer.references
        references.update(view)
        return self.marks.stand(view, used={slot_id: use.last_step for slot_id, use in references.uses.items()})

    def rides(self, look: Look) -> bool:
        """Whether marked edits would cost nothing now, though there is room: the cache is cold, or broken by something else."""
        account = self.engine.account
        return bool(self.marks) and (account.is_cold(self.engine.time()) or account.broken_at(look) is not None)

    @property
    def waiting(self) -> Waiting | None:
        """What waits until it pays."""
        return self.marks.waiting if self.marks else None

    def decide(self, look: Look) -> Generator[Ask, Answer, Sequence[Action]]:
        """Ask the policy, unless it is too early for it to act again. What it says to keep, it wants no more."""
        observation = self.observe(look)
        if self.decider.is_settled(observation):
            return ()
        actions = yield from self.decider.decide(observation)
        named = [look.view.find(name) for action in actions if action.action == "keep" for name in action.targets]
        self.marks.drop(look.view.slots[address.index].id for address in named if address is not None)
        return [action for action in actions if action.action != "keep"]

    def housekeeping(self, look: Look) -> Sequence[Action]:
        """Edits of bytes that no request has carried: those that come to something."""
        kit, wanted = self.kit, []
        for action in self.engine.untidy(look):
            done = tuple(t for t in action.targets if plan(structs.replace(action, targets=(t,)), look.view, kit).edits)
            wanted += [structs.replace(action, targets=done)] if done else []
        return wanted

    def tail(self, look: Look) -> Sequence[Action]:
        """What edits took out of sight and has to be said again at the end."""
        return self.engine.tail(look)

    def pictures(self, view: View, *, refused: bool) -> Sequence[tuple[Edit, str]]:
        """Edits that take out the pictures that the provider won't take."""
        return self.engine.faults.pictures(view, refused=refused)

    def compact(
        self, look: Look, action: Action, *, author: str, batch: str, forced: bool = True
    ) -> Generator[Ask, Answer, Outcome]:
        """Do a `compact` or `summarize` that has no text yet; unless `forced`, only if it pays with what a model takes for the text."""
        means = self.means(look, forced=forced)
        immune = () if author == "user" else self._immune(look)
        return (yield from self.compactor.compact(look, action, means, author=author, batch=batch, immune=immune))

    def prepare_ahead(self, look: Look) -> Generator[Ask, Answer, str]:
        """Have a summary written that the policy is about to need; return why that failed, if it did. See `Engine.prepare_ahead`."""
        lead = max(_LEAD_REQUESTS * int(self.engine.account.growth), look.budget.room // _LEAD_ROOM)
        action = self.decider.summary_wanted(structs.replace(observed := self.observe(look), used=observed.used + lead))
        if action is None:
            return ""
        means = self.means(look, forced=not self.manners.guarded)
        immune = self._immune(look)
        return (yield from self.compactor.prepare(look, action, means, lead=lead, immune=immune))

    def ready(self, look: Look) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages as they may go out. Raises `ContextFloor`."""
        return self.engine.faults.ready(look)

    def acted(self, outcome: Outcome, actions: Sequence[Action], *, author: str, step: int) -> None:
        """Keep in mind what was done."""
        self.decider.acted(outcome, actions, author=author, step=step)
        if not outcome.done:
            return
        self.told_once.succeeded(author)
        self.engine.account.edited(outcome.gained, [done.entry.cost for done in outcome.done])

    def is_news(self, author: str, reasons: Sequence[str]) -> bool:
        """Whether the log doesn't say yet that this author's wishes came to nothing for these reasons."""
        return self.told_once.is_news(author, reasons)


@dataclass(frozen=True, slots=True)
class _Rung:
    """A step of the ladder, fitted to looks."""

    step: Step
    manager: Manager

    @property
    def name(self) -> str:
        return self.step.name

    def propose(self, look: Look, need: int) -> Sequence[Action]:
        return self.step.propose(self.manager.observe(look), need)


def _prices(model: ModelInfo) -> Prices | None:
    if not model.prices:
        return None
    price = model.prices[0]
    read, write = cache_rates(price, model.cache)
    return Prices(price.input, read, write, price.output)
