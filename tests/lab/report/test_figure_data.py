"""The data of plots: fronts, sweeps, curves, regret, bounds."""

import pytest

from support.bench_rows import row
from trimtab.lab.bench.row import Judged
from trimtab.lab.report.evidence import Block, blocks_of
from trimtab.lab.report.figure_data import (
    bounds_table,
    curves_table,
    noticed_table,
    pareto_points,
    pareto_table,
    regret_table,
    weights_table,
)
from trimtab.lab.rewards.pareto import COST_WEIGHTS


def test_a_sweep_over_weights_moves_the_reward_by_the_weight_of_cost_alone() -> None:
    rows = [row("a", judged={"expected": Judged(0.9, 2.0, 0.5)}, keep_all_usd=4.0)]
    (block,) = blocks_of(rows)
    # .5 + (.35 − λ) · 2/4
    assert {w: pareto_points(block, w)[0].reward for w in (0.0, 0.35, 1.0)} == pytest.approx(
        {0.0: 0.675, 0.35: 0.5, 1.0: 0.175}
    )


def test_the_front_has_no_arm_that_knows_the_future(blocks: dict[str, Block]) -> None:
    by_arm = {line["arm"]: line["front"] for line in pareto_table(blocks["t0-test"]).rows}
    assert by_arm["clairvoyant"] == "bound"
    assert by_arm["rl"] == "yes"
    assert by_arm["none"] == by_arm["mask(last=10)"] == "no"


def test_each_weight_names_the_best_of_all_rivals(blocks: dict[str, Block]) -> None:
    rows = weights_table(blocks["t0-test"]).rows
    assert {line["weight"] for line in rows} == set(COST_WEIGHTS)
    assert {line["best"] for line in rows} <= {"rl", "supervised"}


def test_a_curve_is_the_median_and_the_middle_half_of_the_stories_that_came_so_far() -> None:
    curves = [(10, 20), (20, 30), (30, 40), (40,)]
    (block,) = blocks_of([row("none", story=str(n), curve=curve) for n, curve in enumerate(curves)])
    assert curves_table(block).rows == (
        {"arm": "none", "step": 1, "median": 25.0, "low": 17.5, "high": 32.5, "n": 4},
        {"arm": "none", "step": 2, "median": 30.0, "low": 25.0, "high": 35.0, "n": 3},
    )


def test_where_only_bounds_were_played_no_rival_is_best() -> None:
    (block,) = blocks_of([row("clairvoyant", "bound")])
    assert {line["best"] for line in weights_table(block).rows} <= {None}


def test_a_curve_ends_where_few_stories_are_left() -> None:
    curves = [(1,) * 5, *[(1,)] * 9]
    (block,) = blocks_of([row("none", story=str(n), curve=curve) for n, curve in enumerate(curves)])
    assert [line["step"] for line in curves_table(block).rows] == [1]


def test_regret_is_what_lacks_to_the_clairvoyant_arm_and_says_how_much_of_the_gap_is_closed() -> None:
    worth = {"none": ("keep", 0.2), "rules": ("rule", 0.5), "clairvoyant": ("bound", 0.8)}
    rows = [row(arm, kind, judged={"expected": Judged(0.5, 1.0, value)}) for arm, (kind, value) in worth.items()]  # type: ignore[arg-type]
    (block,) = blocks_of(rows)
    told = [(line["arm"], line["regret"].value, line["gap"]) for line in regret_table(block).rows]  # type: ignore[union-attr]
    assert told == [("rules", pytest.approx(0.3), pytest.approx(0.5)), ("none", pytest.approx(0.6), 0.0)]


def test_without_an_arm_that_knows_the_future_the_regret_says_so() -> None:
    (block,) = blocks_of([row("none")])
    assert regret_table(block).missing == "No arm that knows the future has played here."


def test_a_replay_is_told_from_bound_to_bound(blocks: dict[str, Block]) -> None:
    lines = bounds_table(blocks["t1-eval-tenth"]).rows
    assert len(lines) == 13
    assert all(line["cost_low"] < line["cost_high"] for line in lines)  # type: ignore[operator]
    assert all(line["success_low"] < line["success_high"] for line in lines)  # type: ignore[operator]
    assert "aren't judged" in bounds_table(blocks["t0-test"]).missing


def test_success_by_the_chance_that_a_stub_is_noticed_is_in_the_order_of_chances(blocks: dict[str, Block]) -> None:
    mine = [line for line in noticed_table(blocks["t0-test"]).rows if line["arm"] == "rl"]
    assert [line["chance"] for line in mine] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert mine[0]["success"] < mine[-1]["success"]  # type: ignore[operator]


def test_rows_without_other_chances_are_told(found) -> None:
    (block,) = blocks_of([row("none")])
    assert noticed_table(block).missing == "No row says what other chances would come to."


def test_regret_is_told_where_the_arm_that_knows_the_future_played_whatever_chose_the_others() -> None:
    judged = {"expected": Judged(0.5, 1.0, 0.15)}
    rows = [row("rules", "rule", part="validation", judged=judged)]
    rows += [row(arm, kind, part="real", judged=judged) for arm, kind in (("rules", "rule"), ("clairvoyant", "bound"))]  # type: ignore[arg-type]
    real = next(block for block in blocks_of(rows) if block.part == "real")
    assert real.chosen_on is not None
    assert [line["arm"] for line in regret_table(real).rows] == ["rules"]
