"""Telling: what a step came to, as a line of the curve and in words, and which alarms ring.

groups of a step ──told──▶ means of their first rollouts, shares, alarms ──said──▶ one line
"""

from collections.abc import Sequence
from typing import Any

from trimtab.lab.rewards.collapse import alarms
from trimtab.lab.train.rollouts import Group


def told(groups: Sequence[Group], curve: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the first rollouts of a step came to. `curve`: the lines before, for the alarm about what doesn't move. `keeps`: the share of decisions that kept everything."""
    ends = [end for group in groups for end in group.ends]
    logs = [log for group in groups for log in group.logs]
    efficiency = _mean([end.efficiency for end in ends])
    history = [line["efficiency"] for line in curve if "efficiency" in line]
    return {
        "reward": _mean([end.reward for end in ends]),
        "success": _mean([end.success for end in ends]),
        "cost": _mean([end.cost for end in ends]),
        "efficiency": efficiency,
        "forced_share": _mean([end.forced for end in ends]),
        "keeps": _mean([float(decision.keeps) for log in logs for decision in log.decisions]),
        "rows": sum(len(group.rows) for group in groups),
        "branched": sum(group.branched for group in groups),
        "flat": _mean([float(group.flat) for group in groups]),
        "alarms": [str(alarm) for alarm in alarms(logs, [*history, efficiency])],
    }


def said(curve: Sequence[dict[str, Any]], budget: int) -> str:
    """Say the newest step of a curve in a line. `budget`: in decisions."""
    line = next(line for line in reversed(curve) if "reward" in line)
    rate = line["decisions"] / line["seconds"] if line["seconds"] else 0.0
    ringing = f"; ALARM {'; '.join(line['alarms'])}" if line["alarms"] else ""
    return (
        f"step {line['step']}: {line['decisions']:,} of {budget:,} decisions, {rate:.0f}/s, reward {line['reward']:+.3f},"
        f" success {line['success']:.2f}, cost {line['cost']:.2f}{ringing}"
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
