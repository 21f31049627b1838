"""The limits of a request, as the public contract writes them: margins first, then fractions of what is left, absolute figures beside them, and the lower wins."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.engine_session import Session, lines, model
from trimtab.context.budget import Thresholds, budget_for
from trimtab.context.engine import Engine
from trimtab.context.settings import EngineSettings
from trimtab.types.models import ModelRequest


@pytest.mark.parametrize(
    ("window", "max_output", "reserve", "safety"),
    [
        (200_000, 32_000, 32_000, 4_000),
        (200_000, 64_000, 50_000, 4_000),
        (8_000, 4_096, 2_000, 256),
        (12_800, 1_000, 1_000, 256),
        (12_900, 1_000, 1_000, 258),
        (1_000_000, 128_000, 128_000, 20_000),
    ],
)
def test_what_is_kept_free(window: int, max_output: int, reserve: int, safety: int) -> None:
    budget = budget_for(model(window, max_output=max_output))
    assert (budget.reserve, budget.safety) == (reserve, safety)
    assert budget.room == window - reserve - safety


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        (Thresholds(), (70_000, 50_000, 92_000)),
        (Thresholds(soft=0.4, target=0.3, hard=0.5), (40_000, 30_000, 50_000)),
        (Thresholds(soft_tokens=60_000), (60_000, 50_000, 92_000)),
        (Thresholds(soft_tokens=80_000), (70_000, 50_000, 92_000)),
        (Thresholds(target_tokens=10_000, hard_tokens=75_000), (70_000, 10_000, 75_000)),
        (Thresholds(hard_tokens=99_000), (70_000, 50_000, 92_000)),
        (Thresholds(hard_tokens=40_000), (40_000, 40_000, 40_000)),
        (Thresholds(soft_tokens=20_000), (20_000, 20_000, 92_000)),
        (Thresholds(soft=0.9, soft_tokens=85_000), (85_000, 50_000, 92_000)),
    ],
)
def test_of_a_fraction_and_a_figure_the_lower_holds(given_: Thresholds, expected: tuple[int, int, int]) -> None:
    budget = budget_for(model(100_000 + 2_256 + 44, max_output=254), given_)
    assert budget.room == 100_000
    assert (budget.soft, budget.target, budget.hard) == expected


def test_a_person_may_choose_the_margins_too() -> None:
    budget = budget_for(model(100_000), Thresholds(reserve_tokens=20_000, safety_tokens=0, hard=1.0))
    assert (budget.reserve, budget.safety, budget.room, budget.hard) == (20_000, 0, 80_000, 80_000)


FIGURE = st.none() | st.integers(0, 2_000_000)
SHARE = st.floats(0, 1)


@given(
    st.integers(1_000, 2_000_000),
    st.integers(1, 400_000),
    st.builds(
        Thresholds,
        soft=SHARE,
        target=SHARE,
        hard=SHARE,
        soft_tokens=FIGURE,
        target_tokens=FIGURE,
        hard_tokens=FIGURE,
        reserve_tokens=FIGURE,
    ),
)
def test_the_formula_holds_for_any_figures(window: int, max_output: int, chosen: Thresholds) -> None:
    budget = budget_for(model(window, max_output=max_output), chosen)
    reserve = int(min(max_output, Fraction(window, 4))) if chosen.reserve_tokens is None else chosen.reserve_tokens
    room = max(0, window - reserve - max(256, window // 50))

    def lower(share: float, figure: int | None, below: int) -> int:
        return min(below, int(room * share), room if figure is None else figure)

    hard = lower(chosen.hard, chosen.hard_tokens, room)
    soft = lower(chosen.soft, chosen.soft_tokens, hard)
    assert (budget.hard, budget.soft) == (hard, soft)
    assert budget.target == lower(chosen.target, chosen.target_tokens, soft)


def test_the_answer_may_have_what_the_prompt_leaves() -> None:
    session = Session(Engine(model(10_000, max_output=9_000), session_id="s"))
    session.say("look")
    session.work(lines(5_000))
    prepared = session.prepare()
    left = 10_000 - 256 - session.engine.look(prepared.view, session.request).used
    assert prepared.request.max_output == left
    assert left < 9_000


def test_an_engine_acts_by_the_thresholds_that_it_was_given() -> None:
    thresholds = Thresholds(hard_tokens=6_000, soft_tokens=4_000, target_tokens=3_000)
    session = Session(Engine(model(200_000), session_id="s", settings=EngineSettings(thresholds=thresholds)))
    session.say("look")
    sizes = []
    for number in range(20):
        used = session.engine.look(session.view, ModelRequest(session.engine.model, (), system=session.system)).used
        edits = len(session.edits)
        sizes.append(session.prepare().tokens)
        assert used >= 4_000 or len(session.edits) == edits
        session.work(lines(900, seed=number))
    assert max(sizes) <= 6_000
    assert session.edits
