"""Judging: what candidates and arms come to on validation, played as everything else is compared.

    candidate or arm × tasks ──Table.play──▶ Figures of each ──▶ Score, means

A candidate plays as it would run: with an observation and nothing else. The part `test` isn't known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import msgspec

from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.executor import Executor
from trimtab.lab.suite import PARTS
from trimtab.lab.train.acting import Chooser
from trimtab.lab.train.rollouts import Candidate, seat

Mode: TypeAlias = Literal["greedy", "sampled"]
Who: TypeAlias = tuple[str, str | Candidate, Mode]
"""A name in a table, an arm by its spec or a candidate, and how it chooses; arms choose as they do."""
LAST_FROM = 1_000
"""The first number of the tasks that report on what others chose."""


class Figures(msgspec.Struct, frozen=True):
    """One task. `cost`: in units of keeping everything. `decisions`: how often it was asked; `edits`: its own, the ladder's are `forced`; `refused`: of the engine."""

    task: str
    reward: float
    success: float
    cost: float
    decisions: int
    edits: int
    forced: int
    refused: int


class Score(msgspec.Struct, frozen=True):
    """A policy on several tasks."""

    name: str
    figures: tuple[Figures, ...]

    @property
    def reward(self) -> float:
        """The mean of all tasks."""
        return _mean([one.reward for one in self.figures])

    @property
    def success(self) -> float:
        """Likewise, expected."""
        return _mean([one.success for one in self.figures])

    @property
    def cost(self) -> float:
        """Likewise."""
        return _mean([one.cost for one in self.figures])

    def line(self) -> dict[str, float]:
        """Means for a curve."""
        edits, forced = (sum(getattr(f, name) for f in self.figures) for name in ("edits", "forced"))
        return {
            "reward": self.reward,
            "success": self.success,
            "cost": self.cost,
            "edits": edits / max(1, len(self.figures)),
            "forced_share": forced / max(1, edits + forced),
            "refused": sum(f.refused for f in self.figures) / max(1, len(self.figures)),
        }


@dataclass(frozen=True, slots=True)
class JudgeJob:
    """One task of validation for one policy: an arm by its spec, or a candidate."""

    who: str | Candidate
    mode: Mode
    family: str
    number: int


def judge(job: JudgeJob) -> Figures:
    """Play a task."""
    story, table = seat("validation", job.family, job.number)
    played = table.play(story, _arm_of(job))
    reward = played.reward()
    edits = [edit for step in played.facts for edit in step.edits]
    return Figures(
        story.name,
        reward.total,
        reward.success,
        played.judged().usd / played.yardstick.keep_all_usd,
        played.decisions,
        sum(not edit.forced for edit in edits),
        sum(edit.forced for edit in edits),
        sum(len(step.refused) for step in played.facts),
    )


def _arm_of(job: JudgeJob) -> Arm:
    if isinstance(job.who, str):
        return find_arm(job.who)
    chooser = Chooser(job.who.network, job.who.eye, "judged" if job.mode == "sampled" else None)
    return Arm("candidate", "learned", "what is trained", lambda _: chooser)


def scores(who: Sequence[Who], each: int, executor: Executor, *, first: int = 0) -> list[Score]:
    """Return the score of each policy, named, on `each` tasks of every family of validation, beginning with number `first`."""
    tasks = [(family, number) for family in PARTS["validation"] for number in range(first, first + each)]
    jobs = [JudgeJob(one, mode, family, number) for _, one, mode in who for family, number in tasks]
    found = list(executor.map(judge, jobs))
    return [Score(name, tuple(found[n * len(tasks) : (n + 1) * len(tasks)])) for n, (name, _, _) in enumerate(who)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
