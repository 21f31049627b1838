"""A server said no: what it said is believed as far as it fits, and only a refusal for size makes anything smaller."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.conversations import picture
from support.engine_session import Session, lines, model, shown_texts
from support.pictures import png
from trimtab.context.budget import Thresholds
from trimtab.context.cycle.refusals import LEAST, lesson_of
from trimtab.context.engine import Engine
from trimtab.context.settings import EngineSettings
from trimtab.types.edits import Elide
from trimtab.types.errors import ContextFloor, ErrorClass, ErrorInfo
from trimtab.types.messages import Image, Text, ToolResult, User
from trimtab.types.models import ModelInfo


def grown(tokens: int = 40_000, *, info: ModelInfo | None = None) -> Session:
    """A session of about so many tokens in a large window."""
    session = Session(Engine(info or model(200_000, max_output=8_000), session_id="s"))
    session.say("Fix the failing test")
    for number in range(tokens // 2_000):
        session.work(lines(2_000, seed=number))
    session.prepare()
    return session


@pytest.mark.parametrize(
    "kind",
    [
        "rate_limit",
        "auth",
        "quota",
        "refused",
        "server",
        "network",
        "malformed",
        "invalid",
        "history",
        "reasoning",
        "ids",
    ],
)
def test_a_refusal_that_is_not_about_size_shortens_nothing(kind: ErrorClass) -> None:
    session = grown()
    before = session.prepare().request
    after = session.prepare(after=ErrorInfo(kind, "too many tokens, please wait", limit=1_000, actual=90_000)).request
    assert (after, session.edits) == (before, [])


def test_an_overflow_teaches_the_window_and_the_request_shrinks_below_it() -> None:
    session = grown()
    used = session.engine.look(session.view, session.request).used
    prepared = session.prepare(after=ErrorInfo("overflow", limit=30_000, actual=used))
    assert session.engine.budget.window <= 30_000
    assert prepared.tokens <= session.engine.budget.target
    assert session.edits


def test_a_server_that_counts_more_than_we_do_gets_a_smaller_request() -> None:
    session = grown()
    used = session.engine.look(session.view, session.request).used
    session.prepare(after=ErrorInfo("overflow", limit=30_000, actual=int(used * 1.5)))
    assert session.engine.budget.window <= 20_100


def test_where_only_prompt_and_answer_together_were_too_much_a_shorter_answer_is_asked_for() -> None:
    session = grown(info=model(200_000, max_output=50_000))
    used = session.engine.look(session.view, session.request).used
    prepared = session.prepare(after=ErrorInfo("overflow", limit=2 * used, actual=used + 50_000))
    assert session.edits == []
    assert prepared.request.max_output is not None
    assert prepared.request.max_output < used


@pytest.mark.parametrize("limit", [None, 0, -7, 1, 10**12, 199_999])
@pytest.mark.parametrize("actual", [None, 0, -1, 5, 10**15])
def test_figures_that_make_no_sense_are_not_believed(limit: int | None, actual: int | None) -> None:
    session = grown()
    used = session.engine.look(session.view, session.request).used
    prepared = session.prepare(after=ErrorInfo("overflow", limit=limit, actual=actual))
    assert prepared.tokens < used
    assert session.engine.budget.window >= used * 0.7


def test_a_server_that_always_refuses_soon_gets_the_smallest_request_there_is() -> None:
    session = grown()
    sizes = [session.prepare(after=ErrorInfo("overflow", "no")).tokens for _ in range(20)]
    assert sizes == sorted(sizes, reverse=True)
    edits = len(session.edits)
    smallest = session.prepare(after=ErrorInfo("overflow", "no"))
    assert (len(session.edits), smallest.tokens) == (edits, sizes[-1])
    assert "Fix the failing test" in shown_texts(smallest.request.messages)


def test_a_tier_that_takes_less_is_a_window_of_its_own() -> None:
    session = grown()
    session.prepare(after=ErrorInfo("request_too_large_for_tier", limit=20_000, actual=None))
    assert session.engine.budget.window == 20_000


def test_an_output_cap_lowers_the_answer_and_leaves_the_history_alone() -> None:
    session = grown()
    prepared = session.prepare(after=ErrorInfo("output_cap", limit=2_048, actual=8_000))
    assert (prepared.request.max_output, session.edits) == (2_048, [])
    assert session.prepare().request.max_output == 2_048


def test_an_output_cap_without_a_figure_halves_what_is_asked_for() -> None:
    session = grown()
    assert session.prepare(after=ErrorInfo("output_cap")).request.max_output == 4_000


PICTURE = picture(png(), width=10, height=10)


def pictured() -> Session:
    session = Session(Engine(model(200_000, input=("text", "image")), session_id="s"))
    session.log.append([User((Text("what is on this?"), PICTURE))])
    return session


def test_a_picture_that_the_provider_refuses_goes_for_good_and_the_log_shows_it() -> None:
    session = pictured()
    session.prepare()
    prepared = session.prepare(after=ErrorInfo("media", "could not process image"))
    assert "[image not shown" in shown_texts(prepared.request.messages)
    assert [type(entry.edit) for entry in session.edits] == [Elide]
    assert session.prepare().request.messages == prepared.request.messages


def test_pictures_over_a_limit_go_before_they_are_sent_and_stay_away() -> None:
    session = Session(Engine(model(200_000, input=("text", "image"), compat={"media": {"count": 4}}), session_id="s"))
    session.say("look at the screens")
    for number in range(8):
        prepared = session.prepare()
        shown = sum(isinstance(p, Image) for m in prepared.request.messages for p in m.parts)
        assert shown <= 4
        session.work(ToolResult(f"c{number + 1}", "shot", (PICTURE,), is_error=False))
    assert {entry.author for entry in session.edits} == {"recovery"}


def test_notes_that_take_more_than_the_pictures_they_stand_for_still_fit() -> None:
    session = pictured()
    shots = [ToolResult(f"c{n + 1}", "shot", (PICTURE,), is_error=False) for n in range(30)]
    session.work(*shots)
    used = session.engine.look(session.view, session.request).used
    session.engine.settings = EngineSettings(thresholds=Thresholds(soft=1.0, hard_tokens=used + 5))
    prepared = session.prepare(after=ErrorInfo("media", "could not process image"))
    shown = [part for message in prepared.request.messages[1:] for part in message.parts]
    assert not any(isinstance(part, Image) for part in shown)
    assert session.engine.look(prepared.view, session.request).used <= session.engine.budget.hard
    assert {entry.author for entry in session.edits} == {"recovery"}


def test_with_the_policy_off_notes_that_do_not_fit_are_a_stop() -> None:
    session = pictured()
    session.engine.policy = "none"
    session.work(*(ToolResult(f"c{n + 1}", "shot", (PICTURE,), is_error=False) for n in range(30)))
    used = session.engine.look(session.view, session.request).used
    session.engine.settings = EngineSettings(thresholds=Thresholds(soft=1.0, hard_tokens=used + 5))
    with pytest.raises(ContextFloor, match="the policy 'none' changes nothing"):
        session.prepare(after=ErrorInfo("media", "could not process image"))


def test_a_switch_to_a_smaller_window_is_no_dead_end() -> None:
    session = grown(60_000)
    session.engine.use_model(model(12_000))
    prepared = session.prepare()
    assert prepared.tokens <= session.engine.budget.hard
    assert "Fix the failing test" in shown_texts(prepared.request.messages)


@settings(max_examples=300)
@given(
    st.sampled_from(["overflow", "request_too_large_for_tier", "output_cap", "media", "rate_limit"]),
    st.none() | st.integers(-(10**15), 10**15),
    st.none() | st.integers(-(10**15), 10**15),
    st.integers(1, 10**7),
    st.integers(1, 10**6),
    st.integers(LEAST, 10**7),
)
def test_any_figures_teach_something_usable(
    kind: ErrorClass, limit: int | None, actual: int | None, counted: int, asked: int, window: int
) -> None:
    lesson = lesson_of(ErrorInfo(kind, limit=limit, actual=actual), counted=counted, asked=asked, window=window)
    if kind in ("overflow", "request_too_large_for_tier"):
        assert lesson.window is not None
        assert lesson.window >= LEAST
    else:
        assert (lesson.window, lesson.shrink) == (None, False)
    if kind == "output_cap":
        assert lesson.output is not None
        assert 1 <= lesson.output <= max(1, asked)
