"""Deciding: the policy is asked, believed only as far as it makes sense, and not asked too often.

    observation ──cooldown?──▶ policy.decide ──actions?──▶ those that name what is there
                                    └ raises, hangs, nonsense ──▶ `rules` decide, and the log says so

A policy may be anybody's code, so this is a door: whatever it throws stays here. One that fails again and again isn't asked any more.
"""

import threading
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action, action_of
from trimtab.context.applying import BLANK
from trimtab.context.asks import Advice, Answer, Ask, Consult, Failed, Record
from trimtab.context.observation import Observation
from trimtab.context.policies.base import Policy
from trimtab.context.policies.rules import Rules
from trimtab.context.settings import EngineSettings
from trimtab.types.entries import CustomEntry

_BREAKER = 3
"""Failures in a row from which on a policy isn't asked any more."""
_TIMEOUT_S = 5.0
_MOST_ACTIONS = 500
_THRASH_STEPS = 10
"""Requests that thrash detection looks back on."""


@dataclass(slots=True)
class Decider:
    """Asks the policy of one session. `last` are the actions of late, newest last; `since` tells the step of each kind of action."""

    policy: Policy
    settings: EngineSettings
    last: list[Action] = field(default_factory=list)
    acted_at: dict[str, int] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)
    failures: int = 0
    cooldown: int = 0
    notes: list[str] = field(default_factory=list)
    fallback: Policy = field(default_factory=Rules)

    def decide(self, observation: Observation) -> Generator[Ask, Answer, Sequence[Action]]:
        """Return what is wanted now; nothing while the last batch is too recent, unless the hard limit is near."""
        urgent = observation.used > observation.hard
        if not urgent and self._cooling(observation.step):
            return ()
        return (yield from self.ask(observation))

    def ask(self, observation: Observation) -> Generator[Ask, Answer, Sequence[Action]]:
        """Return what is wanted now, however lately something was done. What `rules` would do instead waits for the soft threshold."""
        if self.failures >= _BREAKER:
            return self._instead(observation)
        wanted, problem = yield from self._consult(observation)
        actions, nonsense = _sensible(wanted, observation)
        problem = problem or nonsense
        if problem is None:
            self.failures = 0
            return actions
        self.failures += 1
        yield from self._tell(problem)
        return actions or self._instead(observation)

    def acted(self, actions: Sequence[Action], *, step: int, done: int) -> None:
        """Keep in mind that `actions` were tried at `step` and that `done` edits came of them."""
        self.last = [*self.last, *actions][-5:]
        if not done:
            return
        for action in actions:
            self.acted_at[action.action] = step
        self.batches = [*(s for s in self.batches if step - s < _THRASH_STEPS), step]
        if len(set(self.batches)) * 2 > _THRASH_STEPS:
            self.cooldown = max(self.settings.cooldown, min(16, 2 * max(1, self.cooldown)))
        elif self.cooldown > self.settings.cooldown:
            self.cooldown -= 1

    def since(self, step: int) -> dict[str, int]:
        """How many requests ago each kind of action last happened."""
        return {name: step - at for name, at in self.acted_at.items()}

    def _cooling(self, step: int) -> bool:
        wait = max(self.settings.cooldown, self.cooldown)
        return bool(self.batches) and step - self.batches[-1] < wait

    def _consult(self, observation: Observation) -> Generator[Ask, Answer, tuple[Sequence[object], str | None]]:
        url = getattr(self.policy, "url", None)
        if isinstance(url, str):
            answer = yield Consult(observation, url, float(getattr(self.policy, "timeout_s", _TIMEOUT_S)))
            if isinstance(answer, Advice):
                return answer.actions, None
            return (), answer.reason if isinstance(answer, Failed) else f"unexpected answer {type(answer).__name__}"
        return _decided(self.policy, observation)

    def _instead(self, observation: Observation) -> Sequence[Action]:
        return self.fallback.decide(observation) if observation.used >= observation.soft else ()

    def _tell(self, problem: str) -> Generator[Ask, Answer, None]:
        off = "; it isn't asked any more" if self.failures >= _BREAKER else ""
        text = f"policy {self.policy.name!r}: {problem}; rules decide instead{off}"
        self.notes.append(text)
        yield Record((CustomEntry(**BLANK, kind="context", data={"event": "policy_failed", "reason": text}),))


def _decided(policy: Policy, observation: Observation) -> tuple[Sequence[object], str | None]:
    """Ask code of ours directly, and anybody else's with a time limit: a thread that hangs is left behind and ends with the process."""
    if type(policy).__module__.startswith("trimtab.") and not getattr(policy, "foreign", False):
        return _guarded(policy, observation)
    result: list[tuple[Sequence[object], str | None]] = []
    thread = threading.Thread(target=lambda: result.append(_guarded(policy, observation)), daemon=True)
    thread.start()
    thread.join(_TIMEOUT_S)
    return result[0] if result else ((), f"no decision within {_TIMEOUT_S:g} s")


def _guarded(policy: Policy, observation: Observation) -> tuple[Sequence[object], str | None]:
    try:
        return tuple(policy.decide(observation)), None
    except Exception as problem:  # noqa: BLE001 - a door: a policy may be anybody's code
        return (), f"{type(problem).__name__}: {problem}"


def _sensible(wanted: Sequence[object], observation: Observation) -> tuple[list[Action], str | None]:
    """The actions that are any, and what was wrong with the first that isn't."""
    actions: list[Action] = []
    problem = None if len(wanted) <= _MOST_ACTIONS else f"{len(wanted):,} actions at once"
    for one in wanted[:_MOST_ACTIONS]:
        action = action_of(one)
        if isinstance(action, Action):
            if action.action != "keep":
                actions.append(action)
        else:
            problem = problem or action
    return actions, problem
