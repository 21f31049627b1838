"""What roles are, in which order their models are asked, and who rests."""

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.roles import MOST_REST_S, REST_S, Circuits, Member, configured_model, members_of, named_by, order_of
from trimtab.config.load import Layer, load
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError, ErrorInfo

DOWN = ErrorInfo("server", "down")


def settings(**tree: Any) -> Settings:
    return load([Layer("test", tree)]).settings


def test_a_role_is_one_model_or_a_list_with_weights() -> None:
    roles = settings(roles={"main": ["a/x", {"model": "b/y", "weight": 3}, "a/x"], "small": "c/z"})
    assert members_of(roles, "main") == (Member("a/x"), Member("b/y", 3))
    assert members_of(roles, "small") == (Member("c/z"),)
    assert members_of(roles, "vision") == ()


def test_the_setting_model_goes_before_the_role() -> None:
    assert configured_model(settings(roles={"main": ["a/x", "b/y"]})) == "a/x"
    assert configured_model(settings(model="c/z", roles={"main": ["a/x", "b/y"]})) == "c/z"
    assert configured_model(settings()) is None


def test_a_roles_name_means_its_model_where_it_is_set() -> None:
    assert named_by(settings(roles={"small": "c/z"}), "small") == "c/z"
    assert named_by(settings(), "small") == "small"
    assert named_by(settings(roles={"small": "c/z"}), None) is None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (5, "expected text or a list, got a whole number"),
        ([5], "expected text or a table, got a whole number"),
        ([{"model": "x", "weight": 0}], "from 1 on"),
        ([{"modell": "x"}], "did you mean 'model'"),
    ],
)
def test_a_wrong_role_is_said_in_a_persons_words(value: object, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        settings(roles={"main": value})


members = st.lists(
    st.builds(Member, st.sampled_from(["a/x", "b/y", "c/z", "d/w"]), st.none() | st.integers(1, 50)),
    unique_by=lambda member: member.ref,
)


@given(members, st.integers())
def test_an_order_holds_each_member_once(members: list[Member], seed: int) -> None:
    order = order_of(members, random=random.Random(seed).random)
    assert Counter(order) == Counter(members)
    assert order == order_of(members, random=random.Random(seed).random)
    if all(member.weight is None for member in members):
        assert order == tuple(members)


def test_twice_the_weight_comes_first_twice_as_often() -> None:
    draw = random.Random(7).random
    pair = (Member("a/x", 1), Member("b/y", 2))
    first = Counter(order_of(pair, random=draw)[0].ref for _ in range(3_000))
    assert 1.8 < first["b/y"] / first["a/x"] < 2.2


def test_who_fails_again_rests_twice_as_long_up_to_a_limit() -> None:
    now = 0.0
    circuits = Circuits(lambda: now)
    rests = []
    for _ in range(6):
        circuits.failed("p", DOWN)
        began = now
        while circuits.rests("p"):
            now += 1
        rests.append(now - began)
    assert rests == [REST_S, 120, 240, 480, MOST_REST_S, MOST_REST_S]
    now += 10_000
    circuits.failed("p", DOWN)
    began = now
    while circuits.rests("p"):
        now += 1
    assert now - began == REST_S, "that was long ago"
    assert not circuits.rests("another")


def test_a_provider_that_asks_for_a_day_is_asked_again_sooner() -> None:
    now = 0.0
    circuits = Circuits(lambda: now)
    circuits.failed("p", ErrorInfo("rate_limit", "later", retry_after_s=86_400))
    now = MOST_REST_S + 1
    assert not circuits.rests("p")
