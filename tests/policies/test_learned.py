"""The learned policy: what weights come to, when the rules decide instead, and what is said of it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.observations import CHEAP_READS, NO_CACHE, observations, seen, targets, work
from trimtab.context.actions import Action
from trimtab.context.policies.base import manners_of
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.learned.arrays import pass_over
from trimtab.context.policies.learned.break_even import BreakEven
from trimtab.context.policies.learned.choosing import Chooser, extra_of, input_of
from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import BATCH, COMMIT, ITEM_OPS, WHOLE_OPS, Choice, choices, largest
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.policy import Learned, chances_of, decided
from trimtab.context.policies.learned.shipped import shipped
from trimtab.context.policies.learned.weights import Weights, write_weights
from trimtab.context.policies.registry import find_policy
from trimtab.context.policies.rules import Rules
from trimtab.context.seeing.observation import Observation
from trimtab.types.errors import ConfigError

ITEM = len(ITEM_FEATURES) + len(WHOLE_FEATURES)
GATE = len(WHOLE_FEATURES) + len(ITEM_FEATURES)


def linear(inputs: int, *outputs: tuple[float, dict[int, float]]) -> Network:
    """One layer: for each output its bias, and the weights of the inputs that it looks at."""
    rows = tuple(tuple(weights.get(n, 0.0) for n in range(inputs)) for _, weights in outputs)
    layer = Dense(rows, tuple(bias for bias, _ in outputs))
    return Network((layer,), (0.0,) * inputs, (1.0,) * inputs)


def by_age(**more) -> Weights:
    """Weights that think old results are not needed, and young ones are."""
    age = ITEM_FEATURES.index("log_age")
    return Weights(schema=SCHEMA, kind="needed", item=linear(ITEM, (6.0, {age: -6.0})), **more)


def choosing(item_bias: float, **more) -> Weights:
    """Weights of kind `choices` that would elide with this log-odds against a commit."""
    ops = [(item_bias if op == "elide" else -9.0, {}) for op in ITEM_OPS]
    whole = [(0.0 if op == "commit" else -9.0, {}) for op in WHOLE_OPS]
    inputs = ITEM + len(more.get("extra", ()))
    return Weights(
        schema=SCHEMA,
        kind="choices",
        item=linear(inputs, *ops),
        gate=linear(GATE, *whole),
        ops=ITEM_OPS,
        whole_ops=WHOLE_OPS,
        **more,
    )


def full(**facts) -> Observation:
    """A request at the hard limit."""
    return seen(work(12), used=14_000, prices=CHEAP_READS, **facts)


def test_what_is_least_likely_needed_makes_room():
    hidden = targets(decided(by_age(), full()))
    assert hidden == [f"t{n}" for n in reversed(range(len(hidden)))]
    assert len(hidden) < len(work(12))


def test_with_room_and_little_to_win_nothing_is_done():
    assert decided(by_age(), seen(work(6), prices=CHEAP_READS)) == ()


def test_without_a_cache_what_is_hardly_needed_goes_before_room_is_short():
    assert "t0" in targets(decided(by_age(), seen(work(11), prices=NO_CACHE, remaining=200.0)))


def test_the_reason_says_the_figures():
    (action, *_) = decided(by_age(), full())
    assert action.reason.startswith("needed again with 0 ")
    assert action.params["chances"].keys() == set(action.targets)
    assert action.reason.endswith("room is needed")
    (early, *_) = decided(by_age(), seen(work(11), prices=NO_CACHE, remaining=200.0))
    assert early.reason.endswith("pays at once")


def test_a_person_who_chose_where_to_act_is_obeyed():
    observation = seen(work(11), prices=NO_CACHE, remaining=200.0, used=9_999, soft_given=True)
    assert BreakEven().decide(observation, {f"t{n}": 0.0 for n in range(11)}).actions == ()


def test_a_whole_unlike_any_in_training_is_for_the_rules_and_they_say_so():
    weights = by_age(low=(0.0,) * ITEM, high=(MOST,) * len(ITEM_FEATURES) + (0.5,) * len(WHOLE_FEATURES))
    observation = full()
    actions = decided(weights, observation)
    assert targets(actions) == targets(Rules().decide(observation))
    assert actions[0].reason.startswith("by the rules, since used is 0.875, and training saw 0 to 0.5: ")


def test_an_item_unlike_any_in_training_counts_as_needed():
    tokens = ITEM_FEATURES.index("log_tokens")
    high = [MOST] * ITEM
    high[tokens] = 7.0
    weights = by_age(low=(0.0,) * ITEM, high=tuple(high))
    items = work(12)
    items[2] = replace(items[2], tokens=3_000)
    chances = chances_of(weights, seen(items, used=14_000))
    assert not isinstance(chances, str)
    assert (chances["t0"], chances["t1"] < 0.01) == (1.0, True)


def test_when_most_items_are_strange_the_rules_decide():
    weights = by_age(low=(0.0,) * ITEM, high=(1.0,) * len(ITEM_FEATURES) + (MOST,) * len(WHOLE_FEATURES))
    assert all("by the rules, since log tokens is" in action.reason for action in decided(weights, full()))


def test_weights_that_give_no_number_are_not_followed():
    weights = Weights(schema=SCHEMA, kind="needed", item=linear(ITEM, (float("nan"), {})))
    assert all("the weights give no number" in action.reason for action in decided(weights, full()))


def test_a_batch_that_is_hardly_worth_it_is_left_to_the_rules():
    observation = seen(work(11), prices=NO_CACHE, remaining=200.0)
    assert "t0" in targets(decided(by_age(), observation))
    unsure = decided(by_age(), observation, BreakEven(margin=1e6))
    assert [a.targets for a in unsure] == [a.targets for a in Rules().decide(observation)]
    assert all(a.reason.startswith("by the rules, since acting is hardly better than not") for a in unsure)


def test_choices_are_made_until_the_commit_is_likelier():
    assert decided(choosing(-1.0), full()) == ()
    (action,) = decided(choosing(1.0), full())
    assert action.action == "elide"
    assert len(action.targets) == 11  # all that a request has shown


def test_a_batch_of_choices_has_its_limit():
    observation = seen(work(30), used=14_000)
    (action,) = decided(choosing(1.0), observation)
    assert len(action.targets) == BATCH


def small_only(**more) -> Weights:
    """Weights that would elide everything, and saw no item of more than about 1,100 tokens."""
    high = [MOST] * ITEM
    high[ITEM_FEATURES.index("log_tokens")] = 6.0
    return choosing(1.0, low=(0.0,) * ITEM, high=tuple(high), **more)


def test_an_item_unlike_any_in_training_is_not_chosen():
    items = [replace(item, tokens=300) for item in work(12)]
    items[2] = replace(items[2], tokens=3_000)
    (action,) = decided(small_only(), seen(items, used=14_000, prices=CHEAP_READS))
    assert set(action.targets) == {f"t{n}" for n in range(1, 11)}


def test_when_most_items_are_strange_to_weights_that_choose_the_rules_decide():
    items = [replace(item, tokens=3_000) for item in work(12)]
    actions = decided(small_only(), seen(items, used=14_000, prices=CHEAP_READS))
    assert actions
    assert all("by the rules, since log tokens is" in action.reason for action in actions)


def test_a_first_choice_that_is_hardly_likelier_than_the_next_is_left_to_the_rules():
    actions = decided(choosing(1.0), full(), margin=0.5)
    assert all(action.reason.startswith("by the rules") for action in actions)


def test_logits_come_in_the_order_of_the_valid_choices():
    observation = full()
    chooser, items = Chooser(choosing(2.0)), largest(observation)
    valid = choices(observation, items=items)
    logits = chooser.logits(input_of(observation, (), items, {}), valid)
    assert logits[0] == 0.0
    assert {logit for choice, logit in zip(valid, logits, strict=True) if choice.op == "elide"} == {2.0}
    assert chooser.logits(input_of(observation, (), items, {}), [COMMIT, Choice("elide", "t3")]) == [0.0, 2.0]


def test_extra_figures_stand_behind_the_row_of_an_item():
    weights = choosing(1.0, extra=("needed", "worth"), needed=by_age().item)
    observation = full()
    items = largest(observation)
    extra = extra_of(weights, observation, items)
    given = input_of(observation, (), items, extra)
    assert [row[ITEM:] for row in given.rows] == [extra[item.id] for item in items]
    of_results = [extra[item.id][0] for item in items if item.kind == "result"]
    assert of_results == sorted(of_results)  # the younger, the likelier
    assert len(given.rows[0]) == weights.item.inputs


def test_weights_that_ask_for_figures_without_a_network_for_them_are_refused():
    with pytest.raises(ValueError, match="have no network for it"):
        extra_of(choosing(1.0, extra=("needed",)), full(), ())


@given(observations())
def test_whatever_is_seen_the_shipped_weights_want_what_makes_sense(observation: Observation):
    verdict = Fallback(Learned()).ask(observation)
    assert verdict.problem is None
    assert verdict.by == "learned"


@given(observations())
def test_the_same_observation_gives_the_same_actions(observation: Observation):
    assert Learned().decide(observation) == Learned().decide(observation)


def test_weights_of_a_person_are_read_from_their_file(tmp_path: Path):
    path = tmp_path / "weights.json"
    path.write_bytes(write_weights(by_age()))
    policy = find_policy("learned", weights=str(path))
    assert policy.decide(full()) == decided(by_age(), full())


def test_a_file_that_is_not_there_is_told_by_the_door_and_the_rules_decide(tmp_path: Path):
    policy = find_policy("learned", weights=str(tmp_path / "none.json"))
    with pytest.raises(ConfigError, match="can't be read"):
        policy.decide(full())
    verdict = Fallback(policy).ask(full())
    assert (verdict.by, "can't be read" in str(verdict.problem)) == ("rules", True)


def test_it_is_asked_from_the_soft_threshold_on_and_weighs_costs_itself():
    manners = manners_of(find_policy("learned(left=0.5)"))
    assert (manners.guarded, manners.early) == (False, False)


def test_naming_it_reads_no_weights_and_no_numpy():
    code = (
        "import sys\nfrom trimtab.context.policies.registry import find_policy\nfind_policy('rules')\n"
        "assert not any(name.startswith('trimtab.context.policies.learned') for name in sys.modules)\n"
        "find_policy('learned')\nfrom trimtab.context.policies.learned.shipped import shipped\n"
        "assert shipped.cache_info().currsize == 0 and 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_shipped_weights_are_for_these_features_and_say_where_they_come_from():
    weights = shipped()
    assert weights.schema == SCHEMA
    assert {"stage", "code", "config", "needed", "validation"} <= weights.record.keys()
    assert len(weights.low) == len(weights.high) == weights.item.inputs == ITEM + len(weights.extra)


@given(
    st.lists(st.lists(st.floats(-20, 20), min_size=3, max_size=3), max_size=8),
    st.lists(st.floats(-3, 3), min_size=17, max_size=17),
)
def test_arrays_and_plain_numbers_give_the_same(rows: list[list[float]], numbers: list[float]):
    pytest.importorskip("numpy")
    first = Dense(tuple(tuple(numbers[n : n + 3]) for n in (0, 3, 6)), tuple(numbers[9:12]))
    last = Dense((tuple(numbers[12:15]),), (numbers[15],))
    network = Network((first, last), (0.5, 0.0, -1.0), (1.0, 2.0, 0.5))
    for one, other in zip(pass_over(network)(rows), map(network, rows), strict=True):
        assert one == pytest.approx(other, abs=1e-9)


def test_wishes_of_choices_say_how_likely_they_were():
    (action,) = decided(choosing(1.0), full())
    why = "the likeliest choice, rather than nothing with 73 %"
    assert action == Action("elide", action.targets, {"names": 400}, why)


def test_wishes_of_choices_say_how_likely_their_items_are_needed_again():
    weights = choosing(1.0, extra=("needed", "worth"), needed=by_age().item)
    (action,) = decided(weights, full())
    chances = action.params["chances"]
    assert chances.keys() == set(action.targets)
    told = f"needed again with {min(chances.values())} to {max(chances.values())} % each"
    assert action.reason == f"the likeliest choice, rather than nothing with 73 %; {told}"


def test_what_nobody_has_read_yet_goes_only_as_far_as_the_request_does_not_fit():
    items = work(12)
    nothing = dict.fromkeys((item.id for item in items), 0.0)
    roomy = targets(BreakEven().decide(seen(items, used=14_000), nothing).actions)
    assert roomy
    assert "t11" not in roomy
    young = [replace(item, age=0) for item in items]
    assert targets(BreakEven().decide(seen(young, used=14_000), nothing).actions) == []
    over = targets(BreakEven(left=0.92).decide(seen(young, used=15_000), nothing).actions)
    assert 1 <= len(over) <= 3
    # Where hiding makes far too little room, a summary does: the engine leaves out of it what the next answer is about.
    assert [action.action for action in BreakEven().decide(seen(young, used=15_000), nothing).actions] == ["compact"]
