"""What holds for every policy, whatever it is shown."""

import msgspec
from hypothesis import given, settings
from msgspec.structs import replace

from support.observations import observations
from trimtab.context.actions import Action
from trimtab.context.policies.base import manners_of
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import find_policy
from trimtab.context.policies.weighing import named, weigh
from trimtab.context.seeing.observation import Observation

OURS = [
    "none",
    "truncate",
    "mask",
    "mask(keep=3, batch=1)",
    "summary",
    "rules",
    "rules(along=False, left=0.5)",
    "remote",
]
AROUND = ["cooldown:rules", "cost-gate:rules", "min-gain:mask", "immune:truncate", "dry-run:rules"]
PEER_NAMES = [row.name for row in PEERS]
POLICIES = [
    find_policy(spec) for spec in (*OURS, *AROUND, *PEER_NAMES, *(f"{name}(scaled=True)" for name in PEER_NAMES))
]


@settings(max_examples=60)
@given(observation=observations())
def test_every_policy_answers_any_observation_the_same_way_twice_and_in_json(observation: Observation):
    for policy in POLICIES:
        actions = tuple(policy.decide(observation))
        assert actions == tuple(policy.decide(observation))
        assert msgspec.json.decode(msgspec.json.encode(actions), type=tuple[Action, ...]) == actions


@settings(max_examples=60)
@given(observation=observations())
def test_no_policy_touches_what_is_pinned_or_isnt_there(observation: Observation):
    items = named(observation)
    for policy in POLICIES:
        for action in policy.decide(observation):
            assert len(set(action.targets)) == len(action.targets)
            assert not any(items[target].pinned for target in action.targets)


@settings(max_examples=60)
@given(observation=observations())
def test_below_the_soft_threshold_only_peers_act(observation: Observation):
    quiet = replace(
        observation, used=min(observation.used, max(0, observation.soft - 1)), soft=max(1, observation.soft)
    )
    for policy in POLICIES:
        assert manners_of(policy).early or tuple(policy.decide(quiet)) == ()


@settings(max_examples=60)
@given(observation=observations())
def test_rules_name_no_item_twice_and_gain_with_every_batch(observation: Observation):
    actions = [action for action in find_policy("rules").decide(observation) if action.action != "compact"]
    chosen = [target for action in actions for target in action.targets]
    assert len(set(chosen)) == len(chosen)
    assert not actions or weigh(actions, observation).gain > 0
