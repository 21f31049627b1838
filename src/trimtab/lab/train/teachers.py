"""Teachers: what policies that decide well did, as choices of the grammar.

    task + arm ──played──▶ at each decision: what is seen, and what was done about it ──in the grammar──▶ Lesson

A lesson says what was done, not what was wanted: where the engine's guards held a policy back, it kept everything. Wishes that the grammar has no words for are
left out; a decision that only had such wishes isn't a lesson. How much of what was wanted could be said is counted.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.policies.base import Manners, Policy, unwrap
from trimtab.context.policies.learned.grammar import Choice, ItemOp
from trimtab.context.policies.learned.policy import decided as by_weights
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.policies.weighing import named
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.facts import StepFacts
from trimtab.lab.env.story import Story
from trimtab.lab.suite import Part
from trimtab.lab.train.acting import MANNERS
from trimtab.lab.train.batches import Line
from trimtab.lab.train.rollouts import seat
from trimtab.lab.train.seeing import COMMIT_AT, COMPACT_AT, OPS, WHOLE, Eye, Sight, place_of
from trimtab.types.errors import UsageError

_HALF = 0.35
"""Of an item's tokens: a summary of more is nearer to a half than to a fifth."""
_ANYWHERE = 2
"""Moments within a batch that an epoch learns from, beside its first and its last."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A decision: what was seen, and the places that were chosen, in any order; none: everything was kept."""

    sight: Sight
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """What a teacher did with a task. `wanted`: operations on items, or the whole; `said`: those that the grammar has words for."""

    task: str
    teacher: str
    reward: float
    decisions: tuple[Lesson, ...]
    wanted: int
    said: int


@dataclass(frozen=True, slots=True)
class TeachJob:
    """One task for one teacher."""

    teacher: str
    eye: Eye
    part: Part
    family: str
    number: int
    needed: Weights | None = None


def taught(job: TeachJob) -> Lessons:
    """Play a task under a teacher, and write down its decisions."""
    story, table = seat(job.part, job.family, job.number)
    policy = _teacher(job, story)
    core = unwrap(policy)[0]
    episode = Episode(story, table.setup(policy))
    lessons: list[Lesson] = []
    wanted = said = 0
    while (observation := episode.advance()) is not None:
        sight, offered = job.eye.seen(observation)
        actions = core.decide(observation)
        facts = episode.act(actions)
        places, missed = said_as(_done(actions, facts), observation, sight, offered)
        wanted, said = wanted + len(places) + missed, said + len(places)
        if places or not missed:
            lessons.append(Lesson(sight, places))
    reward = table.played(job.teacher, episode).reward().total
    return Lessons(story.name, job.teacher, reward, tuple(lessons), wanted, said)


NEEDED = "needed"
"""The teacher that acts by break-even with the weights whose figures the clone sees."""


@dataclass(frozen=True, slots=True)
class ByNeed:
    """Supervised weights as a policy."""

    weights: Weights
    name: str = NEEDED
    manners: Manners = field(default=MANNERS)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what they come to."""
        return by_weights(self.weights, observation)


def _teacher(job: TeachJob, story: Story) -> Policy:
    if job.teacher == NEEDED and job.needed is not None:
        return ByNeed(job.needed)
    return find_arm(job.teacher).make(story)


def _done(actions: Sequence[Action], facts: StepFacts) -> Sequence[Action]:
    """The actions, unless nothing came of any of them."""
    return actions if any(not edit.forced for edit in facts.edits) else ()


def said_as(
    actions: Iterable[Action], observation: Observation, sight: Sight, offered: Sequence[ItemFacts]
) -> tuple[tuple[int, ...], int]:
    """Return the places of actions, as many as a batch holds, and how many wishes have none."""
    items = named(observation)
    first = {"": 0} | {item.id: WHOLE + OPS * row for row, item in enumerate(offered)}
    places: dict[str, int] = {}
    missed = 0
    for action in actions:
        if action.action in ("keep", "pin", "unpin"):
            continue
        for choice in _choices_of(action, items):
            place = None if choice is None or choice.item not in first else place_of(choice, first)
            if choice is None or place is None or not sight.valid[place]:
                missed += 1
            else:
                places.setdefault(choice.item or choice.op, place)
    if COMPACT_AT in places.values():
        return (COMPACT_AT,), missed
    return tuple(places.values())[: sight.full], missed


def _choices_of(action: Action, items: Mapping[str, ItemFacts]) -> Iterator[Choice | None]:
    """What an action is in the grammar, for each of its targets; None where the grammar has no word for it."""
    if action.action == "compact":
        yield Choice("compact")
    elif action.action == "restate":
        yield Choice("restate")
    else:
        for target in action.targets:
            item = items.get(target.partition("#")[0])
            op = _op_of(action, item) if item else None
            yield Choice(op, item.id) if item and op else None


def _op_of(action: Action, item: ItemFacts) -> ItemOp | None:
    match action.action:
        case "elide" | "expire" | "offload" | "reload":
            return action.action
        case "truncate":
            return "truncate"
        case "fold":
            return "truncate" if action.params.get("tail") == 0 and action.params.get("matches") == 0 else "fold"
        case "summarize":
            most = action.params.get("max_tokens")
            large = isinstance(most, int) and most > _HALF * item.tokens
            return "summarize_half" if large else "summarize_fifth"
        case _:
            return None


def best_of(found: Iterable[Lessons]) -> list[Lessons]:
    """Return of each task only what the teacher did that came to the highest reward; several where they came to the same."""
    tasks: dict[str, list[Lessons]] = {}
    for one in found:
        tasks.setdefault(one.task, []).append(one)
    return [one for all_of in tasks.values() for one in all_of if one.reward >= max(o.reward for o in all_of) - 1e-9]


def lines_for(lesson: Lesson, dice: random.Random) -> list[Line]:
    """Return lines to learn a lesson from: before its first choice, behind its last, and at a few moments between, in an order that is drawn anew."""
    order = list(lesson.places)
    dice.shuffle(order)
    between = range(1, len(order))
    moments = {0, len(order), *dice.sample(between, min(_ANYWHERE, len(between)))}
    return [
        Line(lesson.sight, tuple(order[:moment]), tuple(order[moment:]) or (COMMIT_AT,)) for moment in sorted(moments)
    ]


def present(teachers: Iterable[str], *, needed: bool = False) -> tuple[list[str], list[str]]:
    """Return the teachers that are there, and those that aren't. `needed`: there are supervised weights."""
    here: list[str] = []
    missing: list[str] = []
    for spec in teachers:
        if spec == NEEDED:
            (here if needed else missing).append(spec)
            continue
        try:
            find_arm(spec)
        except UsageError:
            missing.append(spec)
        else:
            here.append(spec)
    return here, missing
