"""The table that shows how the scheme of points is deceived: the same hand-made plays, scored by it and by the reward.

It is made when the page is, from code alone: no bench has to run for it.
"""

from trimtab.lab.report.table import Cell, Column, Table
from trimtab.lab.rewards.plays import PLAYS, STEPS, play, yardstick
from trimtab.lab.rewards.reward import Reward, reward
from trimtab.lab.rewards.step_variant import StepScheme, step_reward

COLUMNS = (
    Column("play", "play"),
    Column("does", "what it does"),
    Column("points", "points", "number", "the simple scheme: each action by itself"),
    Column("strict", "points, strict", "number", "the same, with every reload charged"),
    Column("reward", "reward", "number", "success less cost and what else is charged"),
    Column("success", "success", "share"),
    Column("cost", "cost", "share", "of keeping everything"),
    Column("actions", "actions", "count"),
    Column("says", "so"),
)


def hacking_table() -> Table:
    """Return each play with what both schemes make of it. A play deceives where it has more points than decent behaviour, and less reward than doing nothing."""
    unit = yardstick()
    outcomes = {name: play(player) for name, (_, player) in PLAYS.items()}
    points = {name: step_reward(outcome).total for name, outcome in outcomes.items()}
    strict = {name: step_reward(outcome, StepScheme(all_reloads=True)).total for name, outcome in outcomes.items()}
    rewards: dict[str, Reward] = {name: reward(outcome, unit) for name, outcome in outcomes.items()}
    kept, tidied = rewards["keep"].total, points["tidy"]
    rows: list[dict[str, Cell]] = [
        {
            "play": name,
            "does": PLAYS[name][0],
            "points": points[name],
            "strict": strict[name],
            "reward": rewards[name].total,
            "success": rewards[name].success,
            "cost": outcome.usd / unit.keep_all_usd,
            "actions": len(outcome.actions),
            "says": "deceives the points" if points[name] > tidied and rewards[name].total < kept else "",
        }
        for name, outcome in outcomes.items()
    ]
    return Table(
        "hacking",
        "What a reward for each step pays for",
        COLUMNS,
        tuple(rows),
        f"a hand-made story of {STEPS} requests, not a tier · n = 1, nothing is drawn",
        "More points than decent behaviour for less than doing nothing is worth: what is scored is that something was done, not what the work came to.",
        frozenset(n for n, row in enumerate(rows) if row["says"]),
    )
