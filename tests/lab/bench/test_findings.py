"""Findings: tables for people, and the same numbers in files."""

import csv
import io
import json

import pytest

from support.made_rows import made_row
from trimtab.lab.bench.findings import Findings
from trimtab.lab.bench.grounds import TAKES
from trimtab.lab.bench.tables import sizes

ARMS = ("none", "mask", "rules")


def rows(**more):
    return [
        made_row(
            arm,
            family,
            number,
            success=success + 0.01 * number,
            tokens=(tokens, tokens),
            actions={"elide": 2},
            **{"seed": number, **more},
        )
        for arm, success, tokens in (("none", 0.9, 1_000), ("mask", 0.5, 400), ("rules", 0.7, 600))
        for family in ("sales", "restock")
        for number in range(5)
    ]


@pytest.fixture(scope="module")
def findings() -> Findings:
    return Findings(rows(), ARMS, "rules", by_project=True)


@pytest.fixture(scope="module")
def shown(findings) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {table.title: table.lines for table in findings.shown(0)}


def test_the_tables_come_in_the_order_of_what_they_are_about(shown):
    assert list(shown) == [
        "Effect",
        "Efficiency",
        "Quality of edits",
        "Against rules",
        "Success by the chance that a stub is noticed",
        "Edits by kind, in all stories",
        "The path: each step against the one before",
        "By family, by reward",
    ]


def test_success_stands_with_its_interval_and_each_arm_with_its_verdicts(shown):
    head, *lines = shown["Effect"]
    assert head == ("ARM", "SUCCESS", "REWARD", "VERDICT", "AS SENT")
    assert [line[0] for line in lines] == list(ARMS)
    assert lines[1][1].startswith("0.52 [0.5")
    assert [line[3:] for line in lines] == [
        ("not managing", "not managing"),
        ("over-compressed", "over-compressed"),
        ("over-compressed", "over-compressed"),
    ]


def test_of_few_stories_tables_and_files_say_so_in_place_of_a_verdict():
    few = Findings([row for row in rows() if row.slot.endswith(("0", "1"))], ARMS, "rules")
    effect = next(few.shown(0))
    assert [line[3:] for line in effect.lines[1:]] == [("too few", "too few")] * 3
    assert effect.legend[-1] == TAKES.replace("`", "")
    files = dict(few.files())
    read = list(csv.DictReader(io.StringIO(files["verdicts.csv"].decode())))
    assert {(one["verdict"], one["as_sent"]) for one in (*json.loads(files["bench.json"])["verdicts"], *read)} == {
        ("too few", "too few")
    }


def test_of_one_story_a_family_no_interval_is_known_wherever_it_would_stand():
    one = Findings(
        [made_row(arm, f"f{n}", 0, seed=n % 5, success=0.1 * n) for arm in ARMS for n in range(6)],
        ARMS,
        "rules",
        by_project=True,
    )
    tables = {table.title: table.lines for table in one.shown(0)}
    assert tables["Effect"][2][1] == "0.25 [–]"
    assert tables["Against rules"][2][1:4] == ("+0.00 [–]", "+0.00 [–]", "×1.00 [–]")
    for name in ("figures", "differences", "noticed", "projects"):
        assert {(line["low"], line["high"]) for line in one.records()[name]} == {(None, None)}, name
    assert {line["stand"] for line in one.records()["projects"]} == {"not judged against"}


def test_what_nobody_measured_has_no_column(shown):
    assert "ANSWERS" not in shown["Effect"][0]
    assert "FIELDS" not in shown["Quality of edits"][0]


def test_differences_carry_their_sign_and_tokens_their_ratio(shown):
    head, none, mask = shown["Against rules"]
    assert head == ("ARM", "SUCCESS", "COST", "TOKENS", "REWARD")
    assert mask == (
        "mask",
        "-0.20 [-0.20, -0.20]",
        "+0.00 [+0.00, +0.00]",
        "×0.67 [0.67, 0.67]",
        "-0.20 [-0.20, -0.20]",
    )
    assert none[1].startswith("+0.20")


def test_a_step_that_is_missing_is_said(findings):
    (path,) = [table for table in findings.shown(0) if table.title.startswith("The path")]
    assert [line[:3] for line in path.lines[1:]] == [("occupancy rule", "rules", "-")], (
        "there is nothing to hold it against"
    )
    assert path.notes[0].startswith("Missing: fixed summary (no summary was played); logs (no break-even")


def test_claims_are_sentences(findings):
    (claims,) = [table for table in findings.shown(0) if table.title.startswith("By family")]
    assert "mask is below rules in restock, sales." in claims.notes


def test_how_much_it_rests_on_is_in_the_heading(findings):
    assert sizes(findings.sections[0]) == "2 families, 10 tasks, 5 seeds: 10 stories under every arm"


def test_of_recordings_two_ends_are_shown():
    recorded = Findings(rows(tier="T1", part="eval", project="p"), ARMS, "rules")
    tables = {table.title: table.lines for table in recorded.shown(0)}
    assert tables["Effect"][2][1] == "0.52–0.52"
    assert tables["Against rules"][0][1:5] == (
        "SUCCESS (fails)",
        "SUCCESS (optimistic)",
        "COST (optimistic)",
        "COST (pessimistic)",
    )
    assert sizes(recorded.sections[0]).startswith("1 project, ")


def test_of_live_work_what_happened_is_shown_and_no_chance_is_swept():
    """It is measured, so it has one reading: something noticed a stub, or didn't."""
    live = Findings(rows(tier="T2", noticed={}), ARMS, "rules")
    assert live.sections[0].key.title == "T2 validation"
    titles = [table.title for table in live.shown(0)]
    assert titles == [
        "Effect",
        "Efficiency",
        "Quality of edits",
        "Against rules",
        "Edits by kind, in all stories",
        "The path: each step against the one before",
    ]
    assert "noticed" not in live.records()


def test_every_number_that_is_written_says_its_tier_part_and_prices(findings):
    for name, records in findings.records().items():
        for record in records:
            assert (record["tier"], record["part"], record["prices"], record["stories"]) == (
                "T0",
                "validation",
                "",
                10,
            ), name


def test_files_hold_the_same_numbers_as_one_object_and_as_tables(findings):
    files = dict(findings.files())
    assert set(files) == {
        "bench.json",
        *(
            f"{name}.csv"
            for name in (
                "figures",
                "differences",
                "verdicts",
                "deciders",
                "noticed",
                "actions",
                "path",
                "projects",
            )
        ),
    }
    whole = json.loads(files["bench.json"])
    assert (whole["arms"], whole["against"], whole["sections"][0]["stories"]) == (list(ARMS), "rules", 10)
    read = list(csv.DictReader(io.StringIO(files["differences.csv"].decode())))
    assert [(one["arm"], one["figure"], one["value"]) for one in read] == [
        (one["arm"], one["figure"], str(one["value"])) for one in whole["differences"]
    ]


def test_a_number_that_isnt_one_is_empty_in_a_table_and_null_in_json(findings):
    (record,) = [r for r in findings.records()["figures"] if (r["arm"], r["figure"]) == ("mask", "FIELDS")]
    assert (record["value"], record["low"]) == (None, None)
    assert b",FIELDS,expected,,," in dict(findings.files())["figures.csv"]


def test_of_one_arm_there_is_nothing_to_compare():
    titles = [table.title for table in Findings(rows(), ("mask",), "mask").shown(0)]
    assert not [title for title in titles if "Against" in title or "path" in title]
