"""What of a history another model may be shown."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.history import LEGAL_ID, adapt, describe_image, same_model
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo

EYES = ModelInfo("anthropic", "claude-x", "anthropic", input=("text", "image"))
BLIND = ModelInfo("anthropic", "claude-x", "anthropic")
OTHER_MODEL = ModelInfo("anthropic", "claude-y", "anthropic")
STRANGER = ModelInfo("openai", "gpt-x", "openai-responses")


def answer(*parts: Any, provider: str = "anthropic", model: str = "claude-x", superseded: bool = False) -> Assistant:
    return Assistant(parts, "stop", model=model, provider=provider, superseded=superseded)


def call(call_id: str, wire: dict[str, Any] | None = None) -> ToolCall:
    return ToolCall(call_id, "read", {}, "{}", wire=wire)


def result(call_id: str, *parts: Any) -> ToolResult:
    return ToolResult(call_id, "read", parts or (Text("ok"),), is_error=False)


RICH = answer(
    Thinking("hm", signature="s", wire={"x": 1}),
    Thinking("", signature="secret", redacted=True),
    Text("hi", wire={"id": "msg_1"}),
    Opaque("anthropic", {"type": "server_thing"}),
    call("t1", {"signature": "g"}),
)


def test_the_maker_gets_its_own_answer_back_unchanged() -> None:
    history = (user("q"), RICH, result("t1"))
    assert adapt(history, BLIND) == history


def test_another_model_of_the_provider_gets_unsigned_thinking_and_opaque_items() -> None:
    expected = answer(Thinking("hm"), Text("hi"), Opaque("anthropic", {"type": "server_thing"}), call("t1"))
    assert adapt((RICH, result("t1")), OTHER_MODEL) == (expected, result("t1"))


def test_another_provider_gets_text_and_calls_only() -> None:
    assert adapt((RICH, result("t1")), STRANGER) == (answer(Text("hi"), call("t1")), result("t1"))


def test_a_dated_snapshot_is_the_model_it_was_asked_as() -> None:
    dated = answer(Thinking("hm", signature="s"), model="claude-x-20260101")
    assert adapt((dated,), BLIND) == (dated,)


@pytest.mark.parametrize(
    ("made_by", "wanted", "same"),
    [
        ("gpt-x", "gpt-x-2026-01-31", True),
        ("models/gemini-x", "gemini-x", True),
        ("claude-x-latest", "claude-x", True),
        ("gpt-x-mini", "gpt-x", False),
        ("", "gpt-x", False),
        ("", "", False),
    ],
)
def test_model_names_are_compared_without_their_date(made_by: str, wanted: str, same: bool) -> None:
    assert same_model(made_by, wanted) is same


def test_an_answer_that_only_thought_disappears_for_a_stranger() -> None:
    assert adapt((user("q"), answer(Thinking("hm", signature="s")), user("go on")), STRANGER) == (
        user("q"),
        user("go on"),
    )


def test_a_superseded_answer_disappears_with_the_results_of_its_calls() -> None:
    cut = answer(Text("par"), call("t1"), superseded=True)
    again = answer(call("t1"))
    assert adapt((user("q"), cut, result("t1", Text("old")), again, result("t1")), BLIND) == (
        user("q"),
        again,
        result("t1"),
    )


def test_blank_parts_and_empty_messages_are_removed_but_a_result_never_is() -> None:
    history = (User((Text("  "),)), answer(Text("\n"), call("t1")), result("t1", Text("")), answer(), User(()))
    assert adapt(history, BLIND) == (answer(call("t1")), ToolResult("t1", "read", (), is_error=False))


def test_a_blank_text_that_carries_a_signature_stays_with_its_maker_only() -> None:
    signed = answer(Text("a"), Text("", wire={"signature": "s"}))
    assert adapt((signed,), BLIND) == (signed,)
    assert adapt((signed,), STRANGER) == (answer(Text("a")),)


def test_images_become_described_notes_for_a_blind_model_also_inside_results() -> None:
    image = Image("image/png", "QUJD", name="plot.png", width=2, height=3)
    note = Text("[image not shown: plot.png, image/png, 2x3, 3 bytes]")
    history = (User((Text("see"), image)), answer(call("t1")), result("t1", Text("got"), image))
    below = Text("\n" + note.text)
    assert adapt(history, BLIND) == (User((Text("see"), note)), answer(call("t1")), result("t1", Text("got"), below))
    assert adapt(history, EYES) == history


def test_an_image_without_facts_is_still_described() -> None:
    assert describe_image(Image("image/gif")) == "[image not shown: image/gif]"


def test_an_illegal_id_is_mapped_on_both_sides_of_the_pair() -> None:
    foreign = "call_1|fc_" + "x" * 90
    made, answered = adapt((answer(call(foreign)), result(foreign)), STRANGER)
    assert isinstance(made, Assistant)
    assert isinstance(answered, ToolResult)
    assert made.tool_calls[0].id == answered.call_id
    assert LEGAL_ID.fullmatch(answered.call_id)


def test_two_calls_with_one_id_get_two_ids_and_their_own_results_in_order() -> None:
    history = (answer(call("t"), call("t")), result("t", Text("first")), result("t", Text("second")))
    made, first, second = adapt(history, STRANGER)
    assert isinstance(made, Assistant)
    assert [c.id for c in made.tool_calls] == [m.call_id for m in (first, second) if isinstance(m, ToolResult)]
    assert len({c.id for c in made.tool_calls}) == 2


@pytest.mark.parametrize("length", [9, 12, 40, 64])
def test_a_server_with_ids_of_one_length_gets_ids_of_that_length(length: int) -> None:
    strict = re.compile(rf"[A-Za-z0-9]{{{length}}}")
    made, answered = adapt((answer(call("call_0123")), result("call_0123")), STRANGER, legal_id=strict)
    assert isinstance(made, Assistant)
    assert isinstance(answered, ToolResult)
    assert strict.fullmatch(answered.call_id)
    assert made.tool_calls[0].id == answered.call_id


def test_a_form_of_its_own_is_kept_for_the_provider_that_made_it_only() -> None:
    history = (answer(call("functions.read:0")), result("functions.read:0"))
    own = re.compile(r"[!-~]{1,64}")
    assert adapt(history, BLIND, own_id=own) == history
    _, answered = adapt(history, STRANGER, own_id=own)
    assert isinstance(answered, ToolResult)
    assert LEGAL_ID.fullmatch(answered.call_id)


ids = st.sampled_from(["a", "b", "call.1", "x" * 70, "", "ü"])
texts = st.sampled_from(["", " ", "hello", "é"])
parts = st.one_of(
    st.builds(Text, texts, wire=st.sampled_from([None, {"id": "m"}])),
    st.builds(Thinking, texts, signature=st.sampled_from([None, "sig"]), redacted=st.booleans()),
    st.builds(Opaque, st.sampled_from(["anthropic", "openai"]), st.just({"k": 1})),
    st.builds(Image, st.just("image/png"), st.just("QUJD")),
)


@st.composite
def turns(draw: st.DrawFn) -> tuple[Message, ...]:
    """A person speaks, a model answers with calls, every call is answered in order."""
    asked = User(tuple(draw(st.lists(st.builds(Text, texts) | st.builds(Image, st.just("image/png")), max_size=2))))
    calls = [call(i, draw(st.sampled_from([None, {"w": 1}]))) for i in draw(st.lists(ids, max_size=3))]
    said = answer(
        *draw(st.lists(parts, max_size=3)),
        *calls,
        provider=draw(st.sampled_from(["anthropic", "openai"])),
        model=draw(st.sampled_from(["claude-x", "claude-y", "gpt-x"])),
        superseded=draw(st.booleans()),
    )
    return (asked, said, *(result(c.id, *draw(st.lists(st.builds(Text, texts), max_size=2))) for c in calls))


histories = st.lists(turns(), max_size=5).map(lambda ts: tuple(m for t in ts for m in t))
models = st.sampled_from([EYES, BLIND, OTHER_MODEL, STRANGER])


@given(histories, models)
def test_every_call_keeps_exactly_its_result_and_every_id_is_legal_and_unique(
    history: tuple[Message, ...], model: ModelInfo
) -> None:
    adapted = adapt(history, model)
    calls = [c.id for m in adapted if isinstance(m, Assistant) for c in m.tool_calls]
    assert calls == [m.call_id for m in adapted if isinstance(m, ToolResult)]
    assert len(set(calls)) == len(calls)
    assert all(LEGAL_ID.fullmatch(c) for c in calls)


@given(histories, histories, models)
def test_a_longer_history_only_appends(
    history: tuple[Message, ...], more: tuple[Message, ...], model: ModelInfo
) -> None:
    before = adapt(history, model)
    assert adapt(history + more, model)[: len(before)] == before


@given(histories, models)
def test_adapting_twice_changes_nothing_more(history: tuple[Message, ...], model: ModelInfo) -> None:
    once = adapt(history, model)
    assert adapt(once, model) == once


@given(histories, models)
def test_nothing_signed_or_wired_reaches_another_maker(history: tuple[Message, ...], model: ModelInfo) -> None:
    for message in adapt(history, model):
        if isinstance(message, Assistant) and (message.provider, message.model) != (model.provider, model.id):
            assert all(
                getattr(p, "wire", None) is None and getattr(p, "signature", None) is None for p in message.parts
            )
            assert not any(isinstance(p, Thinking) and message.provider != model.provider for p in message.parts)


@given(st.lists(st.one_of(st.builds(result, ids), st.builds(answer, st.builds(call, ids)))).map(tuple), models)
def test_unpaired_input_never_crashes_and_ids_stay_legal(history: tuple[Message, ...], model: ModelInfo) -> None:
    for message in adapt(history, model):
        made = [c.id for c in message.tool_calls] if isinstance(message, Assistant) else []
        got = [message.call_id] if isinstance(message, ToolResult) else []
        assert all(LEGAL_ID.fullmatch(i) for i in made + got)
