"""Stories of the lab, played in several ways and branched, as one tree of pieces.

    story + decider ──first rollouts──▶ snapshots ──points──▶ continuations ──▶ Tree[Piece], the lab's reward at each end

For whoever has a decider and no tree yet; the trainer has its own, over numbers instead of messages. A decider is any function from an observation to a choice; one that draws draws from the dice that it is given.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TypeAlias

from trimtab.context.actions import Action
from trimtab.context.policies.learned.grammar import actions_of, choices
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.playing import Table
from trimtab.lab.credit.branching import FIXED, BranchRule
from trimtab.lab.credit.growing import Grown, Move, Start, leaving, points, tree_of
from trimtab.lab.credit.tree import ROOT, Tree
from trimtab.lab.env.episode import Episode, Open
from trimtab.lab.env.snapshot import Snapshot
from trimtab.lab.env.story import Story
from trimtab.lab.export.decisions import Scene, Way, piece_of
from trimtab.lab.export.piece import Piece, move_of
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


_Rollout: TypeAlias = Grown[Piece, Snapshot]
_UNSAID = Piece("", (), (), (), tokens=1)
"""Stands for a decision that there are no words for."""


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
    setup = table.setup(Open())

    def to_the_end(start: Start[Snapshot]) -> _Rollout:
        episode = Episode(story, setup, branching=True, origin=start.before)
        dice = random.Random(f"{seed} {story.name} {start.name}")
        moves: list[Move[Piece, Snapshot]] = []
        observation = episode.observation or episode.advance()
        while observation is not None:
            before, scene = episode.snapshot(), Scene.of(episode)
            choice = decide(episode, observation, dice)
            episode.act(choice.actions)
            piece = piece_of(scene, choice.actions, episode, way=way, log_prob=choice.log_prob, entropy=choice.entropy)
            node = f"{start.name}.{len(moves) + 1}"
            moves.append(move_of(piece or _UNSAID, node, before, may_branch=piece is not None))
            observation = episode.advance()
        reward = table.played("decider", episode, seed, decisions=len(moves)).reward(weights).total
        return Grown(start.name, start.node, tuple(moves), reward)

    rollouts = [to_the_end(Start(f"r{n}")) for n in range(first)]
    where = points(rollouts, rule, seed=f"{seed} {story.name}")
    rollouts += [to_the_end(leaving(rollouts, point, n)) for n, point in enumerate(where)]
    tree = tree_of(story.name, _told(rollouts))
    return Told(tree, sum(len(rollout.moves) for rollout in rollouts) - len(tree.rows))


def _told(rollouts: Iterable[_Rollout]) -> Iterator[_Rollout]:
    """The rollouts as far as there are words for them; the end of one votes from where it then stands."""
    known = {ROOT}
    for rollout in rollouts:
        if rollout.start in known:
            said = tuple(takewhile(lambda move: move.decided is not _UNSAID, rollout.moves))
            known.update(move.turn.row for move in said)
            yield replace(rollout, moves=said)
