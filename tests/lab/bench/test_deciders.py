"""Who decided: decisions that were left to the rules are counted where they are made, and told wherever the arm's figures are."""

import json

import msgspec
import pytest

from support.made_rows import made_row
from support.stories import small_task
from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights, write_weights
from trimtab.lab.arms.playing import Conditions, Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.deciders import left_of
from trimtab.lab.bench.findings import Findings
from trimtab.lab.bench.measuring import Origin, row_of
from trimtab.lab.bench.row import Row
from trimtab.lab.env.facts import Decided
from trimtab.lab.env.story import task_story
from trimtab.lab.live.play import play_live
from trimtab.lab.live.registry import Size
from trimtab.lab.report.evidence import blocks_of
from trimtab.lab.report.reading import Found
from trimtab.lab.report.sections import report_of
from trimtab.lab.report.table import Table as Shown
from trimtab.lab.report.words import summary

WHOLE, ITEM = len(WHOLE_FEATURES), len(ITEM_FEATURES) + len(WHOLE_FEATURES)
ANYTHING = {"low": (-MOST,) * ITEM, "high": (MOST,) * ITEM}
NOTHING = {"low": (MOST,) * ITEM, "high": (2 * MOST,) * ITEM}


def _linear(inputs: int, names: tuple[str, ...], likely: str) -> Network:
    biases = tuple(3.0 if name == likely else -9.0 for name in names)
    return Network((Dense(((0.0,) * inputs,) * len(names), biases),), (0.0,) * inputs, (1.0,) * inputs)


@pytest.fixture(params=["in range", "out of range"])
def learned(request, tmp_path) -> tuple[str, float]:
    """A learned arm that would elide whatever there is, and the share of its decisions that is for the rules."""
    inside = request.param == "in range"
    made = Weights(
        schema=SCHEMA,
        kind="choices",
        item=_linear(ITEM, ITEM_OPS, "elide"),
        gate=_linear(WHOLE + len(ITEM_FEATURES), WHOLE_OPS, "none"),
        ops=ITEM_OPS,
        whole_ops=WHOLE_OPS,
        **(ANYTHING if inside else NOTHING),  # type: ignore[arg-type]
    )
    file = tmp_path / "w.json"
    file.write_bytes(write_weights(made))
    return f"learned(weights={str(file)!r}, margin=0)", 0.0 if inside else 1.0


def _told(row: Row) -> Row:
    """The row, as it comes back from disk."""
    return msgspec.json.decode(msgspec.json.encode(row), type=Row)


@pytest.mark.parametrize("around", ["", "cost-gate:"])
def test_an_arm_is_out_of_range_in_a_task_and_the_share_of_the_rules_is_all_and_in_range_none(learned, around):
    spec, share = learned
    arm = find_arm(around + spec)
    played = Table(Conditions(8_000)).play(task_story(small_task()), arm)
    found = left_of(arm.spec, [_told(row_of(played, arm, Origin("a", "train", "reading", task=small_task())))])
    assert found.decisions == played.decisions > 0
    assert (found.share, found.uncounted) == (share, 0)


def test_an_arm_is_out_of_range_in_live_work_and_the_share_of_the_rules_is_all_and_in_range_none(learned):
    spec, share = learned
    size = Size(steps=(9, 12), tokens=(250, 600))
    row = play_live(f"cost-gate:{spec}", "superseded-limit", 1, Conditions(6_000), 0, size=size)
    found = left_of(spec, [_told(row)])
    assert row.tier == "T2"
    assert found.decisions > 0
    assert found.share == share


def _rows(decided: Decided | None, *, tier: str = "T0", part: str = "test", arm: str = "rl") -> list[Row]:
    """A learned arm that is far above a rule, of five stories in each of two families at two prices."""
    return [
        made_row(
            name,
            family,
            number,
            kind=kind,
            tier=tier,
            part=part,
            seed=number,
            regime=regime,
            story=f"{family}-{number}-{regime}",
            slot=f"{family}-{number}",
            success=success + 0.01 * number,
            decided=decided if name == arm else Decided(9, 0),
        )
        for name, kind, success in (("none", "keep", 0.2), ("rules", "rule", 0.5), (arm, "learned", 0.8))
        for family in ("sales", "restock")
        for number in range(5)
        for regime in ("tenth", "uncached")
    ]


def test_tables_and_files_say_with_their_tier_that_mostly_the_rules_decided():
    found = Findings(_rows(Decided(59, 59), tier="T2", part="live"), ("none", "rules", "rl"), "rules")
    (table,) = [one for one in found.shown(0) if one.title == "Efficiency"]
    place = table.lines[0].index("FALLBACK")
    assert [line[place] for line in table.lines[1:]] == ["0.00", "0.00", "1.00"]
    assert table.notes == (
        "Decisions left to the rules: rl 1,180 of 1,180 (100%).",
        "Mostly the rules decided in place of rl: those figures are the rules' rather than its own.",
    )
    data = json.loads(dict(found.files())["bench.json"])
    assert [(one["tier"], one["arm"], one["share"], one["says"]) for one in data["deciders"]] == [
        ("T2", "none", 0.0, ""),
        ("T2", "rules", 0.0, ""),
        ("T2", "rl", 1.0, "mostly the rules decided"),
    ]
    assert b"mostly the rules decided" in dict(found.files())["deciders.csv"]


def test_rows_that_do_not_say_who_decided_are_read_and_it_is_said_that_nobody_knows():
    old = msgspec.json.decode(msgspec.json.encode(made_row("rl")))
    del old["decided"]
    row = msgspec.convert(old, Row)
    found = left_of("rl", [row])
    assert (found.share, found.says) == (None, "not known")
    notes = next(one for one in Findings([row], ("rl",), "rl").shown(0) if one.title == "Efficiency").notes
    assert notes == (
        "How many decisions were left to the rules isn't known for any arm: rows of an older version don't say.",
    )


@pytest.mark.parametrize("left", [-1, 10])
def test_a_row_with_more_decisions_left_than_made_is_damaged(left):
    data = msgspec.json.encode(made_row("rl")).replace(b'"decided":null', b'"decided":{"decisions":9,"left":%d}' % left)
    with pytest.raises(msgspec.ValidationError, match="left to the rules"):
        msgspec.json.decode(data, type=Row)


def _gate(rows: list[Row]) -> str:
    none = Shown("none", "None", (), ())
    said = [line for one in summary(blocks_of(rows, "rl"), none, none, none) for line in one.lines]
    return " ".join(line for line in said if line.startswith("The gate"))


@pytest.mark.parametrize("left", [0, 5])
def test_an_arm_that_makes_half_of_its_decisions_itself_may_clear_the_gate_for_a_default(left):
    assert "`rl` clears it" in _gate(_rows(Decided(10, left)))


@pytest.mark.parametrize("tier", ["T0", "T2"])
def test_an_arm_in_whose_place_the_rules_decided_mostly_in_any_tier_becomes_no_default(tier):
    bad = Decided(10, 6)
    rows = _rows(bad) if tier == "T0" else [*_rows(Decided(10, 0)), *_rows(bad, tier="T2", part="live")]
    said = _gate(rows)
    assert "`rl` is refused, since mostly the rules decided in its place (" in said
    assert f"{tier} · {'test' if tier == 'T0' else 'live'} 120 of 200 (60%)" in said
    assert "clears it" not in said


def test_the_gate_says_when_nobody_counted_who_decided():
    said = _gate(_rows(None))
    assert "`rl` clears it" in said
    assert "How many of its decisions were left to the rules isn't known (T0 · test)" in said


def test_the_page_says_in_a_line_of_each_block_whose_decisions_were_the_rules():
    report = report_of(Found(tuple(_rows(Decided(10, 6), tier="T2", part="live"))))
    (section,) = [one for one in report.sections if one.anchor == "t2-live"]
    assert "Decisions left to the rules: rl 120 of 200 (60%)." in section.lines
    assert any(line.startswith("Mostly the rules decided in place of rl") for line in section.lines)
