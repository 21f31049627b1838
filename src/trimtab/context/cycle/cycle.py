"""One cycle: what happens to the context before one request.

    look ──▶ floor? ──▶ policy, above soft ──▶ marks that pay ──▶ ladder, above hard ──▶ pictures ──▶ tail ──▶ validate, mend ──▶ Prepared

A generator that owns no state: what lasts longer than a request lives in the `Desk` it is given. Every way out is a request that the
validator passes and that is not over the limit, or a typed error with the numbers. Each stage runs a bounded number of times, and only
goes on while it makes the request smaller.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded
from trimtab.context.cycle.floor import over_with_policy_off, require_floor, stuck
from trimtab.context.cycle.look import Look
from trimtab.context.editing.applying import BLANK, Done, Means, Outcome, Wish, apply, record
from trimtab.context.policies.base import Manners
from trimtab.context.prepared import Prepared, with_room
from trimtab.context.window.view import View
from trimtab.types.edits import EditCost
from trimtab.types.entries import CustomEntry
from trimtab.types.messages import Message
from trimtab.types.models import ModelRequest


@dataclass(frozen=True, slots=True)
class Due:
    """Marked edits of one author that are to be recorded now, together. `cost` is that of each."""

    author: str
    wanted: Sequence[Wish]
    cost: EditCost


class Rung(Protocol):
    """One rung of the ladder."""

    @property
    def name(self) -> str:
        """What the log calls it."""
        ...

    def propose(self, look: Look, need: int) -> Sequence[Action]:
        """Actions that take about `need` tokens out, cheapest first; none when this rung has nothing left."""
        ...


class Desk(Protocol):
    """What a cycle works with, kept by the engine from request to request."""

    @property
    def policy_name(self) -> str:
        """Which policy decides; `none` turns the ladder off as well."""
        ...

    @property
    def policy_author(self) -> str:
        """Who decided last: the policy, or the rules in its place."""
        ...

    @property
    def manners(self) -> Manners:
        """How the policy is to be treated."""
        ...

    @property
    def rungs(self) -> Sequence[Rung]:
        """The ladder, cheapest first."""
        ...

    @property
    def attempts(self) -> int:
        """Tries of each rung."""
        ...

    def look(self, view: View, request: ModelRequest) -> Look:
        """Count."""
        ...

    def means(self, look: Look, *, forced: bool) -> Means:
        """What applying needs; `forced`: nobody asks whether it pays."""
        ...

    def decide(self, look: Look) -> Generator[Ask, Answer, Sequence[Action]]:
        """What the policy wants; nothing while it may not act."""
        ...

    def mark(self, look: Look, actions: Sequence[Action], *, author: str) -> Outcome:
        """Mark what actions want, until it pays."""
        ...

    def due(self, look: Look, *, need: int) -> Sequence[Due]:
        """The marked edits that pay now, taken off the list; `need`: so many tokens have to go, whatever it costs."""
        ...

    def housekeeping(self, look: Look) -> Sequence[Action]:
        """Edits of bytes that no request has carried, which are free at any size."""
        ...

    def tail(self, look: Look) -> Sequence[Action]:
        """What edits took out of sight and has to be said again at the end."""
        ...

    def pictures(self, view: View, *, refused: bool) -> Sequence[Wish]:
        """Edits that take out the pictures that the provider won't take; `refused`: it said so, of the last request."""
        ...

    def compact(
        self, look: Look, action: Action, *, author: str, batch: str, forced: bool
    ) -> Generator[Ask, Answer, Outcome]:
        """Do a `compact` or `summarize` that has no text yet."""
        ...

    def ready(self, look: Look) -> tuple[tuple[Message, ...], tuple[str, ...]]:
        """The messages as they may go out, and notes on what was mended. Raises `ContextFloor` when they may not."""
        ...

    def acted(self, outcome: Outcome, actions: Sequence[Action], *, author: str, step: int) -> None:
        """Keep in mind what was done."""
        ...

    def is_news(self, author: str, reasons: Sequence[str]) -> bool:
        """Whether the log doesn't say yet that this author's wishes came to nothing for these reasons."""
        ...


@dataclass(slots=True)
class _Run:
    desk: Desk
    look: Look
    done: list[Done] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    number: int = 0

    def look_again(self, view: View) -> int:
        """Take the new view; return the tokens that went."""
        if view is self.look.view:
            return 0
        before = self.look.used
        self.look = self.desk.look(view, self.look.request)
        return before - self.look.used

    def batch(self) -> str:
        self.number += 1
        return f"{self.look.view.step}.{self.number}"


def cycle(
    desk: Desk,
    view: View,
    request: ModelRequest,
    *,
    forced: bool = False,
    refused_media: bool = False,
    decide: bool = True,
) -> Generator[Ask, Answer, Prepared]:
    """Make the next request. `forced`: a server said that the last one was too large, so it shrinks to the target whatever the count says.
    `decide`: the policy is asked; without it there is only the ladder.

    Raises `ContextFloor` when no valid request fits.
    """
    run = _Run(desk, desk.look(view, request))
    if run.look.used > run.look.budget.hard or forced:
        if desk.policy_name == "none":
            raise over_with_policy_off(run.look)
        require_floor(run.look)
    if desk.policy_name != "none":
        yield from _act(run, desk.housekeeping(run.look), author="policy:housekeeping")
    if decide and desk.policy_name != "none" and (desk.manners.early or run.look.used >= run.look.budget.soft):
        actions = yield from desk.decide(run.look)
        yield from _act(run, actions, author=desk.policy_author, gated=desk.manners.guarded)
    if decide and desk.policy_name != "none":
        yield from _settle(run)
    if run.look.used > run.look.budget.hard or forced:
        yield from _climb(run, forced=forced, marked=decide)
    if edits := desk.pictures(run.look.view, refused=refused_media):
        yield from _without_pictures(run, edits)
        if decide:
            yield from _settle(run)
    if desk.policy_name != "none":
        yield from _act(run, desk.tail(run.look), author="policy:housekeeping")
    return _prepared(run)


def _act(run: _Run, actions: Sequence[Action], *, author: str, gated: bool = False) -> Generator[Ask, Answer, int]:
    """Do `actions` as one batch; return the tokens that went. `gated`: what doesn't pay yet waits."""
    if not actions:
        return 0
    desk, batch = run.desk, run.batch()
    textless = [a for a in actions if a.action in ("compact", "summarize") and not a.params.get("summary")]
    ready = [a for a in actions if a not in textless]
    gained = 0
    if ready and gated:
        gained += yield from _take(run, desk.mark(run.look, ready, author=author), ready, author=author)
        gained += yield from _settle(run)
    elif ready:
        outcome = yield from apply(run.look.view, ready, desk.means(run.look, forced=True), author=author, batch=batch)
        gained += yield from _take(run, outcome, ready, author=author)
    for action in textless:
        outcome = yield from desk.compact(run.look, action, author=author, batch=batch, forced=not gated)
        gained += yield from _take(run, outcome, [action], author=author)
    return gained


def _settle(run: _Run, *, need: int = 0) -> Generator[Ask, Answer, int]:
    """Record the marked edits that pay as things are now; return the tokens that went."""
    gained = 0
    for due in run.desk.due(run.look, need=need):
        outcome = yield from record(
            run.look.view,
            due.wanted,
            run.desk.means(run.look, forced=True),
            author=due.author,
            batch=run.batch(),
            cost=due.cost,
        )
        gained += yield from _take(run, outcome, (), author=due.author)
    return gained


def _without_pictures(run: _Run, edits: Sequence[Wish]) -> Generator[Ask, Answer, None]:
    """Record that pictures go, so that the same bytes go out from then on. What can't be recorded, the last look before sending leaves out."""
    outcome = yield from record(
        run.look.view, edits, run.desk.means(run.look, forced=True), author="recovery", batch=run.batch()
    )
    yield from _take(run, outcome, (), author="recovery")
    if run.look.used > run.look.budget.hard:  # a note may take more than a small picture
        if run.desk.policy_name == "none":
            raise over_with_policy_off(run.look)
        yield from _climb(run, forced=False, marked=False)


def _take(run: _Run, outcome: Outcome, actions: Sequence[Action], *, author: str) -> Generator[Ask, Answer, int]:
    run.done += outcome.done
    run.desk.acted(outcome, actions, author=author, step=run.look.view.step)
    if outcome.failed:
        run.notes.append(outcome.failed)
    run.notes += outcome.notes
    if outcome.failed or (outcome.refused and not outcome.done and not outcome.waiting):
        yield from _log(run, outcome, author=author)
    return run.look_again(outcome.view)


def _log(run: _Run, outcome: Outcome, *, author: str) -> Generator[Ask, Answer, None]:
    """Say in the log why nothing came of it, once for each reason. The log may be what failed: then the note has to do."""
    reasons = list(outcome.problems)
    if not run.desk.is_news(author, reasons):
        return
    entry = CustomEntry(**BLANK, kind="context", data={"event": "not_applied", "author": author, "reasons": reasons})
    answer = yield Record((entry,))
    if not isinstance(answer, Recorded):
        why = answer.reason if isinstance(answer, Failed) else "unexpected answer"
        run.notes.append(f"the context log can't be written: {why}")


def _climb(run: _Run, *, forced: bool, marked: bool) -> Generator[Ask, Answer, None]:
    """Rung by rung, until the request is down to the target or nothing is left to try. `marked`: what waits goes along behind the first change.

    A rung takes what is needed and no more, so it comes before what a policy wanted, which may be much; that goes where the rungs don't reach.
    """
    tried: list[str] = []
    target, hard = run.look.budget.target if forced else run.look.aim, run.look.budget.hard
    for rung in run.desk.rungs:
        for _ in range(run.desk.attempts):
            if run.look.used <= target:
                break
            actions = rung.propose(run.look, run.look.used - target)
            if not actions:
                break
            # Before a summary takes the place of everything, what a policy wanted goes.
            summary = any(action.action == "compact" for action in actions)
            if marked and summary and (yield from _settle(run, need=run.look.used - target)) > 0:
                continue
            tried.append(rung.name)
            gained = yield from _act(run, actions, author="recovery")
            if gained <= 0:
                break
    if marked:
        yield from _settle(run, need=max(0, run.look.used - hard))
    if run.look.used > hard:
        raise stuck(run.look, list(dict.fromkeys(tried)), failures=list(dict.fromkeys(run.notes)))


def _prepared(run: _Run) -> Prepared:
    messages, notes = run.desk.ready(run.look)
    request = with_room(run.look, messages)
    return Prepared(request, run.look.estimate.tokens, run.look.view, tuple(run.done), (*run.notes, *notes))
