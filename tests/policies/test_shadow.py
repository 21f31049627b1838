"""A policy in the shadow of another: asked, told, and without effect."""

from support.observations import Fixed, seen, targets, work
from trimtab.coding.telling.context_text import row_details
from trimtab.context.actions import Action
from trimtab.context.cycle.deciding import Decider
from trimtab.context.embed.problems import problems_in
from trimtab.context.policies.base import manners_of
from trimtab.context.policies.registry import find_policy
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.shadow import Shadow
from trimtab.context.settings import EngineSettings
from trimtab.context.telling.explain import LogRow


def asked_of(decider: Decider, observation):
    """The actions, and what was written to the log on the way."""
    plan, told = decider.decide(observation), []
    try:
        while True:
            told.append(next(plan))
    except StopIteration as stop:
        return stop.value, [record.values[0].data for record in told]


def full():
    """A request at the hard limit."""
    return seen(work(12), used=14_000)


def test_the_inner_policy_decides_and_both_stand_in_the_log():
    actions, (told,) = asked_of(
        Decider(find_policy("shadow(policy='mask(keep=3,batch=2)'):rules"), EngineSettings()), full()
    )
    alone, _ = asked_of(Decider(Rules(), EngineSettings()), full())
    assert actions == alone
    assert (told["event"], told["author"], told["by"]) == ("shadow", "policy:rules", "mask")
    assert told["did"][0]["targets"] == targets(Rules().decide(full()))
    assert told["would"][0]["action"] == "elide"
    assert told["gain"] > 0


def test_what_it_would_do_is_told_once_as_long_as_it_stays_the_same():
    shadow = Shadow(Fixed(()), "mask(keep=3,batch=2)")
    decider = Decider(shadow, EngineSettings())
    assert len(asked_of(decider, full())[1]) == 1
    assert asked_of(decider, full()) == ((), [])
    assert len(asked_of(decider, seen(work(13), used=14_000))[1]) == 1


def test_nothing_is_told_where_neither_wants_anything():
    assert Shadow(Fixed(()), "none").decide(full()) == ()


def test_one_that_fails_is_told_and_has_no_effect(tmp_path):
    shadow = Shadow(Rules(), f"learned(weights={str(tmp_path / 'none.json')!r})")
    *actions, told = shadow.decide(full())
    assert tuple(actions) == Rules().decide(full())
    assert "can't be read" in told.params["by"]


def test_it_is_treated_as_what_it_stands_around():
    assert manners_of(Shadow(find_policy("mask"))) == manners_of(find_policy("mask"))


def test_a_line_of_the_log_says_what_both_wanted():
    details = {
        "by": "learned",
        "would": [{"action": "elide", "targets": ["r1"], "reason": "needed again with 4 %"}],
        "did": [],
    }
    row = LogRow("e1", 3, "shadow", details=details)
    assert row_details(row) == "learned would elide r1 (needed again with 4 %); done: nothing"


def test_it_is_no_problem_of_the_conversation():
    assert problems_in(()) == []
    assert Action("keep") not in Shadow(Fixed(()), "none").keeps(full(), ())
