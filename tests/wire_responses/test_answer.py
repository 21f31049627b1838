"""What the events of a Responses answer become."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.openai_responses_answer import ResponsesDecoder
from trimtab.providers.wire import WireFailure
from trimtab.types.messages import Assistant, Opaque, Text, Thinking, ToolCall
from trimtab.types.stream import Assembler, Ended, PartDelta, PartStarted, StreamEvent
from trimtab.types.usage import Usage
from wire_responses.streams import FULL, REASONING, USAGE, added, call, completed, delta, done, message


def events(sent: Iterable[Any]) -> list[StreamEvent]:
    decoder = ResponsesDecoder(provider="openai")
    out: list[StreamEvent] = []
    for event in sent:
        out.extend(decoder.feed("", event if isinstance(event, bytes) else json.dumps(event).encode()))
    out.extend(decoder.finish())
    return out


def folded(sent: Iterable[Any]) -> Assistant:
    assembler = Assembler(provider="openai", model="gpt-x")
    for event in events(sent):
        assembler.feed(event)
    return assembler.message()


def made(sent: Iterable[Any]) -> tuple[Any, ...]:
    return folded(sent).parts


def test_a_whole_answer_is_folded_in_its_order() -> None:
    assert folded(FULL) == Assistant(
        parts=(
            Thinking("First\n\nSecond", wire={"item": REASONING}),
            Text("I look é", wire={"phase": "commentary"}),
            ToolCall("call_1", "read", {"path": "a"}, '{"path":"a"}'),
        ),
        stop_reason="tool_use",
        usage=Usage(input=30, output=20, cache_read=60, cache_write=10, reasoning=5),
        model="gpt-x",
        provider="openai",
    )


def test_deltas_alone_say_the_same_text() -> None:
    seen = events(FULL)
    text = {
        kind: "".join(e.text for e in seen if isinstance(e, PartDelta) and e.kind == kind)
        for kind in ("thinking", "text", "tool_arguments")
    }
    assert text == {"thinking": "First\n\nSecond", "text": "I look é", "tool_arguments": '{"path":"a"}'}
    assert PartStarted(2, "tool_arguments", "call_1", "read") in seen


def test_the_answer_ends_with_its_final_event_and_not_with_the_connection() -> None:
    decoder = ResponsesDecoder(provider="openai")
    last = list(decoder.feed("", json.dumps(completed(message("hi"), usage=USAGE)).encode()))[-1]
    assert last == Ended("stop", usage=Usage(input=30, output=20, cache_read=60, cache_write=10, reasoning=5))
    assert list(decoder.feed("", b"[DONE]")) + list(decoder.feed("", b"{broken")) + list(decoder.finish()) == []


@pytest.mark.parametrize(
    "sent",
    [
        [completed(message("hi"))],
        [done(0, message("hi")), completed()],
        [delta("output_text", 0, "msg_1", "hi"), completed()],
        [added(0, message("")), delta("output_text", 0, "other_id", "hi"), completed(message("hi"))],
        [{"type": "response.output_text.delta", "delta": "hi"}, completed(message("hi", id="renamed"))],
        [added(0, message("")), delta("output_text", 0, "msg_1", "xx"), done(0, message("hi")), completed()],
        [added(0, message("")), done(0, message("hi")), done(0, message("hi")), completed(message("hi"))],
        [added(0, message("")), added(0, message("")), done(0, message("hi")), completed(message("hi"))],
        [done(0, message("hi")), delta("output_text", 0, "msg_1", "late"), completed(message("hi"))],
        [{"object": "response", "status": "completed", "output": [message("hi")]}],
        [b"null", b"", b"[]", b"7", {"type": "response.unheard_of", "x": None}, completed(message("hi")), b"[DONE]"],
        [{"type": "response.done", "response": {"output": [{"type": "message", "content": "hi"}]}}],
    ],
    ids=["final only", "done only", "deltas only", "ids change", "no ids", "done wins", "done twice", "added twice",
         "late delta", "not streamed", "noise", "content as text"],
)  # fmt: skip
def test_one_text_is_one_text_however_it_is_told(sent: list[Any]) -> None:
    answer = folded(sent)
    assert (answer.parts, answer.stop_reason) == ((Text("hi"),), "stop")


A, B = ToolCall("call_a", "read", {"n": 1}, '{"n":1}'), ToolCall("call_b", "read", {"n": 2}, '{"n":2}')
CALL_A, CALL_B = call("fc_a", "call_a", '{"n":1}'), call("fc_b", "call_b", '{"n":2}')


def bare(item: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in item.items() if k != "id"}


def opened(item: dict[str, Any]) -> dict[str, Any]:
    return {**item, "arguments": ""}


def arguments(index: int, item_id: str, text: Any) -> dict[str, Any]:
    return delta("function_call_arguments", index, item_id, text)


def without_index(event: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in event.items() if k != "output_index"}


@pytest.mark.parametrize(
    "sent",
    [
        [completed(CALL_A, CALL_B)],
        [done(0, CALL_A), done(1, CALL_B), completed(CALL_A, CALL_B)],
        [
            added(0, opened(CALL_A)),
            added(1, opened(CALL_B)),
            arguments(1, "fc_b", '{"n"'),
            arguments(0, "fc_a", '{"n":'),
            arguments(1, "fc_b", ":2}"),
            arguments(0, "fc_a", "1}"),
            completed(),
        ],
        [added(0, opened(CALL_A)), added(1, opened(CALL_B)), done(1, CALL_B), done(0, CALL_A), completed()],
        [
            without_index(added(0, bare(opened(CALL_A)))),
            without_index(arguments(0, "call_a", '{"n":1}')),
            without_index(done(0, bare(CALL_A))),
            without_index(added(0, bare(opened(CALL_B)))),
            without_index(arguments(0, "call_b", '{"n":2}')),
            without_index(done(0, bare(CALL_B))),
            completed(bare(CALL_A), bare(CALL_B)),
        ],
        [added(0, opened(CALL_A)), added(0, opened(CALL_B)), done(0, CALL_A), done(0, CALL_B), completed(CALL_A, CALL_B)],
        [done(0, CALL_A), done(0, CALL_B), completed({**CALL_A, "id": "x"}, {**CALL_B, "id": "y"})],
        [added(0, opened(CALL_A)), arguments(0, "fc_a", {"n": 1}), done(0, opened(CALL_A)), done(1, CALL_B), completed()],
        [
            added(0, opened(CALL_A)),
            {"type": "response.function_call_arguments.done", "item_id": "fc_a", "output_index": 0, "arguments": '{"n":1}'},
            done(1, {**CALL_B, "arguments": {"n": 2}}),
            completed(),
        ],
    ],
    ids=["final only", "done only", "interleaved", "done in another order", "call ids for ids, no index", "all of index 0",
         "done of index 0, renamed", "an object as delta, nothing in done", "arguments done, an object in done"],
)  # fmt: skip
def test_two_calls_are_two_calls_however_they_are_told(sent: list[Any]) -> None:
    answer = folded(sent)
    assert (answer.parts, answer.stop_reason) == ((A, B), "tool_use")


@pytest.mark.parametrize("ids", [("same", "same"), ("", ""), (None, 7)])
def test_calls_with_equal_or_missing_ids_get_ids_of_their_own(ids: tuple[Any, Any]) -> None:
    items = [{"type": "function_call", "call_id": i, "name": "read", "arguments": "{}"} for i in ids]
    calls = made([added(0, items[0]), added(1, items[1]), done(0, items[0]), done(1, items[1]), completed(*items)])
    assert len({c.id for c in calls}) == 2
    assert all(c.id for c in calls)


@pytest.mark.parametrize("raw", ["{bad", "[1]", '"x"'])
def test_arguments_that_are_no_object_are_kept_for_the_model_to_read(raw: str) -> None:
    assert made([completed(call("fc", "c", raw))]) == (ToolCall("c", "read", None, raw),)


def test_raw_reasoning_is_thinking_when_there_is_no_summary() -> None:
    item = {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    sent = [added(0, {**item, "content": []}), delta("reasoning_text", 0, "r", "hm"), done(0, item), completed(item)]
    assert made(sent) == (Thinking("hm", wire={"item": item}),)


def test_reasoning_that_shows_nothing_still_goes_back() -> None:
    item = {**REASONING, "summary": []}
    assert made([done(0, item), completed(item, message("hi"))]) == (Thinking("", wire={"item": item}), Text("hi"))


def test_an_unknown_item_is_kept_as_it_is() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"q": None}}
    started = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
    assert made([added(0, started), done(0, item), completed(item)]) == (Opaque("openai", item),)


def test_a_message_of_several_parts_keeps_them_apart() -> None:
    item = {"type": "message", "id": "m", "content": [{"type": "output_text", "text": t} for t in ("one", "two")]}
    sent = [
        delta("output_text", 0, "m", "on", content_index=0),
        delta("output_text", 0, "m", "two", content_index=1),
        done(0, item),
        completed(item),
    ]
    assert made(sent) == (Text("one"), Text("two"))


@pytest.mark.parametrize("streamed", [True, False])
def test_a_refusal_is_text_and_the_answer_is_refused(streamed: bool) -> None:
    item = {"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "No."}]}
    sent = [delta("refusal", 0, "m", "No.", content_index=0), completed()] if streamed else [completed(item)]
    answer = folded(sent)
    assert (answer.parts, answer.stop_reason) == ((Text("No."),), "refused")


@pytest.mark.parametrize(
    ("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "refused"), (None, "length")]
)
def test_an_incomplete_answer_says_why_and_keeps_what_came(reason: str | None, stop: str) -> None:
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [], "usage": USAGE}
    answer = folded([delta("output_text", 0, "m", "par"), {"type": "response.incomplete", "response": response}])
    assert (answer.parts, answer.stop_reason, answer.usage is None) == ((Text("par"),), stop, False)


@pytest.mark.parametrize(("more", "stop"), [(0, "length"), (1, "stop"), (-1, "stop")])
def test_an_answer_that_fills_the_window_to_its_last_token_was_cut(more: int, stop: str) -> None:
    window = USAGE["input_tokens"] + USAGE["output_tokens"] + more
    decoder = ResponsesDecoder(provider="local", window=window)
    (*_, end) = decoder.feed("", json.dumps(completed(message("hi"), usage=USAGE)).encode())
    assert isinstance(end, Ended)
    assert end.stop_reason == stop


@pytest.mark.parametrize(("limit", "stop"), [(20, "length"), (21, "stop"), (None, "stop")])
def test_an_answer_as_long_as_its_limit_was_cut_whatever_the_server_calls_it(limit: int | None, stop: str) -> None:
    decoder = ResponsesDecoder(provider="openai", max_output=limit)
    (*_, end) = decoder.feed("", json.dumps(completed(message("hi"), usage=USAGE)).encode())
    assert isinstance(end, Ended)
    assert end.stop_reason == stop


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "code": "server_error", "message": "boom", "param": None, "sequence_number": 3},
        {"type": "error", "error": {"type": "server_error", "message": "boom"}},
        {"error": {"message": "boom", "type": "server_error"}},
        {
            "type": "response.failed",
            "response": {"status": "failed", "error": {"code": "server_error", "message": "boom"}},
        },
        {"object": "response", "status": "failed", "error": {"code": "server_error", "message": "boom"}, "output": []},
    ],
)
def test_an_error_in_the_stream_is_a_failure_with_its_words(event: dict[str, Any]) -> None:
    with pytest.raises(WireFailure, match="boom"):
        events([delta("output_text", 0, "m", "par"), event])


def test_a_named_error_event_without_a_type_is_a_failure() -> None:
    with pytest.raises(WireFailure, match="boom"):
        list(ResponsesDecoder(provider="openai").feed("error", b'{"message": "boom"}'))


@pytest.mark.parametrize("ending", ["failed", "cancelled"])
def test_an_answer_that_failed_without_a_word_is_still_a_failure(ending: str) -> None:
    with pytest.raises(WireFailure, match=ending):
        events([{"type": f"response.{ending}", "response": {}}])


def test_an_answer_without_its_final_event_is_cut_and_may_be_asked_again() -> None:
    with pytest.raises(WireFailure) as caught:
        events(FULL[:-1])
    assert (caught.value.info.kind, caught.value.info.retryable) == ("network", True)


def test_lone_surrogates_are_replaced_at_every_depth() -> None:
    item = b'{"type": "thing", "deep": ["\\ud800", "\\ud83d\\ude00"]}'
    sent = b'{"type": "response.output_item.done", "output_index": 0, "item": ' + item + b"}"
    assert made([sent, completed()]) == (Opaque("openai", {"type": "thing", "deep": ["\ufffd", "😀"]}),)


@pytest.mark.parametrize("data", [b"{broken", b"\xff\xfe", b"[" * 100_000])
def test_what_is_not_json_is_malformed(data: bytes) -> None:
    with pytest.raises(WireFailure) as caught:
        events([data])
    assert caught.value.info.kind == "malformed"


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        ("many", None),
        ({"input_tokens": 5, "output_tokens": 2}, Usage(input=5, output=2)),
        ({"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}, Usage(input=0, cache_read=9)),
        ({"input_tokens": "5", "output_tokens": None, "input_tokens_details": 3}, Usage()),
    ],
)
def test_usage_counts_each_token_once_and_takes_any_shape(usage: Any, expected: Usage | None) -> None:
    answer = folded([completed(message("hi"), usage=usage)])
    assert answer.usage == expected


ODD = [
    None,
    True,
    -1,
    0,
    1,
    10**15,
    1.5,
    "",
    "x",
    "fc_1",
    [],
    [None],
    [{"text": 3}, {"refusal": None}],
    {},
    {"text": []},
]
ODDER = [
    {"n": {"k": [1]}},
    {"type": "message", "content": 7},
    {"output": [{"type": "function_call"}, None], "usage": {"a": "b"}},
    {"input_tokens": None, "input_tokens_details": []},
    {"status": "failed"},
    {"code": 3, "message": ["m"]},
]
json_values = st.sampled_from([*ODD, *ODDER])
kinds = st.sampled_from(
    sorted({e["type"] for e in FULL} | {"error", "response.failed", "response.refusal.delta", "message"})
)
fields = [
    "item",
    "delta",
    "item_id",
    "output_index",
    "content_index",
    "summary_index",
    "response",
    "error",
    "arguments",
]
item_types = st.sampled_from(["message", "reasoning", "function_call", "other", "", None, 3])
items = st.dictionaries(
    st.sampled_from(["id", "call_id", "name", "arguments", "content", "summary", "phase"]), json_values
)
typed_items = st.builds(lambda kind, rest: {**rest, "type": kind}, item_types, items)
garbage = st.builds(
    lambda kind, rest: {**rest, "type": kind},
    kinds,
    st.dictionaries(st.sampled_from(fields), json_values | typed_items, max_size=6),
)


@given(st.lists(garbage, max_size=8))
def test_garbage_is_a_wire_failure_or_nothing(sent: list[dict[str, Any]]) -> None:
    assembler = Assembler(provider="openai", model="gpt-x")
    decoder = ResponsesDecoder(provider="openai")
    try:
        for event in sent:
            for out in decoder.feed("", json.dumps(event).encode()):
                assembler.feed(out)
        for out in decoder.finish():
            assembler.feed(out)
    except WireFailure:
        pass
    assert all(c.id for c in assembler.message().tool_calls)


@given(st.binary(max_size=60), st.text(max_size=10))
def test_any_bytes_are_a_wire_failure_or_nothing(data: bytes, name: str) -> None:
    decoder = ResponsesDecoder(provider="openai")
    with suppress(WireFailure):
        list(decoder.feed(name, data))


@given(st.lists(st.sampled_from(FULL[:-1]), max_size=20))
def test_lost_repeated_and_shuffled_events_never_lose_the_final_answer(sent: list[dict[str, Any]]) -> None:
    answer = folded([*sent, FULL[-1]])
    assert sorted(type(p).__name__ for p in answer.parts) == ["Text", "Thinking", "ToolCall"]
    assert (answer.text, answer.tool_calls) == (
        "I look é",
        (ToolCall("call_1", "read", {"path": "a"}, '{"path":"a"}'),),
    )


@given(st.integers(0, len(FULL)))
def test_every_prefix_folds_to_a_prefix_of_the_answer(n: int) -> None:
    decoder = ResponsesDecoder(provider="openai")
    assembler = Assembler(provider="openai", model="gpt-x")
    for event in FULL[:n]:
        for out in decoder.feed("", json.dumps(event).encode()):
            assembler.feed(out)
    assert "I look é".startswith(assembler.message().text)
