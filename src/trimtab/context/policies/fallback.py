"""Fallback: a policy is asked, and believed only as far as it makes sense.

    observation ──▶ primary ──actions?──▶ those that name what is there
                       └ raises, hangs, nonsense ──▶ `rules` decide, and the verdict says why

A policy may be anybody's code, so this is a door: whatever it throws stays here. One that fails again and again isn't asked any more. Its
wrappers are ours; they are applied outside the door, to what came through it.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from trimtab.context.actions import FIELDS, Action, action_of
from trimtab.context.policies.base import ByRules, Manners, Policy, Wrapper, manners_of, unwrap
from trimtab.context.policies.remote import Remote, remote_of
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.weighing import named
from trimtab.context.seeing.observation import Observation
from trimtab.types.text import scrub

_MOST_ACTIONS = 500
_LONGEST_PROBLEM = 300
"""Characters of what foreign code says about its failure: a log is no place for its dumps."""
_HIDDEN_TOO = frozenset({"reload", "keep", "compact", "restate", "pin", "unpin"})
"""Kinds that may name what isn't shown, or nothing."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done, who decided it, and what was wrong with the policy's own answer. `off`: it isn't asked any more. `passed`: what of it was passed over.
    `left`: the decision was left to the rules, by a policy that can't know (`by` is then itself) or in place of one that failed or isn't asked.
    """

    actions: tuple[Action, ...]
    by: str
    problem: str | None = None
    off: bool = False
    passed: tuple[str, ...] = ()
    left: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """What is left of an answer, what was wrong with the first action that isn't any, and the fields that nobody reads, each told once."""

    actions: list[Action]
    problem: str | None = None
    passed: tuple[str, ...] = ()


@dataclass(slots=True)
class Fallback:
    """Asks `primary`; when that fails, `rules` decide. After `breaker` failures in a row it isn't asked any more.

    The one policy that remembers something: how often its primary failed in a row. `timeout_s` is for code of others: a thread that hangs is left behind
    and ends with the process.
    """

    primary: Policy
    rules: Policy = field(default_factory=Rules)
    timeout_s: float = 5.0
    breaker: int = 3
    failures: int = 0

    @property
    def name(self) -> str:
        """That of the primary."""
        return self.primary.name

    @property
    def manners(self) -> Manners:
        """Those of the primary, as long as it is asked."""
        return manners_of(self.rules if self.broken else self.primary)

    @property
    def broken(self) -> bool:
        """Whether the primary isn't asked any more."""
        return self.failures >= self.breaker

    @property
    def remote(self) -> Remote | None:
        """The remote policy in the middle, if it is one and still asked: its answer has to be fetched, and goes to `judge`."""
        return None if self.broken else remote_of(self.primary)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return the actions of `ask`."""
        return self.ask(observation).actions

    def ask(self, observation: Observation) -> Verdict:
        """Ask the primary, or `rules` when it is broken."""
        if self.broken:
            return Verdict(self._instead(observation), self.rules.name, off=True, left=True)
        core, _ = unwrap(self.primary)
        wanted, problem = _decided(core, observation, self.timeout_s)
        return self.judge(observation, wanted, problem)

    def judge(self, observation: Observation, wanted: Sequence[object], problem: str | None = None) -> Verdict:
        """Return what comes of an answer. `problem`: why there is none."""
        heard = sensible(wanted, observation)
        actions, problem = heard.actions, problem or heard.problem
        problem = problem if problem is None else scrub(problem[:_LONGEST_PROBLEM])
        self.failures = 0 if problem is None else self.failures + 1
        if problem is not None and not actions:
            return Verdict(self._instead(observation), self.rules.name, problem, self.broken, left=True)
        around: tuple[Wrapper, ...] = unwrap(self.primary)[1]
        kept: Sequence[Action] = actions
        for wrapper in around:
            kept = wrapper.keeps(observation, kept)
        # What a server adds of its own is its own business; see docs/remote-policy.md.
        passed = () if remote_of(self.primary) else heard.passed
        return Verdict(tuple(kept), self.name, problem, self.broken, passed, left=isinstance(wanted, ByRules))

    def _instead(self, observation: Observation) -> tuple[Action, ...]:
        """What `rules` would do, who are asked from the soft threshold on, whatever the primary wants."""
        return tuple(self.rules.decide(observation)) if observation.used >= observation.soft else ()


def sensible(wanted: Sequence[object], observation: Observation) -> Heard:
    """Return the actions that are any, and what was wrong with the first that isn't."""
    known = named(observation)
    actions: list[Action] = []
    passed: dict[str, None] = {}
    problem = None if len(wanted) <= _MOST_ACTIONS else f"more than {_MOST_ACTIONS} actions at once"
    for one in wanted[:_MOST_ACTIONS]:
        action, notes = _read(one)
        if not isinstance(action, Action):
            problem = problem or action
        elif action.action in _HIDDEN_TOO or any(target.partition("#")[0] in known for target in action.targets):
            actions.append(action)
            passed.update(dict.fromkeys(notes))
        else:
            problem = problem or "; ".join([f"{action.action} names nothing that is there", *notes])
    return Heard(actions, problem, tuple(passed))


def _read(one: object) -> tuple[Action | str, tuple[str, ...]]:
    """An action, or what is wrong with it, a misspelt field included; and notes on fields that no action has."""
    action = action_of(one)
    names = [name for name in one if isinstance(name, str)] if type(one) is dict else []
    if all(name in FIELDS for name in names):
        return action, ()
    from trimtab.context.slips import slips_in_fields  # noqa: PLC0415 - only a field that there isn't is worth a look

    slips = slips_in_fields(names)
    return ("; ".join(slips.problems) or action), slips.notes


def _decided(policy: Policy, observation: Observation, timeout_s: float) -> tuple[Sequence[object], str | None]:
    """Ask code of ours directly, and anybody else's with a time limit."""
    if type(policy).__module__.startswith("trimtab.") and not getattr(policy, "foreign", False):
        return _guarded(policy, observation)
    result: list[tuple[Sequence[object], str | None]] = []
    thread = threading.Thread(target=lambda: result.append(_guarded(policy, observation)), daemon=True)
    thread.start()
    thread.join(timeout_s)
    return result[0] if result else ((), f"no decision within {timeout_s:g} s")


def _guarded(policy: Policy, observation: Observation) -> tuple[Sequence[object], str | None]:
    try:
        wanted = policy.decide(observation)
        actions = tuple(islice(wanted, _MOST_ACTIONS + 1))
        return (ByRules(actions) if isinstance(wanted, ByRules) else actions), None
    except Exception as problem:  # noqa: BLE001 - foreign code: a policy that fails gives way to the rules
        return (), _said(problem)


def _said(problem: Exception) -> str:
    """Its kind and its words; an exception of others may not even have those."""
    try:
        return f"{type(problem).__name__}: {problem}"
    except Exception:  # noqa: BLE001 - foreign code: as above
        return type(problem).__name__
