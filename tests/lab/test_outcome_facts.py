"""Outcomes from the facts of a played story: money, chances under each bound, and what is traced to what."""

from typing import Any

import pytest

from trimtab.lab.env.facts import FORCED, EditFacts, NeedFacts, StepFacts, Tier
from trimtab.lab.rewards.facts import outcome_of
from trimtab.lab.rewards.outcome import ActionTaken, Excess, NeedMet, Outcome, Spent, StepOutcome
from trimtab.lab.rewards.prices import REGIMES
from trimtab.lab.rewards.reward import BadOutcome
from trimtab.types.usage import Usage

UNCACHED = REGIMES[0]
"""3 USD per million tokens in, 15 out."""


THOUSAND = Usage(1_000)


def edit(kind: str, targets: tuple[str, ...], before: int = 0, after: int = 0, *, forced: bool = False) -> EditFacts:
    """An edit of the policy, or of the ladder."""
    return EditFacts(kind, FORCED if forced else "policy:x", "1.1", targets, before, after)


def asked_for(number: int, request: Usage = THOUSAND, *, tier: Tier = "T0", **more: Any) -> StepFacts:
    """A request that a policy was asked about, in which a stub is noticed with 0.8."""
    given = {"noticed": 0.8, "asked": True, **more}
    return StepFacts(tier, number, request.prompt, 0, 0, 10_000, request, **given)


ENTRIES = ("e0", "e1", "e2", "e3")
HIDES = asked_for(1, edits=(edit("elide", ("e1", "e2#0"), 500, 40), edit("compact", ("e3",), 900, 100, forced=True)))


def made(*steps: StepFacts, **more) -> Outcome:
    return outcome_of(steps, task="t", seed=1, regime=UNCACHED, entries=ENTRIES, **more)


def usd(tokens: int) -> float:
    return pytest.approx(tokens * 3e-6)


def test_edits_become_actions_and_the_ladders_are_marked():
    assert made(HIDES).steps == (
        StepOutcome(
            1,
            (
                ActionTaken("1.1", "elide", ("e1", "e2#0"), 500, 40),
                ActionTaken("1.2", "compact", ("e3",), 900, 100, forced=True),
            ),
            spent=(Spent(usd(1_000)),),
        ),
    )


def test_the_group_and_the_tier_are_named():
    outcome = made(asked_for(1, tier="T1"), passed=0.5)
    assert (outcome.task, outcome.seed, outcome.regime, outcome.tier, outcome.passed) == ("t", 1, "uncached", "T1", 0.5)


def test_answers_are_paid_at_their_own_price():
    assert made(asked_for(1, Usage(1_000, 100))).usd == pytest.approx((1_000 * 3 + 100 * 15) / 1e6)


def test_a_refused_wish_is_an_action_that_came_to_nothing():
    outcome = made(asked_for(2, refused=("no such handle",)))
    assert outcome.actions == (ActionTaken("2.r1", "refused", refused=True),)


def test_an_expected_need_pays_its_reload_as_often_as_the_stub_is_noticed():
    step = asked_for(2, needs=(NeedFacts(1, "stub", 0.8, point=5),), reloads=(Usage(2_000),))
    assert made(HIDES, step).steps[1] == StepOutcome(
        2, needs=(NeedMet("5", 0.8, "1.1", 0.8),), spent=(Spent(usd(1_000)), Spent(usd(1_600), "reload", "1.1"))
    )


BOUNDS = {
    "optimistic": (1.0, 1.0, 2_000),
    "pessimistic": (1.0, 1.0, 2_300),
    "fails": (0.0, 0.0, 0),
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_bounds_of_a_replay(bound):
    chance, reloads, tokens = BOUNDS[bound]
    step = asked_for(2, needs=(NeedFacts(2, "stub", 0.8),), reloads=(Usage(2_000),), repeated=(Usage(300),), tier="T1")
    outcome = made(asked_for(1, edits=HIDES.edits, tier="T1"), step, bound=bound)
    assert outcome.steps[1].needs == (NeedMet("2", chance, "1.1", reloads),)
    assert outcome.steps[1].spent[1:] == ((Spent(usd(tokens), "reload", "1.1"),) if tokens else ())


def test_a_visible_need_is_met_under_every_bound():
    for bound in ("expected", *BOUNDS):
        assert made(asked_for(1, needs=(NeedFacts(0, "visible", 1.0),)), bound=bound).steps[0].needs == (
            NeedMet("0", 1.0),
        )


def test_a_lost_need_that_nothing_fetches_is_missed_under_every_bound():
    for bound in ("expected", *BOUNDS):
        step = asked_for(2, needs=(NeedFacts(3, "lost", 0.0),))
        assert made(HIDES, step, bound=bound).steps[1].needs == (NeedMet("3", 0.0, "1.2"),)


def test_a_lost_need_that_is_fetched_is_met_by_the_optimist():
    step = asked_for(2, needs=(NeedFacts(3, "lost", 0.0),), reloads=(Usage(100),))
    assert made(HIDES, step, bound="optimistic").steps[1].needs == (NeedMet("3", 1.0, "1.2", 1.0),)


def test_two_needs_of_one_message_share_its_reload():
    step = asked_for(2, needs=(NeedFacts(1, "stub", 0.8, 0), NeedFacts(1, "stub", 0.8, 1)), reloads=(Usage(100),))
    assert [need.reloads for need in made(HIDES, step).steps[1].needs] == [0.8, 0.0]


def test_what_was_brought_back_is_hidden_by_nobody():
    back = asked_for(2, edits=(edit("restore", ("e1",)),))
    lost = asked_for(3, needs=(NeedFacts(1, "lost", 0.0),))
    outcome = made(HIDES, back, lost)
    assert outcome.steps[1].actions[0].name == "reload"
    assert outcome.steps[2].needs == (NeedMet("1", 0.0),)


def test_without_the_logs_names_a_miss_goes_back_to_nobody():
    step = asked_for(2, needs=(NeedFacts(1, "lost", 0.0),))
    outcome = outcome_of([HIDES, step], task="t", seed=1, regime=UNCACHED)
    assert outcome.steps[1].needs == (NeedMet("1", 0.0),)


def test_a_mark_to_expire_hides_nothing_yet():
    outcome = made(asked_for(1, edits=(edit("expire", ("e1",)),)), asked_for(2, needs=(NeedFacts(1, "lost", 0.0),)))
    assert outcome.steps[1].needs == (NeedMet("1", 0.0),)


def test_summaries_are_charged_to_the_action_that_asked_for_them_where_it_is_plain():
    one = asked_for(1, edits=(edit("compact", ("e1",)),), summaries=(Usage(100), Usage(200)))
    assert [spent.action for spent in made(one).steps[0].spent] == ["", "1.1", "1.1"]
    each = asked_for(
        1, edits=(edit("summarize", ("e1",)), edit("summarize", ("e2",))), summaries=(Usage(100), Usage(200))
    )
    assert [spent.action for spent in made(each).steps[0].spent] == ["", "1.1", "1.2"]
    unclear = asked_for(1, edits=each.edits, summaries=(Usage(100),))
    assert [spent.action for spent in made(unclear).steps[0].spent] == ["", ""]


def test_fields_are_asked_of_whoever_knows_the_text():
    outcome = made(HIDES, fields=lambda edit: ("number",) if edit.kind == "compact" else ())
    assert [action.fields for action in outcome.actions] == [(), ("number",)]


def test_whether_a_policy_was_asked_is_carried_over():
    assert [step.asked for step in made(asked_for(1, asked=False), asked_for(2)).steps] == [False, True]


def test_overflows_and_invalid_requests_are_carried_over():
    step = made(asked_for(1, overflow=True, invalid=True)).steps[0]
    assert (step.overflow, step.invalid, step.over) == (True, 1, True)


def test_shares_of_the_budget_are_asked_of_whoever_measures_them():
    over = (Excess("history", 9, 8),)
    outcome = made(asked_for(1), asked_for(2), excess=lambda seen: over if seen.step == 2 else ())
    assert [step.excess for step in outcome.steps] == [(), over]


@pytest.mark.parametrize("steps", [(), (asked_for(1), asked_for(2, tier="T1"))], ids=["none", "two tiers"])
def test_facts_are_of_one_tier(steps):
    with pytest.raises(BadOutcome, match="tiers"):
        made(*steps)


def test_bills_of_reloads_that_fit_no_need_are_refused():
    with pytest.raises(BadOutcome, match="2 reloads for 1 hidden"):
        made(asked_for(1, needs=(NeedFacts(1, "stub", 0.8),), reloads=(Usage(1), Usage(1))))
