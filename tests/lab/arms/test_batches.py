"""Everything from some place on, and what it breaks."""

from hypothesis import given

from support.observations import CHEAP_READS, observations, seen, work
from trimtab.context.policies.weighing import weigh
from trimtab.context.seeing.observation import Observation
from trimtab.lab.arms.batches import Wish, actions_of, batches, from_the_end


def wishes_of(observation: Observation) -> list[Wish]:
    return from_the_end(Wish.of("elide", item) for item in observation.items if item.kind == "result" and item.sent)


@given(observations())
def test_a_batch_takes_out_what_the_same_actions_are_weighed_as(observation: Observation) -> None:
    wishes = wishes_of(observation)
    for batch in batches(wishes, observation):
        assert batch.gain == weigh(actions_of(wishes[: batch.size], reason=""), observation).gain


def test_the_further_in_front_a_batch_begins_the_more_it_breaks() -> None:
    observation = seen(work(4))
    wishes = wishes_of(observation)
    assert [wish.target for wish in wishes] == ["t2", "t1", "t0"]
    assert [(b.gain, b.cached, b.suffix) for b in batches(wishes, observation)] == [
        (955, 955, 0),
        (1_910, 1_910, 100),
        (2_865, 2_865, 200),
    ]


def test_with_a_cold_cache_nothing_is_broken() -> None:
    observation = seen(work(4), cold=True)
    assert [(b.cached, b.suffix) for b in batches(wishes_of(observation), observation)] == [(0, 0)] * 3


def test_a_cache_with_breakpoints_has_none_between_the_first_edit_and_what_came_since() -> None:
    observation = seen(work(6), prices=CHEAP_READS, since={"elide": 1})
    wishes = wishes_of(observation)
    plain, marked = (list(batches(wishes, observation, seam=seam)) for seam in (None, 1_000))
    assert [b.suffix for b in plain] == [0, 100, 200, 300, 400]
    assert [b.suffix for b in marked] == [3_600, 2_600, 1_600, 600, 400]


def test_wishes_of_a_kind_are_one_action() -> None:
    wishes = [Wish("drop", "a", 0, 10, 10), Wish("elide", "b", 10, 100, 50), Wish("drop", "c", 110, 10, 10)]
    drop, elide = actions_of(wishes, reason="why", names=100)
    assert (drop.action, drop.targets, drop.params) == ("drop", ("a", "c"), {})
    assert (elide.action, elide.targets, elide.params) == ("elide", ("b",), {"names": 100})
