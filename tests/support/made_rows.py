"""Rows of a bench as nobody played them: what a test is about is said, the rest is the same in all."""

from collections.abc import Sequence
from typing import Any

from trimtab.lab.bench.row import BOUNDS, CHANCES, Judged, Row, chance_key


def made_row(
    arm: str,
    family: str = "sales",
    number: int = 0,
    *,
    success: float = 1.0,
    usd: float = 1.0,
    reward: float | None = None,
    tokens: Sequence[int] = (1_000, 1_000),
    **more: Any,
) -> Row:
    """One generated story of a family under an arm; of a recording when `tier="T1"` is said. `reward`: success, where nothing is said."""
    judged = Judged(success, usd, success if reward is None else reward)
    fields: dict[str, Any] = {
        "kind": "keep" if arm == "none" else "rule",
        "tier": "T0",
        "part": "validation",
        "story": f"{family}-{number}",
        "seed": 0,
        "window": 16_000,
        "regime": "tenth",
        "keep_all_usd": 1.0,
        "slot": f"{family}-{number}",
        "noticed": {chance_key(chance): judged for chance in CHANCES},
        **more,
    }
    return Row(
        arm=arm,
        family=family,
        judged=dict.fromkeys(BOUNDS, judged),
        steps=len(tokens),
        curve=tuple(tokens),
        **fields,
    )
