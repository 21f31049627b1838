"""Tier T2: the scripted agent works in a real repository, under an arm."""

import pickle
from pathlib import Path

import msgspec
import pytest

from support.live_work import ROOMY, SHORT, TIGHT
from trimtab.agent.events import TurnReason
from trimtab.context.budget import budget_for
from trimtab.context.window.view import View
from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.row import Needs, Row
from trimtab.lab.executor import Here
from trimtab.lab.live import play as playing
from trimtab.lab.live.agent import Sought
from trimtab.lab.live.figures import Played, chance
from trimtab.lab.live.play import LiveItem, play_item, play_live
from trimtab.lab.live.registry import FAMILIES, make_assignment
from trimtab.lab.live.workshop import Worked
from trimtab.lab.rewards.prices import REGIMES
from trimtab.types.errors import UsageError


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_with_everything_in_sight_every_family_passes(played, family):
    row = played("none", family, window=ROOMY, noticed=0.0)
    assert row.judged["expected"].success == 1.0
    assert (row.needs.stub, row.needs.lost, row.edits, row.reloads, row.overflows) == (0, 0, 0, 0.0, 0)
    assert row.quality.fields == row.quality.fields_kept > 0
    assert row.extra["chance"] == 1.0
    assert row.judged["expected"].usd == pytest.approx(row.extra["whole_usd"], rel=0.02)
    assert row.curve == tuple(sorted(row.curve)), "nothing is taken out"


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_with_its_facts_out_of_sight_and_no_eye_for_stubs_every_family_fails(played, family):
    row = played("mask(keep=1,batch=1,always=True,least=40)", family, noticed=0.0, window=16_000)
    assert row.needs.stub + row.needs.lost > 0
    assert row.judged["expected"].success == 0.0
    assert row.reloads == 0.0


def test_with_an_eye_for_stubs_the_same_is_looked_up_again_and_passes(played):
    row = played("mask(keep=1,batch=1,always=True,least=40)", "settings-value", noticed=1.0, window=16_000)
    assert row.judged["expected"].success == 1.0
    assert row.reloads > 0
    assert row.extra["recalls"] + row.extra["rereads"] == row.reloads
    assert row.quality.hidden >= row.quality.hidden_needed > 0
    assert row.quality.fields_kept < row.quality.fields
    assert row.judged["expected"].reward < 1.0


def test_where_nothing_manages_a_small_window_the_work_ends_at_its_edge(played):
    row = played("none")
    assert (row.judged["expected"].success, row.overflows, row.extra["floor"]) == (0.0, 1, 1.0)
    assert row.judged["expected"].usd < row.extra["whole_usd"]
    assert row.judged["expected"].reward < 0
    assert row.steps == len(row.curve)
    assert min(row.curve) > 0, "what was never sent has no size, so it is in no figure of tokens"


@pytest.mark.parametrize(
    "spec",
    [
        "rules",
        "truncate",
        "mask",
        "summary",
        "claude-code",
        "claude-code(scaled=True)",
        "swe-agent",
        "opencode",
        "cost-gate(remaining=10):mask",
        "dry-run:rules",
    ],
)
def test_every_policy_works_in_a_small_window_without_an_overflow(played, spec):
    row = played(spec)
    assert row.arm == spec
    assert row.tier == "T2"
    assert row.steps > 10
    assert row.overflows == 0
    assert row.edits > 0
    assert sum(row.actions.values()) == row.edits >= row.batches > 0
    assert row.peak < TIGHT
    assert row.decisions > 0
    assert msgspec.json.decode(msgspec.json.encode(row), type=Row) == row


def test_what_the_ladder_does_is_told_as_forced(played):
    row = played("dry-run:rules")
    assert row.forced == row.edits > 0


def test_summaries_are_paid_and_counted(played):
    row = played("summary")
    assert row.summaries > 0
    assert row.actions["compact"] > 0


@pytest.mark.parametrize("regime", REGIMES, ids=[regime.name for regime in REGIMES])
def test_the_bill_is_that_of_the_conditions(played, regime):
    row = played("none", window=ROOMY, regime=regime)
    assert row.regime == regime.name
    assert (row.cached == 0) == (regime.name == "uncached")
    assert row.judged["expected"].usd == pytest.approx(row.keep_all_usd, rel=0.02), "where all fits, nothing is cut"


def test_chance_counts_the_ways_that_had_to_be_noticed(played):
    row = played("mask(keep=1,batch=1,always=True,least=40)", noticed=0.5, seed=3, window=16_000)
    assert row.extra["chance"] == pytest.approx(0.5**row.needs.stub)
    assert row.needs == Needs(2, 1, 0), "what was fetched for the first stays for the others, which stand there too"


def test_an_arm_that_knows_the_future_or_decides_elsewhere_is_refused(monkeypatch):
    none = find_arm("none")
    monkeypatch.setattr(playing, "find_arm", lambda spec: Arm(spec, "bound", "", none.make))
    with pytest.raises(UsageError, match="knows the future"):
        play_live("clairvoyant", "totals", 1, Conditions(9_000), size=SHORT)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="decides elsewhere"):
        play_live("remote(url='http://127.0.0.1:9')", "totals", 1, Conditions(9_000), size=SHORT)
    with pytest.raises(UsageError, match="no policy 'nobody'"):
        play_live("nobody", "totals", 1, Conditions(9_000), size=SHORT)


def test_items_are_played_by_an_executor_in_their_order():
    items = [LiveItem("none", "totals", number, Conditions(ROOMY), size=SHORT) for number in (2, 1)]
    items = pickle.loads(pickle.dumps(items))
    assert [row.story for row in Here().map(play_item, items)] == ["totals-2", "totals-1"]


def test_nothing_is_left_behind(played, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    played("rules", number=7)
    assert list(Path(tmp_path).iterdir()) == []


def outcome_of(*sought: Sought, reason: TurnReason = "stop") -> Played:
    """A run of `chain` in which these values were needed; the first client's backend and field are told by name."""
    assignment = make_assignment("chain", 1, SHORT)
    model = Conditions(9_000, noticed=0.5)
    worked = Worked(False, reason, (), View(), budget_for(model.played_as), 0, 0.0)
    return Played(find_arm("none"), assignment, model, 0, "T2", worked, (), sought)


def test_luck_is_averaged_out_of_a_run_and_nothing_else_is():
    made = make_assignment("chain", 1, SHORT)
    backend, field = made.facts[0].name, made.facts[1].name
    right, also = made.truth[backend], made.truth[field]
    seen = Sought(1, backend, "visible", noticed=True, written=right)
    recalled = Sought(2, field, "stub", noticed=True, written=also)
    passed_over = Sought(1, backend, "stub", noticed=False, written="auk")
    out_of_reach = Sought(2, field, "lost", noticed=False, written="no")
    outdated = Sought(2, field, "visible", noticed=True, written="old")
    runs = {
        (seen,): 1.0,
        (seen, recalled): 0.5,
        (passed_over, recalled): 0.25,
        (seen, out_of_reach): 0.0,
        (seen, outdated): 0.0,
        (passed_over, out_of_reach): 0.5,
        (passed_over, outdated): 0.5,
    }
    assert {run: chance(outcome_of(*run)) for run in runs} == runs, "what follows from a miss is put down to the miss"
    assert chance(outcome_of(seen, reason="floor")) == 0.0
