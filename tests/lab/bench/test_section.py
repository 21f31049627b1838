"""Sections: what may stand side by side, and what is said there."""

import math

import pytest
from msgspec import structs

from support.made_rows import made_row
from trimtab.lab.bench.figures import COST, FIGURES, REWARD, SUCCESS, TOKENS, met
from trimtab.lab.bench.row import Judged, Needs, Quality
from trimtab.lab.bench.section import Key, Section, Verdicts, sections_of
from trimtab.lab.env.facts import Decided

ARMS = ("none", "mask")
FAMILIES = ("sales", "restock")


def both(number: int, family: str = "sales", **masked):
    """A story under both arms. `masked`: of the second; where the story stands, of both."""
    place = {key: masked[key] for key in ("tier", "project", "seed", "story") if key in masked}
    return [made_row("none", family, number, **place), made_row("mask", family, number, **masked)]


def of(rows, arms=ARMS) -> Section:
    return Section(Key("T0", "validation"), arms, rows)


def test_tiers_parts_and_prices_of_recordings_are_never_mixed():
    recorded = {"tier": "T1", "part": "eval", "project": "p"}
    rows = [
        *both(0),
        made_row("mask", part="train"),
        made_row("mask", **recorded, regime="tenth"),
        made_row("mask", **recorded, regime="quarter"),
        made_row("mask", 1, regime="quarter"),
    ]
    found = [(section.key.title, section.stories) for section in sections_of(rows, ARMS)]
    assert found == [
        ("T0 train", 1),
        ("T0 validation", 1),
        ("T1 eval at quarter prices", 1),
        ("T1 eval at tenth prices", 1),
    ]


def test_stories_that_some_arm_did_not_play_are_left_out_and_counted():
    section = of([*both(0), made_row("none", number=1), made_row("mask", number=2)])
    assert (section.stories, section.left_out) == (1, 2)


def test_an_arm_that_played_nothing_there_is_no_arm_of_the_section():
    assert of([made_row("mask")], ("mask", "rules")).arms == ("mask",)
    assert sections_of([made_row("rules")], ("mask",)) == []


def test_rows_of_arms_stand_in_the_same_order_whatever_order_they_were_played_in():
    rows = [row for number in (2, 0, 1) for row in both(number)]
    section = of(list(reversed(rows)))
    assert (
        [r.story for r in section.rows["none"]]
        == [r.story for r in section.rows["mask"]]
        == [f"sales-{n}" for n in range(3)]
    )


def test_how_much_a_section_rests_on_is_counted():
    rows = [r for f in FAMILIES for n in range(3) for s in range(2) for r in both(n, f, seed=s, story=f"{f}-{n}-{s}")]
    rows += [made_row("none", f, n, seed=s, story=f"{f}-{n}-{s}") for f in FAMILIES for n in range(3) for s in range(2)]
    section = of(rows)
    assert (section.unit, section.units, section.tasks, section.seeds, section.stories) == (
        "family",
        ("restock", "sales"),
        6,
        2,
        12,
    )


def test_verdicts_are_about_these_families_even_where_one_of_three_lost_nothing():
    """Of three families one may be all that is drawn, so an interval over families reaches what that one came to."""
    rows = [
        row
        for family, success in (("a", 1.0), ("b", 0.2), ("c", 0.3))
        for number in range(6)
        for row in both(number, family, success=success, tokens=(400, 400), seed=number)
    ]
    section = of(rows)
    assert section.gain("mask", "none", SUCCESS, "expected").high == 0.0
    assert section.gain("mask", "none", SUCCESS, "expected", within=True).high < 0
    assert section.verdicts() == [
        Verdicts("none", "expected", "not managing", "not managing"),
        Verdicts("mask", "expected", "over-compressed", "over-compressed"),
    ]


def test_an_arm_that_beats_only_what_did_not_fit_is_good_as_sent_and_over_compressed_else():
    """Keeping everything fails where it doesn't fit; in a window that holds it, it would not have."""
    rows = [
        row
        for number in range(6)
        for row in (
            made_row("none", number=number, seed=number, success=0.0, extra={"met": 1.0}),
            made_row("mask", number=number, seed=number, success=0.4, tokens=(300, 300), extra={"met": 0.4}),
        )
    ]
    verdicts = {one.arm: (one.fitting, one.sent) for one in of(rows).verdicts()}
    assert verdicts == {"none": ("worse", "not managing"), "mask": ("over-compressed", "good")}


def test_without_keeping_everything_there_is_no_verdict():
    assert of([made_row("mask")], ("mask",)).verdicts() == []


@pytest.mark.parametrize(
    ("families", "tasks", "seeds", "lacks"),
    [
        (1, 4, 1, "there are 4 stories, and a claim takes 5"),
        (1, 1, 1, "there is 1 story, and a claim takes 5"),
        (9, 1, 1, "each family has one story, and a claim takes more in some"),
        (1, 5, 1, "there is 1 seed, and a claim takes 5"),
        (9, 1, 4, "there are 4 seeds, and a claim takes 5"),
        (1, 1, 5, ""),
        (2, 3, 5, ""),
    ],
)
def test_of_few_stories_of_few_seeds_and_of_one_story_in_each_family_nothing_is_claimed(families, tasks, seeds, lacks):
    rows = [
        row
        for family in "abcdefghi"[:families]
        for number in range(tasks)
        for seed in range(seeds)
        for row in (
            made_row("none", family, number, seed=seed),
            made_row("mask", family, number, seed=seed, success=0.2, tokens=(400, 400)),
        )
    ]
    section, said = of(rows), "too few" if lacks else "over-compressed"
    assert section.lacks == lacks
    assert section.verdicts()[1] == Verdicts("mask", "expected", said, said)
    for within in (False, True):
        known = [
            not math.isnan(found.low)
            for found in (
                section.figure("mask", SUCCESS, "expected", within=within),
                section.gain("mask", "none", SUCCESS, "expected", within=within),
                section.times("mask", "none", TOKENS, "expected", within=within),
            )
        ]
        assert known == [not lacks] * 3


def test_recordings_and_a_live_model_take_no_seeds():
    for tier in ("T1", "T3"):
        rows = [row for n in range(5) for row in both(n, tier=tier, project="p")]
        assert Section(Key(tier, "live"), ARMS, rows).lacks == ""


def test_a_part_of_a_section_shares_its_seeds():
    """Prices are drawn story by story, so those at one price may be of fewer seeds."""
    rows = [row for n in range(10) for row in both(n, seed=n % 5, story=f"s-{n}")]
    whole, some = of(rows), [row for row in rows if row.seed < 3]
    assert (of(some).lacks, Section(whole.key, ARMS, some, of=whole).lacks) == (
        "there are 3 seeds, and a claim takes 5",
        "",
    )


def test_of_a_recording_verdicts_are_given_at_both_ends():
    low, high = Judged(0.0, 1.0, 0.0), Judged(1.0, 1.0, 1.0)
    masked = {"expected": low, "fails": low, "optimistic": high, "pessimistic": high}
    rows = [
        row
        for number in range(5)
        for row in (
            made_row("none", number=number, tier="T1", project="p", extra={"met": 1.0, "met_fails": 1.0}),
            made_row("mask", number=number, tier="T1", project="p", tokens=(300, 300)),
        )
    ]
    rows = [structs.replace(row, judged=masked) if row.arm == "mask" else row for row in rows]
    section = Section(Key("T1", "eval", "tenth"), ARMS, rows)
    assert section.verdicts()[2:] == [
        Verdicts("mask", "fails", "over-compressed", "over-compressed"),
        Verdicts("mask", "optimistic", "good", "good"),
    ]


def test_a_section_of_some_families_has_only_their_stories():
    section = of([row for family in FAMILIES for row in both(0, family)])
    assert section.only(["sales"]).units == ("sales",)


def test_tokens_are_compared_as_a_ratio_and_all_else_as_a_difference():
    section = of([row for n in range(3) for row in both(n, success=0.5, usd=0.5, reward=0.2, tokens=(100, 300))])
    found = {
        figure.name: section.gain("mask", "none", figure, "expected").value
        for figure in (SUCCESS, COST, TOKENS, REWARD)
    }
    assert found == {"SUCCESS": -0.5, "COST": -0.5, "TOKENS": 0.2, "REWARD": pytest.approx(-0.8)}


FULL = {
    "tokens": (100, 300),
    "cached": 200,
    "edits": 4,
    "batches": 2,
    "forced": 1,
    "reloads": 1.5,
    "summaries": 1,
    "overflows": 1,
    "invalid": 1,
    "refused": 2,
    "decisions": 4,
    "policy_ms": 6.0,
    "decided": Decided(4, 1),
    "needs": Needs(5, 3, 2),
    "quality": Quality(hidden=8, hidden_needed=2, reread=4, fields=5, fields_kept=4),
    "extra": {
        "answers": 4.0,
        "answers_right": 3.0,
        "tools": 2.0,
        "tools_right": 1.5,
        "tools_sent": 2.0,
        "tools_seen": 1.0,
    },
}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SUCCESS", 0.6),
        ("ANSWERS", 0.75),
        ("TOOLS", 0.75),
        ("REWARD", 0.1),
        ("COST", 0.5),
        ("TOKENS", 200.0),
        ("PEAK", 300.0),
        ("CACHED", 0.5),
        ("EDITS", 4.0),
        ("BATCHES", 2.0),
        ("FORCED", 0.25),
        ("OVER", 1.0),
        ("RELOADS", 1.5),
        ("SUMMARIES", 1.0),
        ("REFUSED", 3.0),
        ("MS", 1.5),
        ("FALLBACK", 0.25),
        ("HIDDEN", 8.0),
        ("NEEDED", 0.25),
        ("REREAD", 0.5),
        ("FIELDS", 0.8),
        ("SEEN", 0.5),
        ("LOST", 0.2),
    ],
)
def test_a_figure_is_what_its_column_says(name, value):
    section = of([made_row("mask", success=0.6, reward=0.1, usd=1.0, keep_all_usd=2.0, **FULL)], ("mask",))
    figure = next(figure for figure in FIGURES if figure.name == name)
    assert section.figure("mask", figure, "expected").value == pytest.approx(value)


def test_calls_have_what_they_need_by_bound():
    tools = next(figure for figure in FIGURES if figure.name == "TOOLS")
    row = made_row("mask", **FULL)
    assert [tools.part(row, bound) for bound in ("fails", "expected", "optimistic")] == [
        (1.0, 2.0),
        (1.5, 2.0),
        (2.0, 2.0),
    ]


def test_as_if_it_fitted_a_fetched_need_is_met_and_one_that_isnt_fetched_fails():
    row = made_row("mask", success=0.0, extra={"met": 0.7, "met_fails": 0.0})
    assert [met(row, bound) for bound in ("expected", "fails", "optimistic", "pessimistic")] == [0.7, 0.0, 1.0, 1.0]
