"""The tables of arms, of prices and projects, of the path and the ablation, and of plays that deceive."""

from support.bench_rows import ablation, row, rows_of
from trimtab.lab.bench.steps import with_arms
from trimtab.lab.report.arm_tables import arm_tables, prices_table, units_table
from trimtab.lab.report.evidence import Block, blocks_of
from trimtab.lab.report.hacking import hacking_table
from trimtab.lab.report.training import ablation_table, path_table
from trimtab.lab.report.words import ablated

WALK = with_arms({"supervised": "supervised", "rl": "rl"})


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


def test_of_few_stories_the_page_says_so_in_place_of_a_verdict() -> None:
    (block,) = blocks_of([one for one in rows_of(stories=4, seeds=(0,)) if one.part == "test"])
    effect, _, _ = arm_tables(block)
    assert {line["verdict"] for line in effect.rows if "verdict" in line} == {"too few"}


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
    rows = {str(line["step"]): line for line in path_table(blocks["t0-test"], WALK).rows}
    assert list(rows) == ["fixed summary", "occupancy rule", "logs", "supervised", "RL"]
    assert [line["before"] for line in rows.values()] == [None, "summary", "rules", "break-even", "supervised"]
    assert rows["supervised"]["says"] == "better"
    assert rows["RL"]["says"] == "not shown"


def test_a_step_that_nobody_played_is_said_to_be_missing() -> None:
    (block,) = blocks_of([row("summary", "rule"), row("rl", "learned")])
    rows = {str(line["step"]): line for line in path_table(block, WALK[:2] + WALK[-2:]).rows}
    assert rows["occupancy rule"]["note"] == "missing: no occupancy or rules was played"
    assert rows["supervised"]["note"] == "missing: no supervised was played"
    assert rows["RL"]["before"] == "summary"


def test_a_step_that_nobody_named_says_how_to() -> None:
    (block,) = blocks_of([row("summary", "rule")])
    rows = {str(line["step"]): line for line in path_table(block).rows}
    assert rows["RL"]["note"] == "missing: nobody said which arm it is (--step rl=ARM)"


def test_each_variant_is_told_beside_the_clone_that_it_began_with() -> None:
    table = ablation_table(ablation())
    told = [(line["variant"], line["branching"], line["says"]) for line in table.rows]
    assert told[:3] == [("break-even", None, "reference"), ("clone", None, "reference"), ("traj", "none", "not shown")]
    assert told[-1] == ("parent", "random", "worse")
    assert table.scope == "T0 · validation, tasks that chose nothing · 5 seeds · n = 24 tasks a run"


def test_a_variant_is_said_to_differ_only_where_its_interval_does() -> None:
    (line,) = ablated(ablation_table(ablation()))
    assert "`parent` branching random (−0.035 [−0.050, −0.020]): below it." in line
    assert "`snapshot` branching random (+0.006 [−0.009, +0.021]): not shown to differ" in line


def test_without_runs_the_ablation_says_so() -> None:
    assert ablation_table([]).missing == "No ablation.json of `trimtab train` lies in these folders."


def test_the_plays_that_deceive_have_more_points_than_decency_and_less_reward_than_nothing() -> None:
    rows = {str(line["play"]): line for line in hacking_table().rows}
    deceiving = [name for name, line in rows.items() if line["says"]]
    assert deceiving == ["loop", "loop-with-summaries", "spam"]
    assert rows["tidy"]["reward"] > rows["keep"]["reward"]  # type: ignore[operator]
