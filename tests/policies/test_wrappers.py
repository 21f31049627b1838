"""Wrappers and the fallback: what holds a policy back, and what happens when it fails."""

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from support.observations import CHEAP_READS, NO_CACHE, Fixed, seen, targets, work
from trimtab.context.actions import Action
from trimtab.context.policies.base import manners_of, unwrap
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.remote import Remote
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.wrappers import Cooldown, CostGate, DryRun, Immune, MinGain
from trimtab.context.seeing.observation import Observation

OLD = Action("elide", ("t0",))
MANY = Action("elide", tuple(f"t{n}" for n in range(6)))


def test_a_kind_of_action_rests_and_others_go_on():
    policy = Cooldown(Fixed((OLD, Action("offload", ("a1",)))), steps=3)
    assert policy.decide(seen(work(11), since={"elide": 2, "offload": 3})) == [Action("offload", ("a1",))]
    assert policy.decide(seen(work(11), since={"elide": 0}, used=14_001)) == policy.inner.decide(seen([]))


def test_a_batch_must_gain_its_share_of_the_room_or_be_free():
    policy = MinGain(Fixed((OLD,)), share=0.1)
    assert policy.decide(seen(work(11))) == []
    assert MinGain(Fixed((MANY,)), share=0.1).decide(seen(work(11))) == (MANY,)
    assert policy.decide(seen(work(11), cold=True)) == (OLD,)
    assert policy.decide(seen(work(11), used=14_001)) == (OLD,)


def test_marks_pass_every_guard_of_cost():
    pin = Action("pin", ("t0",))
    observation = seen(work(11), prices=CHEAP_READS, remaining=0.0)
    for guard in (MinGain(Fixed((OLD, pin)), share=0.5), CostGate(Fixed((OLD, pin)))):
        assert guard.decide(observation) == [pin]


def test_an_edit_that_costs_more_cache_than_it_saves_is_held_back():
    gate = CostGate(Fixed((OLD,)))
    observation = seen(work(11), prices=CHEAP_READS)
    # 955 tokens saved at 1.0 a request, against 10,000 and more written again at 11.5 more than a read.
    assert gate.decide(replace(observation, remaining=40.0)) == []
    assert gate.decide(replace(observation, remaining=400.0)) == (OLD,)
    assert gate.decide(replace(observation, prices=NO_CACHE)) == (OLD,)
    assert gate.decide(replace(observation, prices=None)) == (OLD,)
    assert CostGate(Fixed((OLD,)), remaining=400.0).decide(observation) == (OLD,)


def test_what_was_just_brought_back_is_immune_and_the_rest_of_the_action_goes_on():
    items = work(11)
    items[2] = replace(items[2], restored=4)
    items[4] = replace(items[4], pinned=True)
    observation = seen(items)
    assert Immune(Fixed((MANY,)), steps=5).decide(observation) == [Action("elide", ("t2", "t3", "t4", "t5"))]
    assert "t0" in targets(Immune(Fixed((MANY,)), steps=4).decide(observation))
    assert Immune(Fixed((OLD,)), steps=5).decide(observation) == []


def test_a_dry_run_says_what_would_be_done_and_does_nothing():
    (action,) = DryRun(Fixed((OLD,))).decide(seen(work(11)))
    assert action.action == "keep"
    assert action.params["would"] == [{"action": "elide", "targets": ["t0"]}]
    assert action.params["gain"] == 955
    assert DryRun(Fixed(())).decide(seen(work(11))) == ()


def test_a_wrapper_is_treated_as_what_it_stands_around():
    assert not manners_of(CostGate(Mask())).guarded
    assert manners_of(CostGate(Rules())).guarded


def test_unwrapping_gives_the_policy_in_the_middle_and_what_is_around_it_from_the_inside():
    core, around = unwrap(Cooldown(MinGain(Mask())))
    assert core == Mask()
    assert [type(one) for one in around] == [MinGain, Cooldown]


@dataclass
class Odd:
    """A policy of somebody else that answers with anything."""

    answer: Any
    name: str = "odd"
    asked: int = 0

    def decide(self, observation: Observation) -> Any:
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ValueError("no"), "ValueError: no"),
        (None, "TypeError"),
        ("elide", "an action is an object"),
        ([{"action": "explode"}], "no action 'explode'"),
        ([{"action": "elide", "targets": 7}], "bad action 'elide'"),
        ([Action("elide", ("nowhere",))], "names nothing that is there"),
        ([{"targets": ["r0"]}], "'action' is missing"),
        ([{"action": "mask", "tragets": ["r0"]}], "there is no field 'tragets'; did you mean 'targets'?"),
        ([{"actoin": "mask", "target": "r0"}], "there is no field 'actoin'; did you mean 'action'?"),
        (
            [{"action": "mask", "handles": ["r0"]}],
            "elide names nothing that is there; an action has no field 'handles', so it was passed over; there are action, target, targets",
        ),
    ],
)
def test_rules_decide_in_place_of_a_policy_that_fails(answer: Any, said: str):
    observation = seen(work(11))
    verdict = Fallback(Odd(answer)).ask(observation)
    assert verdict.by == "rules"
    assert verdict.actions == tuple(Rules().decide(observation))
    assert said in (verdict.problem or "")


def test_what_makes_sense_of_a_bad_answer_is_done():
    verdict = Fallback(Odd([{"action": "mask", "target": "r0"}, 7])).ask(seen(work(11)))
    assert verdict.by == "odd"
    assert verdict.actions == (Action("elide", ("r0",)),)
    assert verdict.problem is not None


def test_a_field_that_is_no_slip_is_passed_over_and_told_and_of_a_server_its_own_business():
    marked = [{"action": "mask", "target": "r0", "confidence": 0.9}]
    verdict = Fallback(Odd(marked)).ask(seen(work(11)))
    assert (verdict.by, verdict.actions, verdict.problem) == ("odd", (Action("elide", ("r0",)),), None)
    assert [note.partition(",")[0] for note in verdict.passed] == ["an action has no field 'confidence'"]
    elsewhere = Fallback(Remote("http://localhost/decide")).judge(seen(work(11)), marked)
    assert (elsewhere.actions, elsewhere.problem, elsewhere.passed) == (verdict.actions, None, ())


def test_a_policy_that_fails_again_and_again_isnt_asked_any_more():
    odd = Odd(ValueError("no"))
    fallback = Fallback(odd, breaker=2)
    assert [fallback.ask(seen(work(11))).off for _ in range(4)] == [False, True, True, True]
    assert odd.asked == 2


def test_one_good_answer_closes_the_breaker_again():
    odd = Odd(ValueError("no"))
    fallback = Fallback(odd, breaker=2)
    fallback.ask(seen(work(11)))
    odd.answer = []
    assert fallback.ask(seen(work(11))).problem is None
    assert fallback.failures == 0


@dataclass
class Hanging:
    """A policy that waits until the test lets it go."""

    gate: threading.Event = field(default_factory=threading.Event)
    name: str = "hanging"

    def decide(self, observation: Observation) -> Any:
        self.gate.wait(30)
        return ()


def test_a_policy_that_hangs_is_left_behind():
    policy = Hanging()
    verdict = Fallback(policy, timeout_s=0.01).ask(seen(work(11)))
    policy.gate.set()
    assert verdict.by == "rules"
    assert verdict.problem == "no decision within 0.01 s"


def test_an_endless_answer_is_cut():
    def endless() -> Any:
        while True:
            yield OLD

    verdict = Fallback(Odd(endless())).ask(seen(work(11)))
    assert len(verdict.actions) == 500
    assert verdict.problem == "more than 500 actions at once"


def test_a_wrapper_holds_back_the_answer_of_a_policy_that_lives_elsewhere():
    fallback = Fallback(DryRun(Remote("http://localhost/decide")))
    assert fallback.remote == Remote("http://localhost/decide")
    (action,) = fallback.judge(seen(work(11)), [{"action": "elide", "targets": ["t0"]}]).actions
    assert action.params["would"] == [{"action": "elide", "targets": ["t0"]}]
