"""The ladder: each rung alone keeps a session alive as far as its material reaches, all together always, and the guards keep it from spinning."""

from typing import Any

import pytest

from support.engine_session import Session, lines, model, shown_texts
from trimtab.context.actions import Action
from trimtab.context.budget import Thresholds
from trimtab.context.cycle.ladder import STEPS
from trimtab.context.engine import Engine
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.types.edits import edit_kind
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Text
from trimtab.types.models import CacheRules, Price
from trimtab.types.tools import ToolSpec

TASK = "Fix the failing test in src/calc.py"
RUNGS = {step.name: step for step in STEPS}


class Nothing:
    """A policy that never acts, so that only the ladder does."""

    name = "nothing"

    def decide(self, observation: Observation) -> list[Action]:
        return []


def alone(*names: str, window: int = 20_000, **settings: Any) -> Session:
    """A session that only these rungs keep alive."""
    steps = tuple(RUNGS[name] for name in names)
    engine = Engine(model(window), session_id="s", policy=Nothing(), steps=steps, settings=EngineSettings(**settings))
    session = Session(engine)
    session.say(TASK)
    return session


def same_file(session: Session, number: int) -> None:
    session.work(lines(2_000, seed=7), name="read", arguments={"path": "src/a.py"})


def large_write(session: Session, number: int) -> None:
    session.work("written", name="write", arguments={"path": f"src/{number}.py", "content": lines(2_000, seed=number)})


def large_result(session: Session, number: int) -> None:
    session.work(lines(4_000, seed=number))


MATERIAL = {
    "dedupe": (same_file, "elide"),
    "offload": (large_write, "offload"),
    "fold": (large_result, "fold"),
    "elide": (large_result, "elide"),
    "digest": (large_result, "compact"),
    "summary": (large_result, "compact"),
    "newest": (large_result, "elide"),
    "whole": (large_result, "compact"),
}


@pytest.mark.parametrize("name", sorted(MATERIAL))
def test_each_rung_alone_keeps_a_session_of_its_material_alive(name: str) -> None:
    session = alone(name)
    more, kind = MATERIAL[name]
    for number in range(12):
        prepared = session.prepare()
        assert TASK in shown_texts(prepared.request.messages)
        more(session, number)
    assert {edit_kind(entry.edit) for entry in session.edits} == {kind}
    assert {entry.author for entry in session.edits} == {"recovery"}


def test_every_rung_has_material_here() -> None:
    assert set(MATERIAL) == set(RUNGS)


def test_a_rung_without_material_ends_in_a_stop_that_says_what_was_tried() -> None:
    session = alone("dedupe")
    with pytest.raises(ContextFloor, match=r"\d.*tried: nothing"):  # noqa: PT012 - the window fills up step by step
        for number in range(12):
            session.prepare()
            large_result(session, number)


def test_all_rungs_together_end_within_the_budget_whatever_fills_it() -> None:
    session = alone(*RUNGS)
    for number in range(30):
        prepared = session.prepare()
        assert session.engine.look(prepared.view, session.request).used <= session.engine.budget.hard
        (same_file, large_write, large_result)[number % 3](session, number)


def test_the_ladder_goes_down_to_the_target_not_just_below_the_limit() -> None:
    session = alone(*RUNGS)
    for number in range(12):
        edits = len(session.edits)
        prepared = session.prepare()
        if len(session.edits) > edits:
            assert prepared.tokens <= session.engine.budget.target
        large_result(session, number)
    assert session.edits


def test_what_cannot_go_is_asked_first_and_the_stop_names_its_parts() -> None:
    tools = tuple(ToolSpec(f"tool_{n}", lines(200, seed=n), {"type": "object"}) for n in range(30))
    session = Session(Engine(model(8_000), session_id="s"), tools=tools)
    session.say(TASK)
    with pytest.raises(ContextFloor, match=r"tools \([\d,]+\).*a request may have [\d,]+ \(window 8,000\)") as stop:
        session.prepare()
    assert "fewer tools" in stop.value.hint
    assert len(session.log.archive) == 1


def test_pins_that_fill_the_window_are_named_as_such() -> None:
    session = alone(*RUNGS)
    for number in range(9):
        (call,) = session.work(lines(3_000, seed=number))
        session.act(Action("pin", (call,)))
    with pytest.raises(ContextFloor, match=r"pinned items \([\d,]+\)") as stop:
        session.prepare()
    assert "Unpin" in stop.value.hint


def greedy(observation: Observation) -> list[Action]:
    ids = [item.id for item in observation.items if item.kind == "result" and item.state == "full"]
    return [Action("elide", tuple(ids[:1]), reason="one at a time")]


class Greedy:
    """Wants one small edit before each request."""

    name = "greedy"

    def decide(self, observation: Observation) -> list[Action]:
        return greedy(observation)


CACHED = CacheRules("explicit", 64, 1, 20, 4, 300)


def stirred(**settings: Any) -> Session:
    info = model(60_000, prices=(Price(3, 15, 3, 3),), cache=CACHED)
    behaviour = EngineSettings(thresholds=Thresholds(soft=0.2, target=0.1), **settings)
    session = Session(Engine(info, session_id="s", policy=Greedy(), settings=behaviour))
    session.say(TASK)
    for number in range(24):
        session.prepare()
        session.work(lines(1_500, seed=number))
    return session


def test_an_edit_that_gains_too_little_for_the_cache_it_breaks_is_not_made() -> None:
    assert stirred(min_gain=0.5).edits == []
    assert stirred(min_gain=0.0).edits


def test_a_kind_of_action_rests_between_two_batches() -> None:
    often, rarely = (len(stirred(min_gain=0.0, cooldown=n).edits) for n in (1, 8))
    assert rarely < often


def test_a_policy_that_edits_at_every_step_is_made_to_rest_and_a_person_is_told() -> None:
    session = Session(
        Engine(
            model(60_000),
            session_id="s",
            policy=Greedy(),
            settings=EngineSettings(thresholds=Thresholds(soft=0.1, target=0.05), min_gain=0.0, cooldown=0),
        )
    )
    session.say(TASK)
    notes: list[str] = []
    for number in range(24):
        notes += session.prepare().notes
        session.work(lines(1_500, seed=number))
    assert any("rests for" in note for note in notes)
    assert len({entry.batch for entry in session.edits}) < 20


def test_a_step_asks_only_a_few_things_however_full_the_window_is() -> None:
    session = alone(*RUNGS)
    for number in range(30):
        session.outside.asked.clear()
        session.prepare()
        assert len(session.outside.asked) <= 3 * len(RUNGS)
        large_result(session, number)


def test_usage_from_before_an_edit_never_triggers_the_next_one() -> None:
    session = alone(*RUNGS)
    for number in range(6):
        session.work(lines(3_000, seed=number))
    before = session.prepare()
    assert before.edits
    session.answer(Text("ok"))
    assert session.prepare().edits == ()


def test_switched_off_nothing_happens_until_the_window_is_full_and_then_it_stops_in_words() -> None:
    session = Session(Engine(model(20_000), session_id="s", policy="none"))
    session.say(TASK)
    with pytest.raises(ContextFloor, match="'none'"):  # noqa: PT012 - the window fills up step by step
        for number in range(20):
            session.prepare()
            session.work(lines(1_500, seed=number))
    assert session.edits == []


def test_an_absolute_limit_beats_a_fraction_of_a_large_window() -> None:
    thresholds = Thresholds(soft_tokens=20_000, target_tokens=10_000, hard_tokens=30_000)
    session = Session(Engine(model(1_000_000), session_id="s", settings=EngineSettings(thresholds=thresholds)))
    session.say(TASK)
    for number in range(30):
        assert session.prepare().tokens <= 30_000
        session.work(lines(2_000, seed=number))
