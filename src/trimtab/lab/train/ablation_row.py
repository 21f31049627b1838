"""A line of `ablation.json`, apart from the training library, so that whoever shows it need not have that."""

import msgspec


class Estimate(msgspec.Struct, frozen=True):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


class AblationRow(msgspec.Struct, frozen=True, kw_only=True):
    """A cell, or something that it is compared with (`variant` is its name then). `gain`: reward above the clone of the same seed, on the same tasks."""

    variant: str
    branching: str = ""
    seeds: int
    tasks: int
    decisions: int = 0
    reward: Estimate
    success: Estimate
    cost: Estimate
    sampled: Estimate | None = None
    gain: Estimate | None = None
    best_steps: tuple[int, ...] = ()
