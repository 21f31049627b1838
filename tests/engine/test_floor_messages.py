"""What a stop says: the parts that it lists add up to what it says there is, and no number contradicts another."""

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.engine_session import Session, lines, model
from trimtab.context.actions import Action
from trimtab.context.counting.anchor import Estimate
from trimtab.context.cycle.floor import over_with_policy_off, stuck
from trimtab.context.cycle.ladder import STEPS
from trimtab.context.engine import Engine
from trimtab.types.errors import ContextFloor

PARTS = re.compile(r"(system prompt|tools|pinned items|your last message|the rest) \(([\d,]+)\)")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def parts(message: str) -> dict[str, int]:
    return {name: number(size) for name, size in PARTS.findall(message)}


def total(message: str) -> int:
    found = re.search(r"(?:has|have) ([\d,]+) tokens", message)
    assert found is not None, message
    return number(found[1])


def session(**how: object) -> Session:
    made = Session(Engine(model(8_000), session_id="s"), **how)
    made.say("Find the port.")
    for n in range(3):
        made.work(lines(40, seed=n))
    return made


def test_what_must_stay_adds_up() -> None:
    made = session(system=lines(6_000))
    made.say(lines(6_000))
    with pytest.raises(ContextFloor) as stop:
        made.prepare()
    said = stop.value.message
    assert list(parts(said)) == ["system prompt", "your last message"]
    assert sum(parts(said).values()) == total(said)


def test_a_single_part_is_told_with_its_size_once() -> None:
    made = session(system="")
    made.say(lines(12_000))
    with pytest.raises(ContextFloor) as stop:
        made.prepare()
    assert re.match(r"your last message alone has [\d,]+ tokens, and a request may have ", stop.value.message)


@given(tokens=st.integers(0, 40_000), band=st.integers(0, 5_000), pinned=st.booleans())
def test_whatever_was_counted_the_parts_add_up_to_it(tokens: int, band: int, pinned: bool) -> None:
    made = session(system="Be brief.")
    if pinned:
        (call,) = made.work(lines(5))
        made.act(Action("pin", (call,)))
    look = made.engine.look(made.view, made.request)
    look = dataclasses.replace(look, estimate=Estimate(tokens, tokens + band, known=True, anchored=True))
    for stop in (stuck(look, ["dedupe"]), stuck(look, [], failures=["no disk"]), over_with_policy_off(look)):
        assert total(stop.message) == tokens
        assert sum(parts(stop.message).values()) == tokens
        assert (f", at most {tokens + band:,} (" in stop.message) == (band > 0)
        assert f", {look.budget.hard:,} may be sent" in stop.message
    assert ("unpin" in stuck(look, []).hint) == pinned


def test_the_largest_are_named_as_a_person_knows_them() -> None:
    made = session()
    made.work(lines(900))
    look = made.engine.look(made.view, made.request)
    (largest, *_) = sorted((size for _, size in look.sizes()), reverse=True)
    assert f"largest left: r1 ({largest:,})" in stuck(look, []).message


@pytest.mark.parametrize("step", [step.name for step in STEPS])
def test_what_was_tried_is_told_in_words(step: str) -> None:
    made = session()
    said = stuck(made.engine.look(made.view, made.request), [step]).message
    assert f"tried: {step};" not in said
    assert re.search(r"tried: [a-z]+( [a-z]+)+;", said)
