"""Sentences bear what their figures bear: nothing is claimed of an interval that holds zero."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.bench_rows import row, rows_of
from trimtab.lab.bench.row import Judged
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.arm_tables import prices_table, units_table
from trimtab.lab.report.bearing import says, side
from trimtab.lab.report.evidence import blocks_of
from trimtab.lab.report.table import Table
from trimtab.lab.report.training import path_table
from trimtab.lab.report.words import PAID, SUCCEEDED, against, difference, gate, summary, under_bounds

LESS, MORE, AROUND = Interval(-0.12, -0.15, -0.09), Interval(0.2, 0.1, 0.3), Interval(0.01, -0.1, 0.12)


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (LESS, "it costs less (−12.0 % [−15.0, −9.0])"),
        (MORE, "it costs more (+20.0 % [+10.0, +30.0])"),
        (AROUND, "whether it costs less or more isn't shown (+1.0 % [−10.0, +12.0])"),
        (Interval(0.003, -0.011, 0.009), "cost is equal within 1.1 % (+0.3 % [−1.1, +0.9])"),
        (Interval(0.0, 0.0, 0.0), "cost is equal (0.0 % [0.0, 0.0])"),
        (Interval(-0.5, math.nan, math.nan), "whether it costs less or more isn't known of so few (−50.0 % [–])"),
        (
            Interval(math.nan, math.nan, math.nan),
            "whether it costs less or more isn't known: no story was played by both",
        ),
    ],
)
def test_a_difference_of_cost_in_words(found: Interval, sentence: str) -> None:
    assert difference(found, "change", PAID) == sentence


def test_a_difference_of_success_is_told_in_points() -> None:
    near = Interval(0.003, -0.005, 0.011)
    assert difference(near, "points", SUCCEEDED) == "success is equal within 1.1 points (+0.3 points [−0.5, +1.1])"
    assert difference(MORE, "points", SUCCEEDED) == "it succeeds more often (+20.0 points [+10.0, +30.0])"


def test_what_holds_under_every_bound_is_said_to() -> None:
    found = {"optimistic": LESS, "pessimistic": Interval(-0.1, -0.2, -0.05)}
    assert under_bounds(found, "change", PAID) == (
        "it costs less under every bound (optimistic −12.0 % [−15.0, −9.0]; pessimistic −10.0 % [−20.0, −5.0])"
    )


@pytest.mark.parametrize(
    ("other", "words"), [(MORE, "hangs on the bound"), (AROUND, "hangs on the bound"), (LESS, "under every bound")]
)
def test_what_hangs_on_the_bound_is_not_claimed(other: Interval, words: str) -> None:
    assert words in under_bounds({"optimistic": LESS, "pessimistic": other}, "change", PAID)


@given(st.tuples(*[st.floats(-2, 2)] * 3))
def test_a_sentence_claims_a_side_only_where_both_ends_are_told_on_it(ends: tuple[float, ...]) -> None:
    low, value, high = sorted(ends)
    found = Interval(value, low, high)
    sentence = difference(found, "change", PAID)
    assert sentence.startswith("it costs less") == (round(100 * high, 1) < 0 and high <= -0.0005)
    assert sentence.startswith("it costs more") == (round(100 * low, 1) > 0 and low >= 0.0005)
    assert says(found) == {1: "better", -1: "worse", 0: "not shown"}[side(found)]


@pytest.mark.parametrize(
    ("gains", "words"),
    [
        ({"quarter": MORE, "tenth": MORE}, "`rl` clears it, being above `rules` at 2 of 2"),
        ({"quarter": MORE, "tenth": AROUND}, "`rl` doesn't clear it, being above `rules` at 1 of 2"),
        ({"tenth": MORE}, "`rl` doesn't clear it, being above `rules` at 1 of 1"),
    ],
)
def test_the_gate_takes_two_prices(gains: dict[str, Interval], words: str) -> None:
    assert words in gate(gains, "rl", "rules")


@pytest.mark.parametrize(("part", "judged"), [("test", True), ("real", False), ("validation", False)])
def test_the_gate_is_judged_by_no_part_that_is_looked_at_on_the_way(part: str, judged: bool) -> None:
    rows = [*rows_of("T0", part), *(rows_of("T0", "validation") if part != "validation" else ())]
    none = Table("none", "None", (), ())
    said = {one.about: " ".join(one.lines) for one in summary(blocks_of(rows), none, none, none)}
    assert "costs less" in said[f"T0 · {part}"]
    assert ("The gate for a default, a reward above the best rule" in said[f"T0 · {part}"]) is judged


@pytest.mark.parametrize(
    ("stories", "seeds", "lacks"),
    [
        (3, 1, "there are 3 stories, and a claim takes 5"),
        (6, 1, "there is 1 seed, and a claim takes 5"),
        (3, 5, ""),
    ],
)
def test_of_too_few_nothing_is_claimed_in_any_sentence_however_narrow_its_interval(
    stories: int, seeds: int, lacks: str
) -> None:
    none = Table("none", "None", (), ())
    blocks = blocks_of(tuple(rows_of("T0", "test", stories=stories, seeds=range(seeds), steps=12)))
    said = [against(blocks[0], "rules", blocks[0].base or "none")]
    assert (f"nothing is claimed: {lacks}." in said[0]) is bool(lacks)
    said += [line for one in summary(blocks, none, none, none) for line in one.lines]
    claims = [line for line in said if re.search(r"it costs|it succeeds|above in|below in", line)]
    assert bool(claims) is not bool(lacks)


@pytest.mark.parametrize(("tier", "success", "told"), [("T2", 0.0, False), ("T2", 0.2, True), ("T0", 0.0, True)])
def test_live_work_that_never_came_to_its_end_is_no_measure_of_cost(tier: str, success: float, told: bool) -> None:
    rows = [
        row(
            arm,
            kind,
            f"s{n}",
            seed=n % 5,
            tier=tier,
            part="live",
            family=f"f{n % 3}",
            judged={"expected": Judged(came, usd, came)},
        )  # type: ignore[arg-type]
        for n in range(15)
        for arm, kind, came, usd in (("none", "keep", success, 0.1), ("rules", "rule", 0.7, 0.4))
    ]
    (block,) = blocks_of(rows)
    said = against(block, "rules", "none")
    assert ("it costs more" in said) is told
    assert ("nothing is said of cost, since no work of `none` came to its end" in said) is not told


def test_by_prices_and_in_the_path_too_few_stories_show_nothing() -> None:
    """One story in each family: each draw within families is the same, and the interval would have no width."""
    rows = [
        row(arm, kind, f"s{n}", seed=n, family=f"f{n}", judged={"expected": Judged(success, 1 - success, success)})  # type: ignore[arg-type]
        for n in range(6)
        for arm, kind, success in (("none", "keep", 0.4), ("summary", "rule", 0.6), ("rules", "rule", 0.5))
    ]
    (block,) = blocks_of(rows)
    told = [
        *prices_table(block, "summary", "none").rows,
        *path_table(block).rows,
        *units_table(block, "summary", "none").rows,
    ]
    assert {str(line["says"]) for line in told if "says" in line} == {"too few"}
    assert "`summary` beside keeping everything (`none`): nothing is claimed: each family has one story" in against(
        block, "summary", "none"
    )
