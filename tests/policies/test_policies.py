"""What each policy does, on observations made for the point."""

from msgspec.structs import replace

from support.observations import CHEAP_READS, answer, prompt, result, seen, targets, work
from trimtab.context.actions import Action
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.none import NoPolicy
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.summary import SummaryPolicy
from trimtab.context.policies.truncate import Truncate
from trimtab.context.policies.weighing import Weight, weigh

HIDING = Rules(left=0.35)
"""With an aim that hiding alone reaches in these small windows."""


def test_none_wants_nothing_even_over_the_limit():
    assert NoPolicy().decide(seen(work(20), used=19_000)) == ()


def test_truncate_drops_the_oldest_groups_until_the_target_is_reached():
    observation = seen(work(11), used=11_000)
    (action,) = Truncate().decide(observation)
    assert (action.action, action.targets) == ("drop", ("a0", "a1", "a2", "a3"))


def test_truncate_keeps_the_newest_prompt_pins_and_the_last_groups():
    items = [
        prompt(0, turn=1),
        answer(0),
        result(0, 6_000, pinned=True),
        prompt(1, turn=2),
        answer(1),
        result(1, 6_000),
    ]
    (action,) = Truncate(keep_groups=1).decide(seen(items, used=13_000))
    assert action.targets == ("u0",)


def test_mask_hides_all_but_the_last_results_once_a_batch_is_due():
    observation = seen(work(12))
    assert targets(Mask(keep=10, batch=2).decide(observation)) == ["t0", "t1"]
    assert Mask(keep=10, batch=3).decide(observation) == ()


def test_a_sliding_mask_hides_one_result_with_every_new_one():
    items = work(12)
    items[2] = replace(items[2], state="stub")
    assert targets(Mask(keep=10, batch=1).decide(seen(items))) == ["t1"]


def test_mask_may_act_from_the_first_request_on():
    observation = seen(work(4))
    assert Mask(keep=2, batch=1).decide(observation) == ()
    assert targets(Mask(keep=2, batch=1, always=True).decide(observation)) == ["t0", "t1"]


def test_summary_waits_until_the_window_is_nearly_full():
    assert SummaryPolicy().decide(seen(work(11), used=12_000)) == ()
    (action,) = SummaryPolicy().decide(seen(work(13), used=13_600))
    assert action == Action("compact", (), {"keep_tokens": 3_250}, "the window is nearly full")


def test_rules_do_nothing_below_the_soft_threshold_however_stale_things_are():
    items = [*work(3), answer(9), result(9, duplicate_of="t0", superseded_by="t1", expired=True, age=9)]
    assert Rules().decide(seen(items, used=9_999)) == ()


def test_rules_take_what_is_stale_first_and_all_of_it():
    items = work(11)
    items[8] = replace(items[8], superseded_by="t9")
    items[14] = replace(items[14], expired=True)
    first, second, *_ = Rules().decide(seen(items))
    assert [(a.action, a.targets) for a in (first, second)] == [("elide", ("t3",)), ("elide", ("t6",))]
    assert (first.reason, second.reason) == ("a newer result replaces it", "it was marked to go by now")


def test_rules_never_hide_both_of_two_equal_results():
    items = work(11)
    items[8] = replace(items[8], superseded_by="t6")
    items[14] = replace(items[14], duplicate_of="t3", referenced=9, last_used=0)
    chosen = targets(Rules().decide(seen(items)))
    assert "t3" in chosen
    assert "t6" not in chosen


def test_rules_leave_what_was_used_lately_and_what_is_new():
    items = work(11)
    items[2] = replace(items[2], referenced=1, last_used=1)
    chosen = targets(HIDING.decide(seen(items)))
    assert "t0" not in chosen
    assert not {"t10", "t9", "t8"} & set(chosen)
    assert "t1" in chosen


def test_over_the_hard_limit_rules_take_hot_items_last_and_only_until_the_request_fits():
    items = [
        prompt(0),
        answer(0, age=9),
        result(0, 3_000, age=9),
        *(result(n, 3_000, age=0, group=None) for n in range(1, 5)),
    ]
    over = seen(items, used=15_000).hard
    rules = Rules(left=0.35, compact_from=1.0)
    assert targets(rules.decide(seen(items, used=over + 2_000)), "elide") == ["t0"]
    chosen = targets(rules.decide(seen(items, used=over + 5_000)), "elide")
    assert (chosen[0], len(chosen)) == ("t0", 2)


def test_rules_act_late_and_go_down_to_their_aim():
    assert not Rules().decide(seen(work(9), used=12_000))
    observation = seen(work(13, 1_000), used=13_500)
    assert observation.used - weigh(Rules(along=False).decide(observation), observation).gain < 13_500 - 6_000


def test_the_aim_lies_above_what_is_fixed_however_large_that_is():
    assert Rules(left=0.5).aim(seen(work(4), fixed=10_000)) == 12_000


def test_rules_take_along_what_is_cold_behind_the_first_change():
    observation = seen(work(14, 800), prices=CHEAP_READS, used=13_000)
    alone = weigh(Rules(along=False, left=0.6).decide(observation), observation)
    along = weigh(Rules(along=True, left=0.6).decide(observation), observation)
    assert along.gain > alone.gain


def test_results_of_kinds_that_were_fetched_again_are_left_alone_longer():
    items = [prompt(0)]
    for number in range(11):
        items += [answer(number, age=10 - number), result(number, age=10 - number, regret=1.0 if number < 4 else 0.0)]
    chosen = targets(HIDING.decide(seen(items)))
    assert not {"t0", "t1", "t2", "t3"} & set(chosen)
    assert {"t4", "t5"} <= set(chosen)


def test_large_arguments_of_old_calls_give_way_before_results():
    items = work(4)
    items[1] = replace(items[1], arguments=5_000, tokens=5_100)
    first, *_ = HIDING.decide(seen(items, used=13_000))
    assert (first.action, first.targets) == ("offload", ("a0",))


def test_a_large_result_that_was_often_used_is_folded():
    items = work(4)
    items[2] = replace(items[2], tokens=9_000, referenced=5, last_used=9)
    items[2] = replace(items[2], age=12)
    assert targets(Rules().decide(seen(items)), "fold") == ["t0"]


def test_rules_compact_only_when_hiding_is_far_from_enough():
    talk = [prompt(n, 1_000, turn=n) for n in range(13)]
    (action,) = Rules().decide(seen(talk))
    assert (action.action, action.params) == ("compact", {"keep_tokens": 1_620, "mode": "digest", "names": 2_025})
    assert "compact" not in {a.action for a in HIDING.decide(seen(work(12)))}


def test_what_a_summary_covers_needs_no_stub_beside_it():
    items = [*work(4), *(prompt(n, 2_000, turn=n) for n in range(5))]
    (action,) = Rules().decide(seen(items))
    assert action.action == "compact"


def test_what_rules_hide_keeps_its_names():
    assert {a.params["names"] for a in Rules().decide(seen(work(13))) if a.action == "elide"} == {400}


def test_a_batch_weighs_what_it_takes_out_and_the_cache_behind_it():
    observation = seen(work(4))
    weight = weigh([Action("elide", ("t1",)), Action("elide", ("r1", "c2"))], observation)
    assert weight.gain == 2 * 955
    # Cached: all before the last answer. Behind t1: a2, t2 (which goes) and nothing else.
    assert weight.suffix == observation.cached - 500 - 1_300 - 2_000


def test_a_batch_of_bytes_that_nobody_was_sent_is_free():
    assert weigh([Action("elide", ("t3",))], seen(work(4))) == Weight(955, 0)
    assert weigh([Action("elide", ("t0",))], seen(work(4), cold=True)).free
