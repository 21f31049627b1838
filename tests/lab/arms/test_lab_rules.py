"""What the rules of the lab want, on contexts made by hand and on any."""

from dataclasses import replace as changed

import pytest
from hypothesis import given
from msgspec.structs import replace

from support.observations import NO_CACHE, observations, seen, work
from trimtab.context.actions import Action
from trimtab.context.policies.weighing import named
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.arms.break_even import BreakEven
from trimtab.lab.arms.chance import Chance
from trimtab.lab.arms.dedupe import Dedupe
from trimtab.lab.arms.hybrid import Hybrid
from trimtab.lab.arms.lru import Lru
from trimtab.lab.arms.occupancy import Occupancy

RULES = (Lru(), Dedupe(), Occupancy(), Hybrid(), BreakEven(), Chance("story", 0.5, 3))


def with_facts(items: list[ItemFacts], place: int, **facts: object) -> list[ItemFacts]:
    return [replace(item, **facts) if number == place else item for number, item in enumerate(items)]


def hidden(actions: object) -> list[str]:
    assert isinstance(actions, tuple)
    return [target for action in actions if action.action == "elide" for target in action.targets]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@given(observations())
def test_a_rule_names_only_what_is_there_and_says_the_same_twice(rule: Lru, observation: Observation) -> None:
    actions = rule.decide(observation)
    assert actions == rule.decide(observation)
    there = named(observation)
    items = [there[target] for action in actions for target in action.targets]
    assert not any(item.pinned or item.restored is not None for item in items)
    assert all(
        item.age >= 1
        for item in items
        if item.kind == "result" and item.duplicate_of is item.superseded_by is None and not item.expired
    ), "what no request has shown yet stays"


def test_lru_hides_what_was_used_least_recently_down_to_its_level() -> None:
    # 500 fixed, 100 of a prompt and 10 times 1,100: 11,600 of 14,000. Level .5 is 7,250, so 4,350 have to go: five results.
    items = with_facts(work(10), 2, last_used=1)
    assert hidden(Lru(act=0.8, left=0.5).decide(seen(items))) == ["t1", "t2", "t3", "t4", "t5"]
    assert Lru(act=0.9, left=0.5).decide(seen(items)) == ()


def test_lru_asks_for_names_in_its_stubs_where_it_is_told_to() -> None:
    (action,) = Lru(act=0.5, names=200).decide(seen(work(10)))
    assert action.params == {"names": 200}


def test_dedupe_takes_what_something_newer_replaces_and_nothing_else() -> None:
    items = with_facts(work(10), 2, superseded_by="t9")
    assert hidden(Dedupe(act=0.5).decide(seen(items))) == ["t0"]
    assert Dedupe(act=0.9).decide(seen(items)) == ()
    assert Dedupe(act=0.5, least=0.2).decide(seen(items)) == (), "it waits until enough of it is there"


def test_occupancy_goes_from_copies_to_old_results_to_a_digest() -> None:
    items = with_facts(work(10), 4, superseded_by="t9")
    rule = Occupancy(first=0.5, second=0.75, third=0.9, left=0.5)
    assert hidden(rule.decide(seen(items, used=8_000))) == ["t1"]
    assert hidden(rule.decide(seen(items, used=11_600))) == ["t1", "t0", "t2", "t3", "t4"]
    prompts = [Action("compact", (), {"mode": "digest", "keep_tokens": 6_750, "names": 1_687}, "nearly full")]
    assert list(rule.decide(seen(work(1), used=14_000)))[-1:] == prompts


def test_the_hybrid_masks_in_batches_and_makes_a_digest_where_that_is_not_enough() -> None:
    rule = Hybrid(keep=6, batch=4, act=0.5, at=0.9, left=0.3)
    assert hidden(rule.decide(seen(work(10)))) == ["t0", "t1", "t2", "t3"]
    assert rule.decide(seen(work(9))) == (), "three are no batch"
    (action,) = rule.decide(seen(work(9), used=16_000))
    assert (action.action, action.params["keep_tokens"]) == ("compact", 4_050)


def test_break_even_takes_everything_dead_behind_the_edit_as_soon_as_it_pays() -> None:
    # Results 0 to 3 are older than 5 requests. All four: E = 4 · 955, and behind the first of them 5,800 cached tokens stay: R > 5,800/3,820 · 9 = 13.7.
    rule = BreakEven(fresh=3, recent=6, horizon=0, least=0.0)
    observation = seen(work(10))
    assert rule.decide(changed_remaining(observation, 13.0)) == ()
    assert sorted(hidden(rule.decide(changed_remaining(observation, 14.0)))) == ["t0", "t1", "t2", "t3"]
    assert changed(rule, horizon=13).decide(changed_remaining(observation, 30.0)) == ()


def test_break_even_waits_for_nothing_where_there_is_no_cache() -> None:
    rule = BreakEven(fresh=3, recent=6, least=0.0)
    free = seen(work(10), prices=NO_CACHE, cached=0, cold=True, remaining=1.0)
    assert sorted(hidden(rule.decide(free))) == ["t0", "t1", "t2", "t3"]


def test_above_the_hard_limit_nobody_asks_what_it_costs() -> None:
    rule = BreakEven(fresh=3, recent=6, least=0.0)
    assert len(hidden(rule.decide(changed_remaining(seen(work(10), used=15_000), 0.0)))) == 4


def test_chance_hides_as_many_as_it_is_told_in_as_many_requests_as_it_is_told() -> None:
    contexts = [seen(work(10), step=step) for step in range(400)]
    batches = [hidden(Chance("a story", 0.25, 3).decide(context)) for context in contexts]
    made = [batch for batch in batches if batch]
    assert 70 < len(made) < 130
    assert {len(batch) for batch in made} == {3}
    assert len({tuple(batch) for batch in made}) > 50
    assert batches != [hidden(Chance("another", 0.25, 3).decide(context)) for context in contexts]


def changed_remaining(observation: Observation, remaining: float) -> Observation:
    from support.observations import CHEAP_READS

    prices = replace(CHEAP_READS, cache_write=10.0)
    return replace(observation, remaining=remaining, prices=prices)
