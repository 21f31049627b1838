"""Alarms: ways in which training goes wrong while its reward still looks fine.

    keep        nearly every decision is to keep: a greedy policy often starts that way and stays there
    flat        the share of cost in the reward hasn't moved for a while: nothing is learned about efficiency
    delete-all  whoever hides, hides nearly everything, since reloads are cheap
    thrash      more than half of the requests have an edit in front of them
    loops       the same thing is hidden and brought back again and again

Functions of logs, so that they can be asked of a training run, an evaluation and a person's own sessions alike. None of them says what to do. An alarm about a policy
looks at its own decisions only: what the ladder did is told by `Outcome.forced_share`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from trimtab.lab.rewards.outcome import HIDING, Outcome

AlarmKind = Literal["keep", "flat", "delete-all", "thrash", "loops"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An action that a policy chose, with what it is about."""

    name: str
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a policy answered once. `eligible`: how many items it could have hidden; None: not known. No actions, or only `keep`: it kept everything."""

    step: int
    actions: tuple[Wanted, ...] = ()
    eligible: int | None = None

    @property
    def keeps(self) -> bool:
        """Whether nothing was wanted."""
        return all(action.name == "keep" for action in self.actions)

    @property
    def hidden(self) -> frozenset[str]:
        """What was to be hidden."""
        return frozenset(t for action in self.actions if action.name in HIDING for t in action.targets)


@dataclass(frozen=True, slots=True)
class EpisodeLog:
    """The decisions of one episode of `steps` requests."""

    name: str
    steps: int
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something is wrong: `figure` is beyond `limit`. `where` names episodes, at most five."""

    kind: AlarmKind
    figure: float
    limit: float
    where: tuple[str, ...] = ()

    def __str__(self) -> str:
        """One line."""
        where = f" ({', '.join(self.where)})" if self.where else ""
        return f"{self.kind}: {self.figure:.3f}, limit {self.limit:.3f}{where}"


_UNKNOWN: Mapping[int, int] = {}


def log_of(outcome: Outcome, name: str, *, eligible: Mapping[int, int] = _UNKNOWN) -> EpisodeLog:
    """Return the log of an episode: a decision for each request in front of which a policy was asked, without what the ladder did.

    `eligible`: by step, how many items could have been hidden; without it nobody can tell whether everything was.
    """
    decisions = (
        Decision(
            step.step, tuple(Wanted(a.name, a.targets) for a in step.actions if not a.forced), eligible.get(step.step)
        )
        for step in outcome.steps
        if step.asked
    )
    return EpisodeLog(name, len(outcome.steps), tuple(decisions))


def keep_alarm(logs: Sequence[EpisodeLog], *, limit: float = 0.95) -> Alarm | None:
    """Tell when more than `limit` of the decisions keep everything. Those that had nothing to choose don't count."""
    kept = [decision.keeps for log in logs for decision in log.decisions if decision.eligible != 0]
    share = sum(kept) / len(kept) if kept else 0.0
    return Alarm("keep", share, limit) if share > limit else None


def flat_alarm(efficiency: Sequence[float], *, last: int = 5, moves: float = 0.01) -> Alarm | None:
    """Tell when the efficiency share of the reward (one figure for each evaluation) stayed within `moves` for the `last` evaluations."""
    recent = efficiency[-last:]
    if last < 2 or len(recent) < last:
        return None
    width = max(recent) - min(recent)
    return Alarm("flat", width, moves) if width < moves else None


def delete_all_alarm(logs: Sequence[EpisodeLog], *, limit: float = 0.9, least: int = 3) -> Alarm | None:
    """Tell when decisions that hide anything hide more than `limit` of what they could. Only those that could hide `least` items count."""
    hidden = eligible = 0
    where: list[str] = []
    for log in logs:
        hiding = [d for d in log.decisions if d.hidden and d.eligible is not None and d.eligible >= least]
        mine, could = sum(len(d.hidden) for d in hiding), sum(d.eligible or 0 for d in hiding)
        hidden, eligible = hidden + mine, eligible + could
        if could and mine / could > limit:
            where.append(log.name)
    share = hidden / eligible if eligible else 0.0
    return Alarm("delete-all", share, limit, tuple(where[:5])) if share > limit else None


def thrash_alarm(logs: Sequence[EpisodeLog], *, batches: float = 0.5, tolerated: float = 0.1) -> Alarm | None:
    """Tell when more than `tolerated` of the episodes have edits in front of more than `batches` of their requests."""
    bad = [log.name for log in logs if sum(not d.keeps for d in log.decisions) > batches * log.steps]
    return _of_episodes("thrash", bad, logs, tolerated)


def loop_alarm(logs: Sequence[EpisodeLog], *, times: int = 2, tolerated: float = 0.05) -> Alarm | None:
    """Tell when in more than `tolerated` of the episodes one thing is brought back after it was hidden, `times` times or more."""
    return _of_episodes("loops", [log.name for log in logs if _rounds(log) >= times], logs, tolerated)


def _rounds(log: EpisodeLog) -> int:
    """How often the thing that went round most was hidden and brought back."""
    hidden: set[str] = set()
    rounds: dict[str, int] = {}
    for action in (action for decision in log.decisions for action in decision.actions):
        if action.name in HIDING:
            hidden.update(action.targets)
        elif action.name == "reload":
            for target in hidden.intersection(action.targets):
                rounds[target] = rounds.get(target, 0) + 1
            hidden.difference_update(action.targets)
    return max(rounds.values(), default=0)


def _of_episodes(kind: AlarmKind, bad: Sequence[str], logs: Sequence[EpisodeLog], tolerated: float) -> Alarm | None:
    share = len(bad) / len(logs) if logs else 0.0
    return Alarm(kind, share, tolerated, tuple(bad[:5])) if share > tolerated else None


def alarms(logs: Sequence[EpisodeLog], efficiency: Sequence[float] = ()) -> tuple[Alarm, ...]:
    """Return all alarms that ring, at their usual limits."""
    found = (keep_alarm(logs), flat_alarm(efficiency), delete_all_alarm(logs), thrash_alarm(logs), loop_alarm(logs))
    return tuple(alarm for alarm in found if alarm is not None)
