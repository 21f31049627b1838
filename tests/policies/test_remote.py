"""What goes to a policy behind a URL, and what is taken from it."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.observations import observations, result, seen
from trimtab.context.actions import Action
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.registry import find_policy
from trimtab.context.policies.remote import actions_in, question_of, remote_of
from trimtab.context.seeing.observation import Observation

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["actions", "a"]), inner, max_size=2),
    max_leaves=8,
)


def asked(observation: Observation) -> Observation:
    """The question as a server reads it."""
    return msgspec.json.decode(question_of(observation), type=Observation)


@given(observations())
def test_a_server_reads_back_the_sizes_and_ages_that_other_policies_see(observation: Observation) -> None:
    there = asked(observation)
    assert (there.used, there.soft, there.since) == (observation.used, observation.soft, observation.since)
    for mine, its in zip(observation.items, there.items, strict=True):
        assert msgspec.structs.replace(its, resource=mine.resource) == mine


def test_of_a_call_only_the_tool_and_a_hash_go_out_and_equal_calls_stay_equal() -> None:
    script = 'call:bash({"command": "curl -u me:hunter2 https://x"})'
    items = [result(n, resource=resource) for n, resource in enumerate([script, script, "call:ls({})", "file:a.py#{}"])]
    (one, same, other, file) = asked(seen(items)).items
    assert one.resource == same.resource != other.resource
    assert str(one.resource).startswith("call:bash#")
    assert file.resource == "file:a.py#{}"
    assert b"hunter2" not in question_of(seen(items))


def test_no_secret_and_nobodys_words_but_the_goal_go_out() -> None:
    done = Action("elide", ("r1",), {"summary": "what the model wrote"}, "what the model thought")
    question = question_of(
        seen([result(1)], goal="repair it with the token ghp_abcdefghijklmnopqrstuvwx1234\ud800", last_actions=(done,))
    )
    assert b"repair it" in question
    assert b'"targets":["r1"]' in question
    for hidden in (b"ghp_abcdef", b"the model"):
        assert hidden not in question


@given(st.binary(max_size=60) | JSON.map(msgspec.json.encode))
def test_any_answer_becomes_actions_or_a_reason_and_then_the_rules_decide(body: bytes) -> None:
    wanted = actions_in(body)
    observation = seen([result(n) for n in range(12)], used=13_000)
    judge = Fallback(find_policy("remote"))
    verdict = judge.judge(observation, (), wanted) if isinstance(wanted, str) else judge.judge(observation, wanted)
    assert all(isinstance(action, Action) for action in verdict.actions)
    assert (verdict.by == "rules") == (verdict.problem is not None)


@pytest.mark.parametrize(("policy", "remote"), [("remote", True), ("dry-run:cooldown:remote", True), ("mask", False)])
def test_a_remote_policy_is_known_under_its_wrappers(policy: str, remote: bool) -> None:
    assert (remote_of(find_policy(policy)) is not None) is remote


def test_actions_of_a_good_answer_come_in_order_whatever_else_it_says() -> None:
    body: dict[str, Any] = {"version": 3, "actions": [{"action": "elide"}, {"action": "keep"}]}
    assert actions_in(msgspec.json.encode(body)) == ({"action": "elide"}, {"action": "keep"})
