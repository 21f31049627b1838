"""The reward of an episode, as a sum of parts that each belong to a step and, where it is known, to an action.

    R = success − λc·cost/keep-all − λr·reloads − λo·overflows − λi·invalid − λm·actions

    success    expected, not drawn: the product of the chances that each need was met; or as measured, where something measured it
    cost       all requests with their answers, summaries and reloads, in units of what keeping everything costs in that task at these prices
    reloads    expected ones that a need caused, and those that the policy made by itself
    overflows  requests over the budget. It is a hard constraint besides: such a request can't be made, so what success was left is lost with it, and
               those after it aren't counted. What they cost is: breaking off isn't a way to save
    actions    each edit costs a little by itself, whatever it saves

A product isn't a sum, so success is told as its fall: it begins at 1 and each need takes `success so far · (chance − 1)`. The first misses take
the most; the sum is the product. What an edit of the ladder leads to is charged like any other and marked `forced`: the policy let it come to that.

The one rule: the total is the sum of the parts, rounded once. Whoever prints parts prints the total.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

import msgspec

from trimtab.lab.rewards.outcome import ActionTaken, Outcome, StepOutcome, Yardstick
from trimtab.types.errors import TrimtabError

Key = TypeVar("Key")
Term: TypeAlias = Literal[
    "success", "cost", "reload", "overflow", "invalid", "management", "findable", "summary", "field"
]
"""The last three are those of `step_variant`, which shares `reload` with the reward."""


class MixedGroup(TrimtabError):
    """An episode is measured with the yardstick of another task, seed or price: the group shares all three."""


class BadOutcome(TrimtabError):
    """A chance, price or reward that can't be one. `step` is where."""

    def __init__(self, message: str, *, step: int | None = None) -> None:
        super().__init__(message)
        self.step = step


class Weights(msgspec.Struct, frozen=True, omit_defaults=True):
    """The λ: of cost, of a reload, of an overflow, of something invalid, and of any action but `keep`. `hard`: the first overflow ends success, and
    is the only one that counts; else each one counts.
    """

    cost: float = 0.35
    reload: float = 0.02
    overflow: float = 0.25
    invalid: float = 0.05
    management: float = 0.002
    hard: bool = True


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a reward. `step` 0 is the start. `action` is the action that it goes back to, empty where there is none; `forced`: one of the ladder's."""

    step: int
    term: Term
    value: float
    action: str = ""
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Reward:
    """A reward with its parts."""

    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        """The sum of all parts, rounded once."""
        return math.fsum(part.value for part in self.parts)

    def by_term(self) -> dict[Term, float]:
        """What each term comes to."""
        return self._by(lambda part: part.term)

    def by_step(self) -> dict[int, float]:
        """What each step comes to."""
        return self._by(lambda part: part.step)

    def by_action(self) -> dict[str, float]:
        """What each action comes to, by its id; under the empty name, what goes back to none."""
        return self._by(lambda part: part.action)

    def _by(self, key: Callable[[Part], Key]) -> dict[Key, float]:
        found: dict[Key, list[float]] = {}
        for part in self.parts:
            found.setdefault(key(part), []).append(part.value)
        return {name: math.fsum(values) for name, values in found.items()}

    @property
    def success(self) -> float:
        """Expected or measured success."""
        return self.by_term().get("success", 0.0)

    @property
    def efficiency_share(self) -> float:
        """How much of what the terms come to, without signs, is cost: what a policy that only saves or only succeeds moves."""
        terms = self.by_term()
        whole = math.fsum(abs(value) for value in terms.values())
        return abs(terms.get("cost", 0.0)) / whole if whole else 0.0

    @property
    def forced_share(self) -> float:
        """How much of what is charged to actions is charged to the ladder's."""
        charged = [part for part in self.parts if part.action]
        whole = math.fsum(abs(part.value) for part in charged)
        return math.fsum(abs(part.value) for part in charged if part.forced) / whole if whole else 0.0


DEFAULT = Weights()


def reward(outcome: Outcome, yardstick: Yardstick, weights: Weights = DEFAULT) -> Reward:
    """Return the reward of an episode. Raises `MixedGroup` and `BadOutcome`."""
    mine = (outcome.task, outcome.seed, outcome.regime)
    theirs = (yardstick.task, yardstick.seed, yardstick.regime)
    if mine != theirs:
        raise MixedGroup(f"an episode of {mine} is measured with the yardstick of {theirs}")
    if not (math.isfinite(yardstick.keep_all_usd) and yardstick.keep_all_usd > 0):
        raise BadOutcome(f"keeping everything costs {yardstick.keep_all_usd} USD in {outcome.task!r}")
    forced = frozenset(action.id for action in outcome.actions if action.forced)
    charged = (*_success(outcome, weights), *_charges(outcome, yardstick, weights))
    return Reward(
        tuple(
            Part(p.step, p.term, p.value, p.action, p.action in forced) if p.action else p for p in charged if p.value
        )
    )


def _success(outcome: Outcome, weights: Weights) -> Iterator[Part]:
    if outcome.passed is not None:
        last = outcome.steps[-1].step if outcome.steps else 0
        yield Part(last, "success", _chance(outcome.passed, last))
        return
    yield Part(0, "success", 1.0)
    so_far = 1.0
    for step in outcome.steps:
        if step.over and weights.hard:
            yield Part(step.step, "success", -so_far)
            return
        for need in step.needs:
            chance = _chance(need.chance, step.step)
            yield Part(step.step, "success", so_far * (chance - 1.0), need.hidden_by)
            so_far *= chance


def _chance(chance: float, step: int) -> float:
    if not 0.0 <= chance <= 1.0:
        raise BadOutcome(f"step {step} has something with chance {chance}", step=step)
    return chance


def _charges(outcome: Outcome, yardstick: Yardstick, weights: Weights) -> Iterator[Part]:
    over = False
    for step in outcome.steps:
        yield from _costs(step, yardstick.keep_all_usd, weights)
        for need in step.needs:
            yield Part(step.step, "reload", -weights.reload * need.reloads, need.hidden_by)
        if step.over and not (over and weights.hard):
            over = True
            yield Part(step.step, "overflow", -weights.overflow)
        yield Part(step.step, "invalid", -weights.invalid * step.invalid)
        for action in step.actions:
            yield from _of_action(step.step, action, weights)


def _costs(step: StepOutcome, unit: float, weights: Weights) -> Iterator[Part]:
    for spent in step.spent:
        if not (math.isfinite(spent.usd) and spent.usd >= 0):
            raise BadOutcome(f"step {step.step} has something that costs {spent.usd} USD", step=step.step)
        yield Part(step.step, "cost", -weights.cost * spent.usd / unit, spent.action)


def _of_action(step: int, action: ActionTaken, weights: Weights) -> Iterator[Part]:
    if action.refused:
        yield Part(step, "invalid", -weights.invalid, action.id)
    elif action.name != "keep":
        yield Part(step, "management", -weights.management, action.id)
        if action.name == "reload":
            yield Part(step, "reload", -weights.reload, action.id)


def action_lines(outcome: Outcome, found: Reward) -> tuple[str, ...]:
    """Return the actions of an episode as lines to print: step, action, what it comes to, by term; last what no action is behind, and the total."""
    shares: dict[str, dict[Term, list[float]]] = {}
    for part in found.parts:
        shares.setdefault(part.action, {}).setdefault(part.term, []).append(part.value)
    lines = [
        _line(
            f"{step.step:>4}  {action.id} {action.name}{' (forced)' if action.forced else ''}",
            shares.get(action.id, {}),
        )
        for step in outcome.steps
        for action in step.actions
    ]
    return (*lines, _line("      without an action", shares.get("", {})), f"      total {found.total:+.4f}")


def _line(what: str, terms: dict[Term, list[float]]) -> str:
    whole = math.fsum(value for values in terms.values() for value in values)
    told = ", ".join(f"{term} {math.fsum(values):+.4f}" for term, values in terms.items())
    return f"{what}: {whole:+.4f}" + (f" ({told})" if told else "")
