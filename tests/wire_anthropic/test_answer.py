"""What the events of a Messages stream become."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.decoding import ODD_VALUES, failure, failure_or_none, fold, message, stream
from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.sse import SseParser
from trimtab.providers.wire import Decoder, WireFailure
from trimtab.types.codec import decode_message, encode_message
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Opaque, Text, Thinking, ToolCall
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted
from trimtab.types.usage import Usage

Event = dict[str, Any]
START: Event = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}}
STOP: Event = {"type": "message_stop"}


def decoder() -> Decoder:
    return AnthropicWire().decoder(ModelRequest(ModelInfo("anthropic", "claude-x", "anthropic"), ()))


def begin(index: int, **block: Any) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def end(index: int) -> Event:
    return {"type": "content_block_stop", "index": index}


def stop(reason: str | None, **usage: Any) -> Event:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or None}


def words(index: int, *pieces: str) -> list[Event]:
    return [begin(index, type="text", text=""), *(delta(index, "text_delta", text=p) for p in pieces), end(index)]


def tool(index: int, *pieces: Any, call_id: str = "t1", given: Any = None) -> list[Event]:
    start = begin(index, type="tool_use", id=call_id, name="read", input={} if given is None else given)
    return [start, *(delta(index, "input_json_delta", partial_json=p) for p in pieces), end(index)]


def call(raw: str, call_id: str = "t1", **more: Any) -> ToolCall:
    return ToolCall(call_id, "read", more.pop("arguments", None) or json.loads(raw or "{}"), raw, **more)


def test_a_whole_stream_in_order_with_every_event_it_makes() -> None:
    events = [
        START,
        begin(0, type="thinking", thinking="", signature=""),
        {"type": "ping"},
        delta(0, "thinking_delta", thinking="hm"),
        delta(0, "signature_delta", signature="s1"),
        end(0),
        *words(1, "He", "llo"),
        *tool(2, '{"pa', 'th": "a"}'),
        stop("tool_use", output_tokens=9),
        STOP,
    ]
    assert stream(decoder(), *events) == [
        PartStarted(0, "thinking"),
        PartDelta(0, "thinking", "hm"),
        PartEnded(0, Thinking("hm", "s1")),
        PartStarted(1, "text"),
        PartDelta(1, "text", "He"),
        PartDelta(1, "text", "llo"),
        PartEnded(1, Text("Hello")),
        PartStarted(2, "tool_arguments", "t1", "read"),
        PartDelta(2, "tool_arguments", '{"pa'),
        PartDelta(2, "tool_arguments", 'th": "a"}'),
        PartEnded(2, call('{"path": "a"}')),
        Ended("tool_use", Usage(input=5, output=9)),
    ]


SEARCH = {"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"url": "u", "encrypted_content": "x"}]}


@pytest.mark.parametrize(
    ("events", "parts"),
    [
        pytest.param(
            [
                begin(0, type="thinking", thinking=""),
                delta(0, "thinking_delta", thinking="a"),
                delta(0, "signature_delta", signature="s1"),
                end(0),
                begin(1, type="redacted_thinking", data="sealed"),
                end(1),
                begin(2, type="thinking", thinking="b", signature="s2"),
                end(2),
            ],
            (Thinking("a", "s1"), Thinking("", "sealed", redacted=True), Thinking("b", "s2")),
            id="each thinking block keeps its own signature and redacted thinking is kept",
        ),
        pytest.param(
            [begin(0, type="thinking", thinking=""), delta(0, "signature_delta", signature="s"), end(0)],
            (Thinking("", "s"),),
            id="thinking that is not shown keeps its signature",
        ),
        pytest.param(tool(0, given={"path": "a"}), (call('{"path":"a"}'),), id="whole input in the start"),
        pytest.param(tool(0, '{"b":1}', given={"a": 1}), (call('{"b":1}'),), id="pieces win over the start"),
        pytest.param(tool(0), (call(""),), id="no input is an empty object"),
        pytest.param(tool(0, {"path": "a"}), (call('{"path":"a"}'),), id="an object instead of its text"),
        pytest.param(tool(0, given='{"path": "a"}'), (call('{"path": "a"}'),), id="text instead of an object"),
        pytest.param(tool(0, '{"pa'), (ToolCall("t1", "read", None, '{"pa'),), id="unparsable input is kept"),
        pytest.param(
            [*words(3, "a"), *tool(7, "{}")], (Text("a"), call("{}")), id="indexes need not begin at 0 or be dense"
        ),
        pytest.param(
            [
                begin(0, type="text", text=""),
                begin(1, type="tool_use", id="t1", name="read", input={}),
                delta(1, "input_json_delta", partial_json='{"a"'),
                delta(0, "text_delta", text="hi"),
                delta(1, "input_json_delta", partial_json=": 1}"),
                end(1),
                end(0),
            ],
            (Text("hi"), call('{"a": 1}')),
            id="interleaved blocks stay apart in the order they began",
        ),
        pytest.param(
            [*tool(0, '{"a":1}', call_id="t1"), *tool(0, '{"a":2}', call_id="t2")],
            (call('{"a":1}'), call('{"a":2}', "t2")),
            id="two calls with one index are two calls",
        ),
        pytest.param(
            [begin(0, type="text", text="a"), begin(0, type="text", text="b"), end(0)],
            (Text("a"), Text("b")),
            id="a start without the stop before it ends the block before it",
        ),
        pytest.param(
            [delta(0, "text_delta", text="a"), delta(0, "text_delta", text="b")],
            (Text("ab"),),
            id="text without a start or a stop",
        ),
        pytest.param(
            [
                begin(0, **SEARCH),
                delta(0, "input_json_delta", partial_json='{"query":'),
                delta(0, "input_json_delta", partial_json='"q"}'),
                end(0),
                begin(1, **FOUND),
                end(1),
            ],
            (Opaque("anthropic", {**SEARCH, "input": {"query": "q"}}), Opaque("anthropic", FOUND)),
            id="server tools are kept verbatim",
        ),
        pytest.param(
            [
                begin(0, type="novelty", content="", items=[1]),
                delta(0, "novelty_delta", content="a"),
                delta(0, "novelty_delta", content="b", items=[2], level=3),
                end(0),
            ],
            (Opaque("anthropic", {"type": "novelty", "content": "ab", "items": [1, 2], "level": 3}),),
            id="an unknown block grows by its unknown deltas",
        ),
        pytest.param(
            [
                begin(0, type="text", text=""),
                delta(0, "text_delta", text="a"),
                delta(0, "citations_delta", citation={"url": "u"}),
                end(0),
            ],
            (Text("a", {"citations": [{"url": "u"}]}),),
            id="citations stay with their text",
        ),
        pytest.param(
            [
                begin(0, type="text", text="a"),
                delta(0, "mood_delta", text={"x": 1}),
                end(0),
                {"type": "later", "index": "x"},
            ],
            (Text("a"),),
            id="unknown deltas and events are skipped whatever their shape",
        ),
        pytest.param([b"null", b"", b"[DONE]", *words(0, "a")], (Text("a"),), id="null, empty and [DONE] are skipped"),
        pytest.param(words(0, "a\u2028b\x85", "🌍"), (Text("a\u2028b\x85🌍"),), id="odd line ends are text"),
        pytest.param(
            [b'{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\\ud800 \xff"}}'],
            (Text("a\ufffd \ufffd"),),
            id="lone surrogates and invalid UTF-8 are replaced",
        ),
        pytest.param(
            [begin(0, type="tool_use", id="t1", name="read", input={}, caller={"type": "direct"}), end(0)],
            (call("", wire={"caller": {"type": "direct"}}),),
            id="the caller of a call is kept",
        ),
        pytest.param([begin(0), {"type": "content_block_start", "index": 1, "content_block": None}], (), id="no type"),
    ],
)
def test_blocks_become_parts(events: list[Any], parts: tuple[Any, ...]) -> None:
    assert message(decoder(), START, *events, stop("end_turn"), STOP).parts == parts


@pytest.mark.parametrize("ids", [("", ""), (None, None), ("t", "t"), (7, None)])
def test_calls_without_an_id_or_with_the_same_one_get_fresh_ids(ids: tuple[Any, Any]) -> None:
    events = [e for n, i in enumerate(ids) for e in tool(n, "{}", call_id=i)]
    first, second = message(decoder(), START, *events, stop("tool_use"), STOP).tool_calls
    assert first.id
    assert second.id
    assert first.id != second.id


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refused"),
        ("something_new", "stop"),
        ("tool_use", "stop"),
        (None, "stop"),
    ],
)
def test_stop_reasons_of_an_answer_without_calls(reason: str | None, expected: str) -> None:
    assert message(decoder(), START, *words(0, "a"), stop(reason), STOP).stop_reason == expected


@pytest.mark.parametrize("events", [[stop("tool_use")], [stop("end_turn")], [stop(None)], []])
def test_an_answer_with_calls_stops_for_them_whatever_it_says(events: list[Event]) -> None:
    assert message(decoder(), START, *tool(0, "{}"), *events, STOP).stop_reason == "tool_use"


def test_a_full_output_stops_by_length_even_with_a_call() -> None:
    assert message(decoder(), START, *tool(0, '{"a'), stop("max_tokens"), STOP).stop_reason == "length"


def test_arguments_with_half_a_surrogate_can_be_stored() -> None:
    answered = message(
        decoder(), START, *tool(0, '{"a": "\\ud800', '", "b": "\\ud83c\\udf0d"}'), stop("tool_use"), STOP
    )
    (call,) = answered.tool_calls
    assert call.arguments == {"a": "\ufffd", "b": "🌍"}
    assert decode_message(encode_message(answered)) == answered


def test_a_refusal_says_why() -> None:
    refusal = {"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "No."}}}
    assert message(decoder(), START, refusal, STOP).error == ErrorInfo("refused", "No.")


def test_a_window_that_is_full_before_the_first_word_is_an_overflow() -> None:
    assert failure(decoder(), START, stop("model_context_window_exceeded"), STOP).kind == "overflow"


@pytest.mark.parametrize(
    ("first", "later", "expected"),
    [
        ({"input_tokens": 5, "output_tokens": 1}, {"output_tokens": 9}, Usage(input=5, output=9)),
        ({"input_tokens": 5}, {"input_tokens": 0, "output_tokens": 9}, Usage(input=5, output=9)),
        ({}, {"input_tokens": 7, "output_tokens": 9}, Usage(input=7, output=9)),
        ({"input_tokens": 5, "output_tokens": 1}, {"input_tokens": 6, "output_tokens": 2}, Usage(input=6, output=2)),
        (
            {
                "input_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 30,
                "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
            },
            {"output_tokens": 9, "cache_read_input_tokens": 0, "output_tokens_details": {"thinking_tokens": 4}},
            Usage(input=5, output=9, cache_read=100, cache_write=30, cache_write_1h=20, reasoning=4),
        ),
        (
            {"input_tokens": 5, "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 2}},
            {"output_tokens": 1},
            Usage(input=5, output=1, cache_write=12, cache_write_1h=2),
        ),
        ({}, {}, None),
        ({"input_tokens": "many", "cache_creation": 3}, {"output_tokens": -1}, Usage()),
    ],
)
def test_usage_is_cumulative_and_a_zero_never_hides_a_number(
    first: Event, later: Event, expected: Usage | None
) -> None:
    start = {"type": "message_start", "message": {"usage": first}}
    assert message(decoder(), start, *words(0, "a"), stop("end_turn", **later), STOP).usage == expected


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "server", True),
        ({"error": {"type": "overloaded_error", "message": "Overloaded"}}, "server", True),
        ({"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}, "rate_limit", True),
        ({"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}, "auth", False),
        (
            {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}},
            "overflow",
            False,
        ),
        (b"{", "malformed", True),
        (b"[]", "malformed", True),
        (b"<html>", "malformed", True),
        ({"type": "content_block_delta", "index": "x"}, "malformed", True),
    ],
)  # fmt: skip
def test_an_error_in_the_stream_is_a_failure_of_its_class(event: Any, kind: str, retryable: bool) -> None:
    info = failure(decoder(), START, *words(0, "a"), event, STOP)
    assert (info.kind, info.retryable) == (kind, retryable)


@pytest.mark.parametrize("cut", range(5))
def test_a_stream_without_its_last_event_is_a_cut_stream(cut: int) -> None:
    events = [START, *words(0, "a"), stop("end_turn")]
    info = failure(decoder(), *events[: cut + 1])
    assert (info.kind, info.retryable) == ("network", True)


def test_what_follows_the_last_event_changes_nothing() -> None:
    answered = message(
        decoder(), START, *words(0, "a"), stop("end_turn"), STOP, b"junk", {"type": "error", "error": {}}
    )
    assert (answered.text, answered.stop_reason) == ("a", "stop")


def test_an_answer_that_does_not_stream_is_read_too() -> None:
    whole = {
        "type": "message",
        "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1}}],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 4},
    }
    answered = message(decoder(), whole)
    assert (answered.parts, answered.stop_reason, answered.usage) == (
        (Text("a"), call('{"a":1}')),
        "tool_use",
        Usage(input=3, output=4),
    )


FULL = [
    START,
    begin(0, type="thinking", thinking=""),
    delta(0, "thinking_delta", thinking="Größe"),
    delta(0, "signature_delta", signature="s"),
    end(0),
    *words(1, "你", "好 🌍"),
    *tool(2, '{"a"', ": 1}"),
    stop("tool_use", output_tokens=3),
    STOP,
]
BYTES = b"".join(
    f"event: {e['type']}\r\ndata: {json.dumps(e, ensure_ascii=False)}\r\n\r\n: keep-alive\r\n\r\n".encode()
    for e in FULL
)


@given(st.lists(st.integers(0, len(BYTES)), max_size=12))
def test_bytes_split_anywhere_make_the_same_message(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(BYTES)]
    parser, decoding, out = SseParser(), decoder(), []
    framed = [e for a, b in pairwise(edges) for e in parser.feed(BYTES[a:b])] + parser.close()
    for name, data in framed:
        out.extend(decoding.feed(name, data))
    out.extend(decoding.finish())
    assert fold(out) == message(decoder(), *FULL)


_json = st.sampled_from(ODD_VALUES)
_kinds = st.sampled_from([e["type"] for e in FULL] + ["message", "error", "ping"])
_blocks = st.sampled_from(["text", "thinking", "tool_use", "redacted_thinking", "server_tool_use"])
_block = st.fixed_dictionaries(
    {},
    optional={
        "type": _blocks | _json,
        **{k: _json for k in ("text", "thinking", "signature", "data", "id", "name", "input", "citations", "caller")},
    },
)
_delta_kinds = st.sampled_from(
    ["text_delta", "thinking_delta", "signature_delta", "input_json_delta", "citations_delta"]
)
_change = st.fixed_dictionaries(
    {},
    optional={
        "type": _delta_kinds | _json,
        **{k: _json for k in ("text", "thinking", "signature", "partial_json", "citation", "stop_reason")},
    },
)
_garbage = st.fixed_dictionaries(
    {"type": _kinds},
    optional={
        "index": st.integers(0, 2) | _json,
        "content_block": _block | _json,
        "delta": _change | _json,
        "usage": _json,
        "message": _json,
        "content": st.lists(_block, max_size=2) | _json,
    },
)


@given(st.lists(_garbage.map(lambda v: json.dumps(v).encode()) | st.binary(max_size=20), max_size=8))
def test_no_bytes_raise_anything_but_a_failure(events: list[bytes]) -> None:
    decoding, out = decoder(), []
    try:
        for data in events:
            out.extend(decoding.feed("", data))
        out.extend(decoding.finish())
    except WireFailure:
        return
    fold(out)


@pytest.mark.parametrize("depth", [200, 900, 5_000, 200_000])
def test_json_of_any_depth_raises_nothing_but_a_failure(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    event = f'{{"type":"content_block_start","index":0,"content_block":{{"type":"tool_use","input":{deep}}}}}'
    failed = failure_or_none(decoder(), event.encode(), STOP)
    assert failed is None or failed.kind == "malformed"
