"""Deciding: the policy of a session is asked, judged and held back, and what came of it is counted.

    observation ──resting? stalled?──▶ Fallback(policy, rules) ──verdict──▶ Immune ▶ Cooldown ▶ MinGain ──▶ actions
    outcome ──acted──▶ counts of the turn ──more batches than half its steps──▶ thrash: the cooldown doubles, the ladder takes over

The door to code of others is `Fallback`, the guards are the wrappers of `policies`; here is what lasts from request to request. Over the hard limit
nothing rests: a policy may always try to save a request that can't go out.
"""

from bisect import bisect_left
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import msgspec

from trimtab.context.actions import Action
from trimtab.context.asks import Advice, Answer, Ask, Consult, Failed, Record
from trimtab.context.editing.applying import BLANK, Outcome
from trimtab.context.editing.limits import policy_author
from trimtab.context.policies.base import Manners, Policy, unwrap
from trimtab.context.policies.fallback import Fallback, Verdict
from trimtab.context.policies.remote import Remote
from trimtab.context.policies.wrappers import Cooldown, Immune, MinGain
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.window.view import View
from trimtab.types.edits import edit_kind
from trimtab.types.entries import CustomEntry

HOUSEKEEPING = "policy:housekeeping"
"""The author of edits that are free; they are no batch of the policy."""
_FRUITLESS = 3
"""Batches in a row that gained nothing, after which the policy isn't asked until the request has grown."""
_LONGEST_REST = 16
_MOST_NOTED = 10
"""Outages of a policy that a person is told of; the log has each failure."""
_LEAST_STEPS = 4
"""A turn shorter than this tells nothing about thrash."""


class TurnCounts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was done about the context in one turn. Batches and edits of a policy apart from those of the ladder (`ladder_…`).

    `summary_ms` are the milliseconds of the `summary_calls`. `thrash`: there were more batches than half the steps.
    """

    turn: int = 0
    steps: int = 0
    batches: int = 0
    edits: int = 0
    ladder_batches: int = 0
    ladder_edits: int = 0
    summary_calls: int = 0
    summary_ms: int = 0
    gained: int = 0
    thrash: bool = False


class DeciderState(msgspec.Struct, frozen=True):
    """What a decider remembers, as it is saved; see its fields."""

    last: tuple[Action, ...]
    acted_at: dict[str, int]
    counts: TurnCounts
    cooldown: int
    resting_until: int
    decided_by: str
    failures: int
    fruitless: int
    stalled_at: int | None
    batch_step: tuple[str, int]
    edited_step: int = -1


@dataclass(slots=True)
class Decider:
    """Asks the policy of one session. `last` are the actions of late, newest last; `acted_at` tells the step of each kind of action.

    `counts` are those of the turn that edits were last made in. `cooldown` is the number of requests between two actions of one kind, grown by
    thrash. `resting_until` is the step before which the policy isn't asked. `decisions` were made since this decider began, `left` of them by the rules in the policy's place. `notes` are for people, `passed` those on fields of actions that nobody reads,
    each once.
    """

    policy: Policy
    settings: EngineSettings
    last: list[Action] = field(default_factory=list)
    acted_at: dict[str, int] = field(default_factory=dict)
    counts: TurnCounts = field(default_factory=TurnCounts)
    cooldown: int = 0
    resting_until: int = 0
    notes: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    decided_by: str = ""
    decisions: int = 0
    left: int = 0
    _fallback: Fallback = field(init=False)
    _fruitless: int = 0
    _stalled_at: int | None = None
    _batch_step: tuple[str, int] = ("", -1)
    _edited_step: int = -1
    """The step at which the policy or the ladder last edited."""
    _outages: int = 0
    _shadow: Action | None = None
    """What a policy beside this one would have done, as it was told last."""
    _trouble: int = 0
    """Of the policy when it was asked last, as it was told: 1, a part of its answer made no sense; 2, the rules decided."""
    _foretold: bool = False
    """Whether a person knows how long it will be asked."""

    def __post_init__(self) -> None:
        self._fallback = self.policy if isinstance(self.policy, Fallback) else Fallback(self.policy)
        self.cooldown = self.settings.cooldown
        self.decided_by = self.policy.name

    @property
    def manners(self) -> Manners:
        """How the policy is to be treated; `early`: it is asked below the soft threshold too."""
        return self._fallback.manners

    @property
    def author(self) -> str:
        """Who the log says decided: the policy, or the rules in its place."""
        return policy_author(self.decided_by)

    @property
    def state(self) -> DeciderState:
        """Everything remembered, as a value."""
        return DeciderState(
            tuple(self.last),
            dict(self.acted_at),
            self.counts,
            self.cooldown,
            self.resting_until,
            self.decided_by,
            self._fallback.failures,
            self._fruitless,
            self._stalled_at,
            self._batch_step,
            self._edited_step,
        )

    def restore(self, state: DeciderState) -> None:
        """Take over what another decider of the same policy remembered."""
        self.last, self.acted_at, self.counts = list(state.last), dict(state.acted_at), state.counts
        self.cooldown, self.resting_until, self.decided_by = state.cooldown, state.resting_until, state.decided_by
        self._fallback.failures, self._fruitless = state.failures, state.fruitless
        self._stalled_at, self._batch_step, self._edited_step = state.stalled_at, state.batch_step, state.edited_step

    def decide(self, observation: Observation) -> Generator[Ask, Answer, Sequence[Action]]:
        """Return what is wanted now; nothing while the policy rests. A `keep` among it names what is no longer wanted."""
        urgent = observation.used > observation.hard
        if not urgent and (self._rests(observation.step) or self._stalled(observation)):
            return ()
        return self._held_back(observation, (yield from self._heard(observation)))

    def is_settled(self, observation: Observation) -> bool:
        """Whether the request of this step was edited already, and fits: one that is prepared again, because it was broken off or refused, then stays as the cache has it."""
        return observation.step == self._edited_step and observation.used <= observation.hard

    def ask(self, observation: Observation) -> Generator[Ask, Answer, Sequence[Action]]:
        """Return what the policy wants now, however lately something was done, and with nothing held back."""
        verdict = yield from self._heard(observation)
        return [action for action in verdict.actions if action.action != "keep"]

    def summary_wanted(self, observation: Observation) -> Action | None:
        """The compaction for which the policy would have a model write a summary now; nothing is asked of, or kept in mind about, code of others."""
        core, _ = unwrap(self.policy)
        ours = type(core).__module__.startswith("trimtab.") and not getattr(core, "foreign", False)
        if not ours or isinstance(core, Remote | Fallback):
            return None
        asking = (
            action
            for action in self.policy.decide(observation)
            if action.action == "compact" and not action.params.get("summary") and action.params.get("mode") != "digest"
        )
        return next(asking, None)

    def acted(self, outcome: Outcome, actions: Sequence[Action], *, author: str, step: int) -> None:
        """Keep in mind what came of `actions`, whoever wanted them."""
        if author == HOUSEKEEPING:
            return
        self.last = [*self.last, *actions][-5:]
        ours = author.startswith("policy:")
        if ours:
            self._progressed(outcome)
        if not outcome.done:
            return
        for done in outcome.done:
            kind = edit_kind(done.entry.edit)
            self.acted_at["reload" if kind == "restore" else kind] = step
        self._count(outcome, author=author, step=step)
        if ours or author == "recovery":
            self._edited_step = step
        if ours and self.counts.thrash and self.manners.guarded:
            self.cooldown = min(_LONGEST_REST, 2 * max(1, self.cooldown))
            self.resting_until = step + self.cooldown
            self.notes.append(
                f"the context was edited {self.counts.batches} times in {self.counts.steps} steps of this turn, which costs more than it saves:"
                f" {self.author} rests for {self.cooldown} requests; what must shrink is done without it"
            )

    def since(self, step: int) -> dict[str, int]:
        """How many requests ago each kind of action last happened; what happened behind a place that the conversation went back to doesn't count."""
        return {name: step - at for name, at in self.acted_at.items() if at <= step}

    def _ask(self, observation: Observation) -> Generator[Ask, Answer, Verdict]:
        remote = self._fallback.remote
        if remote is None:
            return self._fallback.ask(observation)
        answer = yield Consult(observation, remote.url, remote.timeout_s)
        if isinstance(answer, Advice):
            return self._fallback.judge(observation, answer.actions)
        reason = answer.reason if isinstance(answer, Failed) else f"unexpected answer {type(answer).__name__}"
        return self._fallback.judge(observation, (), reason)

    def _heard(self, observation: Observation) -> Generator[Ask, Answer, Verdict]:
        verdict = yield from self._ask(observation)
        self.decided_by = verdict.by
        self.decisions += 1
        self.left += verdict.left
        yield from self._tell(verdict)
        return verdict

    def _held_back(self, observation: Observation, verdict: Verdict) -> Sequence[Action]:
        """The actions that the guards let through. What `rules` decide in place of another policy is guarded like any policy."""
        policy, settings = self._fallback, self.settings
        kept: Sequence[Action] = [action for action in verdict.actions if action.action != "keep" or action.targets]
        if not kept:
            return ()  # the usual answer: nothing is looked up to hold nothing back
        kept = Immune(policy, settings.immune).keeps(observation, kept)
        if self.manners.guarded or verdict.by != policy.name:
            kept = Cooldown(policy, self.cooldown).keeps(observation, kept)
            kept = MinGain(policy, settings.min_gain).keeps(observation, kept)
        return kept

    def _tell(self, verdict: Verdict) -> Generator[Ask, Answer, None]:
        """Write to the log what edits don't show: why somebody else decided, and what would have been done.

        A person hears of an outage twice: when it begins, and when it is over, or when the policy isn't asked any more and nobody has said so.
        """
        name = self.policy.name
        if verdict.problem is not None:
            off = "; it isn't asked any more" if verdict.off else ""
            instead = "" if verdict.by == name else "; the rules decide instead"
            text = f"policy {name!r}: {verdict.problem}{instead}{off}"
            trouble = 2 if instead else 1
            begins = trouble > self._trouble
            self._outages += begins
            if verdict.off:
                if begins or not self._foretold:
                    self.notes.append(text)
            elif begins:
                self._begun(text, foretold=bool(instead))
            self._trouble = max(trouble, self._trouble)
            yield _custom({"event": "policy_failed", "reason": text, "author": f"policy:{name}"})
        elif self._trouble and verdict.by == name:
            if self._trouble > 1:
                self._note(f"policy {name!r} answers again, and decides")
            self._trouble, self._foretold = 0, False
        fresh = [note for note in verdict.passed if note not in self.passed][: _MOST_NOTED - len(self.passed)]
        self.passed += fresh
        self.notes += [f"policy {name!r}: {note}" for note in fresh]
        for action in verdict.actions:
            if action.action == "keep" and "would" in action.params:
                if "did" in action.params and action == self._shadow:
                    continue  # what a shadow would do, it wants at each request until it is done, which it never is
                self._shadow = action
                event = "shadow" if "did" in action.params else "dry_run"
                yield _custom({"event": event, "author": f"policy:{self.policy.name}", **action.params})

    def _begun(self, text: str, *, foretold: bool) -> None:
        """Tell of an outage that begins; `foretold`: and of how many failures in a row are borne, unless those are so many that nobody waits for them."""
        breaker = self._fallback.breaker
        if self._outages > _MOST_NOTED:
            return
        self._foretold = foretold and breaker <= _MOST_NOTED
        self.notes.append(
            f"{text} (after {breaker} failures in a row it isn't asked again)" if self._foretold else text
        )

    def _note(self, text: str) -> None:
        if self._outages <= _MOST_NOTED:
            self.notes.append(text)

    def _rests(self, step: int) -> bool:
        """Whether it is too early to ask. No rest is longer than the longest: one that is was begun behind the place that the conversation went back to."""
        return 0 < self.resting_until - step <= _LONGEST_REST

    def _stalled(self, observation: Observation) -> bool:
        """Whether the last batches gained nothing and the request hasn't grown since by what a batch must gain."""
        if self._fruitless < _FRUITLESS:
            return False
        if self._stalled_at is None or observation.used < self._stalled_at:
            self._stalled_at = observation.used
        if observation.used - self._stalled_at < max(1, self.settings.min_gain * observation.room):
            return True
        self._fruitless, self._stalled_at = 0, None
        return False

    def _progressed(self, outcome: Outcome) -> None:
        """Edits that wait until they pay are no failure; ones that were refused, or made nothing smaller, are."""
        if outcome.gained > 0:
            self._fruitless, self._stalled_at = 0, None
        elif not outcome.waiting:
            self._fruitless += 1

    def _count(self, outcome: Outcome, *, author: str, step: int) -> None:
        counts, turn = self.counts, outcome.view.turn
        if counts.turn != turn or counts.steps == 0:
            if not counts.thrash:
                self.cooldown = max(self.settings.cooldown, self.cooldown // 2)
            counts = TurnCounts(turn=turn)
        # A summary comes as an outcome of its own, but belongs to the batch of its step.
        fresh = (author, step) != self._batch_step
        self._batch_step = (author, step)
        edits, batch = len(outcome.done), int(fresh)
        written = [done.entry.cost for done in outcome.done if done.entry.cost.model_tokens or done.entry.cost.ms]
        ours, ladder = author.startswith("policy:"), author == "recovery"
        steps = max(1, step - _before_turn(outcome.view))
        batches = counts.batches + batch * ours
        self.counts = TurnCounts(
            turn=turn,
            steps=steps,
            batches=batches,
            edits=counts.edits + edits * ours,
            ladder_batches=counts.ladder_batches + batch * ladder,
            ladder_edits=counts.ladder_edits + edits * ladder,
            summary_calls=counts.summary_calls + len(written),
            summary_ms=counts.summary_ms + sum(cost.ms for cost in written),
            gained=counts.gained + outcome.gained,
            thrash=steps >= _LEAST_STEPS and 2 * batches > steps,
        )


def _before_turn(view: View) -> int:
    """The step at which the newest turn began."""
    first = bisect_left(range(len(view.slots)), view.turn, key=lambda index: view.slots[index].turn)
    return view.slots[first - 1].step if first else 0


def _custom(data: dict[str, object]) -> Record:
    return Record((CustomEntry(**BLANK, kind="context", data=data),))
