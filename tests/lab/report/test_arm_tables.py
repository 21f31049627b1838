"""The tables of arms, of prices and projects, of the path and the ablation, and of plays that deceive."""

import pytest

from support.bench_rows import row
from trimtab.lab.report.arm_tables import arm_tables, prices_table, units_table
from trimtab.lab.report.evidence import Block, blocks_of
from trimtab.lab.report.hacking import hacking_table
from trimtab.lab.report.reading import AblationRow
from trimtab.lab.report.training import ablation_table, path_table


def test_arms_stand_in_the_order_of_their_reward_and_the_chosen_one_is_marked(blocks: dict[str, Block]) -> None:
    effect, efficiency, quality = arm_tables(blocks["t0-test"])
    arms = [line["arm"] for line in effect.rows]
    assert (arms[0], arms[-1]) == ("clairvoyant", "mask(last=10)")
    assert {arms[number] for number in effect.marks} == {blocks["t0-test"].champion("learned")}
    assert [table.title for table in (effect, efficiency, quality)] == ["Effect", "Efficiency", "Edit quality"]
    assert {table.scope for table in (effect, efficiency, quality)} == {blocks["t0-test"].scope}


def test_a_verdict_is_the_benchs_and_none_is_given_on_what_is_no_rival(blocks: dict[str, Block]) -> None:
    effect, _, _ = arm_tables(blocks["t0-test"])
    verdicts = {line["arm"]: line.get("verdict") for line in effect.rows}
    assert verdicts["rl"] == "good"
    assert verdicts["truncate"] == "over-compressed"
    assert verdicts["none"] is None
    assert verdicts["clairvoyant"] is None


def test_of_a_replay_what_hangs_on_the_bound_has_a_column_for_each(blocks: dict[str, Block]) -> None:
    effect, efficiency, _ = arm_tables(blocks["t1-eval-tenth"])
    assert {"success_fails", "success_optimistic"} <= {column.key for column in effect.columns}
    assert {"cost_optimistic", "cost_pessimistic"} <= {column.key for column in efficiency.columns}


def test_two_arms_are_compared_at_each_kind_of_prices(blocks: dict[str, Block]) -> None:
    rows = prices_table(blocks["t0-test"], "rl", "rules").rows
    assert [(line["prices"], line["says"]) for line in rows] == [("quarter", "better"), ("tenth", "better")]
    assert prices_table(blocks["t0-test"], None, "rules").missing.startswith("No two arms")


def test_each_family_is_told_with_what_the_others_would_have_chosen(blocks: dict[str, Block]) -> None:
    rows = units_table(blocks["t0-test"], "rl", "rules").rows
    assert {line["family"] for line in rows} == {"dependency", "restock", "continuation"}
    assert {line["says"] for line in rows if line["arm"] == "rl"} == {"above"}
    chosen = [(line["family"], line["arm"]) for line in rows if line["chosen"] == "yes"]
    assert len(chosen) == 3


def test_one_family_alone_can_not_be_left_out() -> None:
    (block,) = blocks_of([row("rl", "learned"), row("rules", "rule")])
    assert units_table(block, "rl", "rules").missing == "There is one family only, so nothing can be left out."


def test_each_step_of_the_path_is_held_against_the_last_that_played(blocks: dict[str, Block]) -> None:
    rows = {str(line["step"]): line for line in path_table(blocks["t0-test"]).rows}
    assert list(rows) == ["fixed summary", "occupancy rule", "logs", "supervised", "RL"]
    assert [line["before"] for line in rows.values()] == [None, "summary", "rules", "break-even", "supervised"]
    assert rows["supervised"]["says"] == "better"
    assert rows["RL"]["says"] == "not shown"


def test_a_step_that_nobody_played_is_said_to_be_missing() -> None:
    (block,) = blocks_of([row("summary", "rule"), row("rl", "learned")])
    rows = {str(line["step"]): line for line in path_table(block).rows}
    assert rows["supervised"]["note"] == "missing: no supervised was played"
    assert rows["RL"]["before"] == "summary"


def runs(variant: str, branching: str, *rewards: float) -> list[AblationRow]:
    return [
        AblationRow(variant=variant, branching=branching, seed=seed, reward=reward, success=0.7, cost=0.7, episodes=10)
        for seed, reward in enumerate(rewards)
    ]


def test_an_ablation_is_held_against_trajectories_with_random_branch_points_seed_by_seed() -> None:
    rows = [*runs("snapshot", "context", 0.6, 0.71, 0.8), *runs("traj", "random", 0.4, 0.5, 0.6)]
    first, second = ablation_table(rows).rows
    assert (first["variant"], first["branching"], first["says"]) == ("traj", "random", "reference")
    assert second["change"].value == pytest.approx(0.2033, abs=1e-3)  # type: ignore[union-attr]
    assert (second["says"], second["seeds"]) == ("better", "0, 1, 2")
    assert ablation_table(rows).scope == "T0 · validation · 6 runs · n = 10 a run"


def test_one_seed_shows_nothing() -> None:
    rows = ablation_table([*runs("traj", "random", 0.4), *runs("parent", "random", 0.9)]).rows
    assert rows[1]["says"] == "no data"


def test_without_runs_the_ablation_says_so() -> None:
    assert ablation_table([]).missing == "No training run of an ablation lies in these folders."


def test_the_plays_that_deceive_have_more_points_than_decency_and_less_reward_than_nothing() -> None:
    rows = {str(line["play"]): line for line in hacking_table().rows}
    deceiving = [name for name, line in rows.items() if line["says"]]
    assert deceiving == ["loop", "loop-with-summaries", "spam"]
    assert rows["tidy"]["reward"] > rows["keep"]["reward"]  # type: ignore[operator]
