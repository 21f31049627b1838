"""Rollouts: one task played many times by the policy that is trained, branched where much hangs on a decision, and what each decision turned out to be worth.

    Job: task + parameters + seed ──played(worker)──▶ Group
      first rollouts from the start ─points─▶ snapshots ─▶ continuations ─▶ tree, rewards at its ends ─credit─▶ rows: decision, advantage, weight

A group shares task, window, prices and seed; what differs between its rollouts is what the policy chose. State before the first decision is the root; a row is named after its rollout and its number, and
stands for the state behind it. Branching after a decision is branching before the next one, so snapshots are taken in front of decisions only.

Edits that the ladder makes are no decisions of the policy and no rows. What they cost and spoil is in the reward.

The one rule: nothing is drawn but from the job's own seed, so a job gives the same group wherever and whenever it is played.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import torch

from trimtab.context.cycle.ladder import touchable
from trimtab.context.policies.learned.grammar import actions_of
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.playing import Conditions, Played, Table
from trimtab.lab.credit.advantage import FIXED as CREDIT
from trimtab.lab.credit.advantage import credit
from trimtab.lab.credit.branching import FIXED as BRANCH
from trimtab.lab.credit.branching import BranchPoint, BranchRule, Turn, thin
from trimtab.lab.credit.growing import Grown, Move, Start, leaving, points, tree_of
from trimtab.lab.env.episode import Episode, Open
from trimtab.lab.env.snapshot import Snapshot
from trimtab.lab.env.story import Story
from trimtab.lab.rewards.collapse import EpisodeLog, log_of
from trimtab.lab.rewards.prices import Regime
from trimtab.lab.rewards.reward import Weights as RewardWeights
from trimtab.lab.rewards.step_variant import step_reward
from trimtab.lab.suite import Part, drawn
from trimtab.lab.train.acting import MANNERS, Decided, decided
from trimtab.lab.train.config import Learning, Shape
from trimtab.lab.train.curriculum import is_open
from trimtab.lab.train.extras import extra_of
from trimtab.lab.train.network import Arrays, ChoiceNetwork, network_of
from trimtab.lab.train.seeing import COMPACT_AT, Eye, Sight, batch_of


@dataclass(frozen=True, slots=True)
class Candidate:
    """A policy as it is sent to workers: parameters, how it sees, and the weights behind its extra figures."""

    shape: Shape
    arrays: Arrays
    needed: Weights | None = None

    @property
    def eye(self) -> Eye:
        """How it sees."""
        return Eye(extra_of(self.needed))

    @property
    def network(self) -> ChoiceNetwork:
        """What it decides with."""
        torch.set_num_threads(
            1
        )  # workers share the processors; more threads for so small a network only wait for each other
        return network_of(self.shape, self.eye.widths, self.arrays)


@dataclass(frozen=True, slots=True)
class Job:
    """One group to play. `stage`: what is open. `weights`: of the reward."""

    candidate: Candidate
    learning: Learning
    family: str
    number: int
    seed: str
    stage: int
    weights: RewardWeights


@dataclass(frozen=True, slots=True)
class Worth:
    """A decision to train on. `advantage`: the factor of its log-probability; `weight`: that of its loss."""

    decided: Decided
    advantage: float
    weight: float


@dataclass(frozen=True, slots=True)
class End:
    """How one rollout ended. `efficiency`: the share of cost in its reward, `forced`: the ladder's share of its edits."""

    reward: float
    success: float
    cost: float
    efficiency: float
    forced: float


@dataclass(frozen=True, slots=True)
class Group:
    """What came of a job. `ends` and `logs`: of the first rollouts; `decisions`: all that were made for it. `flat`: all ends were worth the same, so nothing is learned of it."""

    task: str
    rows: tuple[Worth, ...]
    ends: tuple[End, ...]
    logs: tuple[EpisodeLog, ...]
    decisions: int
    branched: int
    flat: bool


@dataclass(frozen=True, slots=True)
class Rollout(Grown[Decided, Snapshot]):
    """From a node to the end of the story. `eligible`: of each step that was decided about, the items that could have been hidden."""

    played: Played
    eligible: dict[int, int]


@lru_cache(maxsize=64)
def table_for(window: int, regime: Regime) -> Table:
    """The table where everything is played in this window at these prices; texts that were counted there stay counted."""
    return Table(Conditions(window, regime))


@lru_cache(maxsize=256)
def seat(part: Part, family: str, number: int) -> tuple[Story, Table]:
    """The story of a task, prepared once, and the table where it is played."""
    task = drawn(part, family, number)
    return task.story, table_for(task.conditions.window, task.conditions.regime)


def played(job: Job) -> Group:
    """Play a group."""
    learning, player = job.learning, _Player(job)
    extra = learning.branches if learning.branching == "none" else 0
    first = [player.roll(f"r{n}") for n in range(learning.rollouts + extra)]
    where = () if extra else points(first, branch_rule(learning), seed=f"{job.seed} {job.family} {job.number}", kept=0)
    rollouts = [*first, *(player.branch(first, point, n) for n, point in enumerate(where))]
    tree = tree_of(player.story.name, rollouts)
    kept = _retained(rollouts, learning)
    found = credit(tree, replace(CREDIT, variant=learning.variant, scaled=learning.variant == "parent"), retained=kept)
    made = {row.after: row.action for row in tree.rows}
    return Group(
        player.story.name,
        tuple(Worth(made[node], c.advantage, c.weight) for node, c in found.rows.items() if c.weight > 0),
        tuple(_end(rollout, job.weights) for rollout in first),
        tuple(_log(rollout) for rollout in first),
        sum(len(rollout.moves) for rollout in rollouts),
        len(where),
        found.flat,
    )


class _Player:
    """Plays one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.story, self.table = seat("train", job.family, job.number)
        self.network, self.eye = job.candidate.network, job.candidate.eye
        self.setup = self.table.setup(Open(manners=MANNERS))
        self.restrict = partial(is_open, job.stage)

    def roll(self, name: str) -> Rollout:
        """Play from the start."""
        return self._to_the_end(Start(name))

    def branch(self, first: Sequence[Rollout], point: BranchPoint, number: int) -> Rollout:
        """Play on from a branch point."""
        return self._to_the_end(leaving(first, point, number))

    def _to_the_end(self, start: Start[Snapshot]) -> Rollout:
        episode = Episode(self.story, self.setup, branching=True, origin=start.before)
        dice = random.Random(f"{self.job.seed} {self.story.name} {start.name}")
        moves: list[Move[Decided, Snapshot]] = []
        eligible: dict[int, int] = {}
        observation = episode.observation or episode.advance()
        while observation is not None:
            accepts = episode.accepts if self.job.learning.ask else None
            sight, offered = self.eye.seen(observation, accepts=accepts, restrict=self.restrict)
            one = decided(self.network, sight, dice)
            before = episode.snapshot()
            facts = episode.act(actions_of(batch_of(one.places, offered), observation))
            node = f"{start.name}.{len(moves)}"
            turn = Turn(node, max(1, observation.used), max(1, facts.prompt), one.uncertainty)
            moves.append(Move(before, turn, one, sum(one.log_probs)))
            eligible[facts.step] = _eligible(sight, observation)
            observation = episode.advance()
        played = self.table.played("candidate", episode, decisions=len(moves))
        return Rollout(start.name, start.node, tuple(moves), _worth(played, self.job), played, eligible)


def branch_rule(learning: Learning) -> BranchRule:
    """The rule that gives so many branches. Playing is what costs here, not rows, so the budget is counted in continuations."""
    share = 1.0 if learning.branching == "random" else BRANCH.random_share
    return replace(BRANCH, budget=learning.branches, rows_per_branch=1, random_share=share)


def _worth(played: Played, job: Job) -> float:
    """What a rollout is rewarded with. What is told of it is the reward in any case."""
    if job.learning.scheme == "step":
        return step_reward(played.judged()).total
    return played.reward(job.weights).total


def _retained(rollouts: Sequence[Rollout], learning: Learning) -> list[str] | None:
    if learning.rows is None:
        return None
    return [row for rollout in rollouts for row in thin([move.turn.row for move in rollout.moves], most=learning.rows)]


def _end(rollout: Rollout, weights: RewardWeights) -> End:
    outcome, reward = rollout.played.judged(), rollout.played.reward(weights)
    unit = rollout.played.yardstick.keep_all_usd
    return End(reward.total, reward.success, outcome.usd / unit, reward.efficiency_share, outcome.forced_share)


def _eligible(sight: Sight, observation: Observation) -> int:
    """Items that could be hidden: those that are offered, or all that a compaction could take, where there is one to choose."""
    if not sight.valid[COMPACT_AT]:
        return sight.eligible
    return sum(item.kind in ("assistant", "result") and touchable(item) for item in observation.items)


def _log(rollout: Rollout) -> EpisodeLog:
    return log_of(rollout.played.judged(), rollout.name, eligible=rollout.eligible)
