"""Success against cost, over the weight of cost: which arm is best for whom.

One weight of cost is one person's taste, so a comparison is shown for many of them. The episodes are judged anew; nothing is played again. For an arm that
was trained for one weight that is what it is worth to somebody with another.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from trimtab.lab.env.facts import Tier
from trimtab.lab.rewards.outcome import Outcome, Yardstick
from trimtab.lab.rewards.reward import DEFAULT, BadOutcome, Weights, reward

COST_WEIGHTS = (0.0, 0.1, 0.2, 0.35, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """An arm under one weight of cost: means over `episodes` of its reward, success and cost (1: as much as keeping everything), of one tier."""

    arm: str
    tier: Tier
    cost_weight: float
    reward: float
    success: float
    cost: float
    episodes: int


def sweep(
    arms: Mapping[str, Sequence[tuple[Outcome, Yardstick]]],
    cost_weights: Iterable[float] = COST_WEIGHTS,
    weights: Weights = DEFAULT,
) -> tuple[ParetoPoint, ...]:
    """Return a point for each arm and weight of cost. Raises `BadOutcome` where an arm has no episodes, or those of several tiers."""
    return tuple(
        _point(arm, episodes, msgspec.structs.replace(weights, cost=weight))
        for weight in cost_weights
        for arm, episodes in arms.items()
    )


def _point(arm: str, episodes: Sequence[tuple[Outcome, Yardstick]], weights: Weights) -> ParetoPoint:
    tiers = {outcome.tier for outcome, _ in episodes}
    if len(tiers) != 1:
        raise BadOutcome(f"arm {arm!r} has episodes of {len(tiers)} tiers: {', '.join(sorted(tiers)) or 'none'}")
    found = [reward(outcome, yardstick, weights) for outcome, yardstick in episodes]
    return ParetoPoint(
        arm,
        tiers.pop(),
        weights.cost,
        _mean([one.total for one in found]),
        _mean([one.success for one in found]),
        _mean([outcome.usd / yardstick.keep_all_usd for outcome, yardstick in episodes]),
        len(episodes),
    )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def front(points: Iterable[ParetoPoint]) -> tuple[ParetoPoint, ...]:
    """Return the points that no other beats: none has at least their success at no more cost, and more or less of one. The cheapest first."""
    known = list(points)
    kept = [p for p in known if not any(_beats(other, p) for other in known)]
    return tuple(sorted(kept, key=lambda p: (p.cost, -p.success, p.arm)))


def _beats(one: ParetoPoint, other: ParetoPoint) -> bool:
    no_worse = one.success >= other.success and one.cost <= other.cost
    return no_worse and (one.success > other.success or one.cost < other.cost)


def best_arms(points: Iterable[ParetoPoint]) -> dict[float, str]:
    """Return the arm with the largest reward for each weight of cost; of equals, the first by name."""
    best: dict[float, ParetoPoint] = {}
    for point in sorted(points, key=lambda p: (p.cost_weight, -p.reward, p.arm)):
        best.setdefault(point.cost_weight, point)
    return {weight: point.arm for weight, point in best.items()}
