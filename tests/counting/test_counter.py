"""Counting texts, messages, tools and requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting.kit import (
    BASE64,
    CHINESE,
    GPT,
    LOCAL,
    MODELS,
    NUMERIC_JSON,
    OPUS,
    SONNET,
    answer,
    counter,
    messages,
    result,
    texts,
    words,
)
from trimtab.context.counting import tokenizers
from trimtab.context.counting.counter import Counter, ends_turn
from trimtab.context.counting.size import Size
from trimtab.types.messages import Assistant, Image, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

READ = ToolSpec("read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.id)
@pytest.mark.parametrize("text", [BASE64, NUMERIC_JSON, CHINESE], ids=["base64", "numeric JSON", "Chinese"])
def test_dense_text_is_not_counted_as_four_characters_a_token(text, model):
    assert counter(model).text(text) > 1.3 * len(text) / 4


@pytest.mark.parametrize("text", [BASE64, NUMERIC_JSON, CHINESE], ids=["base64", "numeric JSON", "Chinese"])
def test_dense_text_is_not_undercounted_without_a_tokenizer_either(text, monkeypatch):
    exact = counter(GPT).text(text)
    monkeypatch.setattr(tokenizers, "load", lambda: None)
    assert 0.85 * exact < counter(GPT).text(text) < 1.5 * exact


def test_the_same_text_has_another_size_for_another_family():
    text = (
        "Nobody on the platform had expected another train that evening, because everything important was already settled. "
        * 50
    )
    assert counter(OPUS).text(text) > 1.3 * counter(GPT).text(text)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.id)
@pytest.mark.parametrize(
    "message",
    [
        user(""),
        result(""),
        ToolResult("c", "t", (Opaque("p", {"rows": [1, 2, 3]}),), is_error=False),
        ToolResult("c", "t", (), is_error=False),
        Assistant((), "stop"),
        Assistant((ToolCall("c", "t", {"a": 1}, ""),), "tool_use"),
        Assistant((Opaque("p", {}),), "stop"),
        Assistant((Thinking("", signature="x", redacted=True),), "stop"),
        User((Image("image/png"),)),
    ],
    ids=lambda m: type(m).__name__,
)
def test_no_message_counts_nothing(message, model):
    assert counter(model).message(message) >= 1


def test_a_structured_result_counts_by_its_data():
    small, large = ({"rows": list(range(n))} for n in (3, 3_000))
    sizes = [counter().message(ToolResult("c", "t", (Opaque("p", d),), is_error=False)) for d in (small, large)]
    assert sizes[1] > 100 * sizes[0]


def test_arguments_count_as_they_streamed_or_else_as_data():
    streamed = Assistant(
        (ToolCall("c", "write", {"content": words(500)}, '{"content": "' + words(500) + '"}'),), "tool_use"
    )
    parsed = Assistant((ToolCall("c", "write", {"content": words(500)}, ""),), "tool_use")
    assert counter().message(streamed) == pytest.approx(counter().message(parsed), rel=0.02)
    assert counter().message(streamed) > 500


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.id)
def test_a_reported_output_is_taken_instead_of_a_guess(model):
    assert counter(model).size(answer(words(100), prompt=10, output=200)).reported == 200


@pytest.mark.parametrize("output", [0, 1, 30])
def test_an_output_under_half_of_what_its_text_needs_is_a_placeholder(output):
    size = counter().size(answer(words(100), prompt=10, output=output))
    assert (size.reported, size.written) == (0, pytest.approx(100, rel=0.05))


def test_an_output_that_is_not_trusted_is_at_most_a_lower_bound():
    low, high = (answer(words(100), prompt=10, output=n) for n in (90, 300))
    assert counter().size(low, trusted=False).reported == 0
    assert counter().size(high, trusted=False).reported == 300


def test_thinking_behind_a_signature_counts_though_its_text_is_empty():
    hidden = Assistant((Thinking("", signature="s" * 4_000),), "stop")
    assert counter(OPUS).size(hidden).thought == pytest.approx(0.273 * 4_000 - 40)


def test_a_summary_of_thinking_counts_as_the_thinking_that_its_signature_covers():
    short = Assistant((Thinking("I looked.", signature="s" * 4_000),), "stop")
    assert counter(SONNET).size(short).thought == pytest.approx(0.2 * 4_000 - 10)


def test_a_provider_that_never_reads_thinking_again_is_not_charged_for_it():
    gemini = Counter(LOCAL.__class__("google", "gemini-2.5-pro", "google"))
    thought = Assistant((Thinking(words(500)), Text("Done.")), "stop", Usage(input=9, output=520, reasoning=500))
    assert gemini.size(thought).plain < 40
    assert gemini.size(Assistant(thought.parts, "stop")).thought == 0


def test_the_output_that_another_model_reported_is_not_ours():
    foreign = Assistant(
        (Thinking(words(300), signature="s"), Text(words(50))), "stop", Usage(output=400), "other-1", "other"
    )
    size = counter(OPUS).size(foreign)
    assert (size.reported, size.thought) == (0, 0)
    assert size.written > 50


def test_thinking_of_another_model_of_the_provider_is_read_as_text():
    sibling = Assistant((Thinking(words(300), signature="s" * 9_000),), "stop", None, "claude-sonnet-4-5", "anthropic")
    assert counter(OPUS).size(sibling).thought < 9_000 * 0.273 / 2


@pytest.mark.parametrize("model_id", ["gpt-5.4", "gpt-5.4-2026-03-05", "gpt-5.4-latest", "gpt-5.4[1m]"])
def test_a_snapshot_of_the_model_is_the_model(model_id):
    assert counter().size(answer("hi", output=50, model=model_id)).reported == 50


def test_a_smaller_sibling_is_not_the_model():
    assert counter().size(answer("hi", output=50, model="gpt-5.4-mini")).reported == 0


def test_thinking_of_a_turn_that_is_over_goes_where_the_provider_drops_it():
    thought = Assistant((Thinking(words(400)), Text("So.")), "stop")
    during = [user("a"), thought]
    after = [*during, user("b")]
    kept, dropped = (
        counter(m).request_size(after).plain - counter(m).request_size(during).plain for m in (OPUS, SONNET)
    )
    assert kept > 0
    assert dropped < -300


@pytest.mark.parametrize(
    ("origin", "ends"), [("prompt", True), ("steering", True), ("verify", True), ("command", False), ("summary", False)]
)
def test_a_turn_ends_with_the_words_of_a_person(origin, ends):
    assert ends_turn(user("x", origin=origin)) is ends


def test_a_request_counts_system_prompt_tools_and_messages():
    request = ModelRequest(GPT, (user("hello"),), system=words(300), tools=(READ,))
    bare = ModelRequest(GPT, (user("hello"),))
    fresh = counter()
    assert fresh.request(request) == pytest.approx(fresh.request(bare) + 300 + fresh.tool(READ), abs=10)


def test_a_tool_counts_its_name_description_and_schema():
    wide = ToolSpec(READ.name, READ.description, READ.parameters | {"description": words(200)})
    assert counter().tool(wide) > counter().tool(READ) + 150


def test_a_tokenizer_of_ones_own_takes_the_place_of_the_vocabulary():
    asked = []

    def by_words(text: str) -> int:
        asked.append(text)
        return len(text.split())

    own = Counter(GPT, tokenize=by_words)
    assert [own.text(t) for t in ("one two three", "", "one two three")] == [3, 0, 3]
    assert asked == ["one two three"]


@given(st.lists(texts, max_size=6), st.sampled_from(MODELS))
def test_the_cache_never_changes_an_answer(found, model):
    used = Counter(model, cached_texts=3)
    first = [used.raw([t])[0] for t in found]
    assert [used.raw([t])[0] for t in found] == first == Counter(model).raw(found)


def test_long_texts_are_cached_by_their_content_and_the_cache_is_bounded(monkeypatch):
    used = Counter(GPT, cached_texts=8)
    for i in range(50):
        used.text(words(400) + str(i))
    assert len(used._cache) <= 8
    asked = []
    monkeypatch.setattr(used, "_count", lambda found: asked.extend(found) or [1.0 for _ in found])
    used.text(words(400) + "49")
    assert asked == []


@given(messages, messages, st.sampled_from([m for m in MODELS if m is not SONNET and m is not GPT and m is not LOCAL]))
def test_more_messages_never_count_less_where_thinking_is_kept(head, tail, model):
    fresh = counter(model)
    assert fresh.tokens(fresh.request_size(head)) <= fresh.tokens(fresh.request_size(head + tail))


@given(messages, st.sampled_from(MODELS))
def test_no_count_is_negative(found, model):
    fresh = counter(model)
    assert fresh.tokens(fresh.request_size(found)) >= 0
    assert fresh.tokens(Size() - fresh.request_size(found)) == 0


@given(messages, st.sampled_from(MODELS))
def test_a_request_is_the_sum_of_its_messages_less_thinking_that_is_gone(found, model):
    fresh = counter(model)
    whole = sum(fresh.size(m).plain for m in found)
    gone = sum(fresh.thought(m).plain for m in found if isinstance(m, Assistant))
    assert whole - gone - 1e-6 <= fresh.request_size(found).plain <= whole + 1e-6
