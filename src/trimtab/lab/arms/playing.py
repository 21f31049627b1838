"""Playing an arm: one story, one arm, one set of conditions ──▶ what it came to.

    story + arm + Conditions ──Episode, decided by the arm──▶ facts ──prices──▶ Outcome ─┐
                    └──everything kept──▶ Yardstick ────────────────────────────────────┴▶ Played (reward, curve, milliseconds)

The one place where an arm meets the environment: tuning, `trimtab bench` and the evaluation of a training run all come here, so their figures can be compared.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.counting.counter import Counter
from trimtab.context.engine import Engine
from trimtab.context.policies.base import Policy, unwrap
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.arm import Arm
from trimtab.lab.env.episode import NOTICED, Episode, Setup, opened
from trimtab.lab.env.facts import Decided, StepFacts
from trimtab.lab.env.story import Story
from trimtab.lab.env.yardstick import yardstick_of
from trimtab.lab.rewards.facts import Bound, outcome_of
from trimtab.lab.rewards.outcome import Outcome, Yardstick
from trimtab.lab.rewards.prices import REGIMES, Regime
from trimtab.lab.rewards.reward import DEFAULT, Reward, Weights, reward
from trimtab.types.models import ModelInfo

MODEL = ModelInfo("lab", "lab", "openai-responses", max_output=2_048)
"""What a generated story is played as. Window, prices and cache come from the conditions."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a group shares: the window in tokens, the prices, and how likely a stub is noticed. `model`: as what it is played."""

    window: int
    regime: Regime = REGIMES[2]
    noticed: float = NOTICED
    model: ModelInfo = MODEL

    @property
    def played_as(self) -> ModelInfo:
        """The model with this window at these prices."""
        return self.regime.of(structs.replace(self.model, context_window=self.window))


@dataclass(frozen=True, slots=True)
class Played:
    """One story under one arm. `facts` are kept so that it can be judged anew: see `judged`.

    `policy_ms`: milliseconds that the arm took to decide, in all; `decisions`: how often it was asked; `decided`: how often something was decided, and by whom.
    """

    arm: str
    story: Story
    seed: int
    conditions: Conditions
    facts: tuple[StepFacts, ...]
    entries: tuple[str, ...]
    yardstick: Yardstick
    decisions: int
    policy_ms: float
    decided: Decided | None = None

    def judged(self, bound: Bound = "expected", *, noticed: float | None = None) -> Outcome:
        """Return the outcome under a bound. `noticed`: with another chance that a stub is noticed, for the bound `expected`."""
        facts = self.facts if noticed is None else tuple(_noticed(step, noticed) for step in self.facts)
        return outcome_of(
            facts,
            task=self.story.name,
            seed=self.seed,
            regime=self.conditions.regime,
            bound=bound,
            entries=self.entries,
        )

    def reward(self, weights: Weights = DEFAULT, bound: Bound = "expected") -> Reward:
        """Return the reward under a bound."""
        return reward(self.judged(bound), self.yardstick, weights)


def decided_of(engine: Engine) -> Decided:
    """How often an engine's policy decided so far, and how often the rules did in its place."""
    decider = engine.manager.decider
    return Decided(decider.decisions, decider.left)


class Decisions:
    """Calls a policy and keeps how long that took. Only what it says is played; the time is for a table."""

    def __init__(self, decide: Callable[[Observation], Sequence[Action]]) -> None:
        self._decide = decide
        self.count = 0
        self.seconds = 0.0

    def __call__(self, observation: Observation) -> Sequence[Action]:
        """What the policy wants."""
        begun = time.perf_counter()
        try:
            return self._decide(observation)
        finally:
            self.count += 1
            self.seconds += time.perf_counter() - begun


class Table:
    """Where arms play under the same conditions. Counts each text once, and each yardstick once a story. `counter`: of the same model, whatever its prices and its window."""

    def __init__(self, conditions: Conditions, *, counter: Counter | None = None) -> None:
        self.conditions = conditions
        self.counter = counter or Counter(conditions.played_as)
        self._yardsticks: dict[tuple[str, int], Yardstick] = {}

    def yardstick(self, story: Story, seed: int = 0) -> Yardstick:
        """The unit of cost of a story here."""
        key = (story.name, seed)
        if key not in self._yardsticks:
            conditions = self.conditions
            self._yardsticks[key] = yardstick_of(
                story, conditions.played_as, conditions.regime, seed=seed, counter=self.counter
            )
        return self._yardsticks[key]

    def setup(self, policy: Policy) -> Setup:
        """How the environment is set up for a policy whose decisions whoever plays makes."""
        conditions = self.conditions
        return Setup(conditions.played_as, opened(policy), noticed=conditions.noticed, counter=self.counter)

    def play(self, story: Story, arm: Arm, *, seed: int = 0) -> Played:
        """Play a story under an arm. `seed` names the group; the story is what it is whatever the seed."""
        policy = arm.make(story)
        core = unwrap(policy)[0]
        decide = Decisions(core.decide)
        episode = Episode(story, self.setup(policy))
        while (observation := episode.advance()) is not None:
            episode.act(decide(observation))
        return self.played(arm.spec, episode, seed, decisions=decide.count, policy_ms=1_000 * decide.seconds)

    def played(
        self, arm: str, episode: Episode, seed: int = 0, *, decisions: int = 0, policy_ms: float = 0.0
    ) -> Played:
        """What an episode that was played here came to."""
        return Played(
            arm,
            episode.story,
            seed,
            self.conditions,
            tuple(episode.facts),
            tuple(name for name, _ in episode.player.messages),
            self.yardstick(episode.story, seed),
            decisions,
            policy_ms,
            decided_of(episode.player.engine),
        )


def _noticed(step: StepFacts, chance: float) -> StepFacts:
    needs = tuple(replace(need, chance=chance) if need.reach == "stub" else need for need in step.needs)
    return replace(step, needs=needs, noticed=chance)
