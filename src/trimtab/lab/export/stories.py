"""Stories of the lab, played in several ways and branched, as one tree of pieces.

    story + decider ──first rollouts──▶ snapshots ──branch_points──▶ continuations ──▶ Tree[Piece], the lab's reward at each end

For whoever has a decider and no tree yet; the trainer has its own, over numbers instead of messages. A decider is any function from an observation to a choice; one that draws draws from the dice that it is given.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners
from trimtab.context.policies.learned.grammar import actions_of, choices
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.playing import Played, Table
from trimtab.lab.credit.branching import FIXED, BranchRule, Turn, branch_points
from trimtab.lab.credit.tree import Leaf, Row, Tree
from trimtab.lab.env.episode import Episode, Open, Setup
from trimtab.lab.env.snapshot import Snapshot
from trimtab.lab.env.story import Story
from trimtab.lab.export.decisions import Scene, Way, piece_of
from trimtab.lab.export.piece import Piece
from trimtab.lab.rewards.reward import DEFAULT, Weights


@dataclass(frozen=True, slots=True)
class Choice:
    """What a decider wants. `log_prob` of it, and `entropy` of what it was chosen from, where they are known."""

    actions: tuple[Action, ...] = ()
    log_prob: float | None = None
    entropy: float | None = None


Decider = Callable[[Episode, Observation, random.Random], Choice]
"""Decides; the episode can be asked what it accepts."""


@dataclass(frozen=True, slots=True)
class Told:
    """A tree of a story. `unsaid`: rows that the way of writing had no words for; they and what is below them are left out."""

    tree: Tree[Piece]
    unsaid: int


def by_chance(share: float) -> Decider:
    """Return a decider that does something at that share of decisions: one choice, drawn evenly from all that there are. The baseline of the trainer, and a source of varied rows."""

    def decide(episode: Episode, observation: Observation, dice: random.Random) -> Choice:
        offered = choices(observation, accepts=episode.accepts)[1:]
        if not offered or dice.random() >= share:
            return Choice()
        return Choice(actions_of([dice.choice(offered)], observation))

    return decide


@dataclass(slots=True)
class _Move:
    before: Snapshot
    piece: Piece | None


@dataclass(slots=True)
class _Rollout:
    name: str
    start: str
    moves: list[_Move] = field(default_factory=list)
    reward: float = 0.0

    def node(self, at: int) -> str:
        return self.start if at == 0 else f"{self.name}.{at}"


def explore_story(
    story: Story,
    table: Table,
    decide: Decider,
    *,
    first: int = 8,
    rule: BranchRule = FIXED,
    weights: Weights = DEFAULT,
    way: Way = "grammar",
    seed: int = 0,
) -> Told:
    """Play a story `first` times, branch as `rule` says, and return the tree."""
    conditions = table.conditions
    setup = Setup(
        conditions.played_as, Open(manners=Manners(guarded=False)), noticed=conditions.noticed, counter=table.counter
    )

    def to_the_end(rollout: _Rollout, episode: Episode) -> _Rollout:
        dice = random.Random(f"{seed} {story.name} {rollout.name}")
        observation = episode.observation or episode.advance()
        while observation is not None:
            before, scene = episode.snapshot(), Scene.of(episode)
            choice = decide(episode, observation, dice)
            episode.act(choice.actions)
            piece = piece_of(scene, choice.actions, episode, way=way, log_prob=choice.log_prob, entropy=choice.entropy)
            rollout.moves.append(_Move(before, piece))
            observation = episode.advance()
        rollout.reward = _played(story, table, episode, seed).reward(weights).total
        return rollout

    tree = Tree[Piece](story.name)
    rollouts = [to_the_end(_Rollout(f"r{n}", tree.root), Episode(story, setup, branching=True)) for n in range(first)]
    by_name = {rollout.name: rollout for rollout in rollouts}
    turns = {rollout.name: _turns(rollout) for rollout in rollouts}
    for n, point in enumerate(branch_points(turns, sum(map(len, turns.values())), rule, seed=f"{seed} {story.name}")):
        base, at = by_name[point.rollout], point.step + (point.where == "after")
        if at < len(base.moves):
            episode = Episode.of(base.moves[at].before, story, setup, branching=True)
            rollouts.append(to_the_end(_Rollout(f"b{n}", base.node(at)), episode))
    return Told(tree, sum(_grow(tree, rollout) for rollout in rollouts))


def _grow(tree: Tree[Piece], rollout: _Rollout) -> int:
    """Add a rollout as far as it can be written, and return how many rows of it can't. Its end votes from where it stands."""
    known = {tree.root, *(row.after for row in tree.rows)}
    if rollout.start not in known:
        return len(rollout.moves)
    written = next((at for at, move in enumerate(rollout.moves) if move.piece is None), len(rollout.moves))
    for at, move in enumerate(rollout.moves[:written]):
        assert move.piece is not None
        tree.grow(Row(rollout.node(at), rollout.node(at + 1), rollout.name, move.piece, move.piece.log_prob))
    tree.finish(Leaf(rollout.name, rollout.node(written), rollout.reward))
    return len(rollout.moves) - written


def _turns(rollout: _Rollout) -> Sequence[Turn]:
    return [
        Turn(
            rollout.node(at + 1),
            max(1, move.piece.tokens if move.piece else 1),
            move.piece.tokens_after if move.piece else 1,
            (move.piece.entropy or 0.0) if move.piece else 0.0,
            may_branch=move.piece is not None,
        )
        for at, move in enumerate(rollout.moves)
    ]


def _played(story: Story, table: Table, episode: Episode, seed: int) -> Played:
    return Played(
        "decider",
        story,
        seed,
        table.conditions,
        tuple(episode.facts),
        tuple(entry for entry, _ in episode.player.messages),
        table.yardstick(story, seed),
        len(episode.facts),
        0.0,
    )
