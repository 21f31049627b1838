"""Chat Completions streams, the ordinary and the strange."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.openai_chat_decoder import ChatDecoder
from trimtab.providers.wire import WireFailure
from trimtab.types import Assembler, Assistant, ErrorInfo, Text, Thinking, ToolCall, Usage
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted

DONE = b"[DONE]"


def delta(finish=None, **fields):
    return {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(arguments=None, *, index=0, id=None, name=None, **more):
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    fields = {"index": index, "id": id, "function": function, **more}
    return {k: v for k, v in fields.items() if v is not None}


def calls(*pieces, finish=None):
    return delta(finish, tool_calls=list(pieces))


def events(*chunks, **options):
    decoder = ChatDecoder(**options)
    out = []
    for chunk in chunks:
        name, chunk = chunk if isinstance(chunk, tuple) else ("", chunk)
        out += decoder.feed(name, chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode())
    return [*out, *decoder.finish()]


def message(*chunks, **options) -> Assistant:
    assembler = Assembler(provider="p", model="m")
    stream = events(*chunks, **options)
    assert [type(e) for e in stream].count(Ended) == 1
    assert isinstance(stream[-1], Ended)
    for event in stream:
        assembler.feed(event)
    return assembler.message()


def failure(*chunks) -> ErrorInfo:
    with pytest.raises(WireFailure) as caught:
        events(*chunks)
    return caught.value.info


def names(*chunks):
    """Names and arguments of the calls; ids must be unique and not empty."""
    got = message(*chunks).tool_calls
    assert len({c.id for c in got}) == len(got)
    assert all(c.id for c in got)
    return [(c.name, c.arguments) for c in got]


STOP = delta("stop")


def test_an_ordinary_answer_streams_as_it_is():
    assert events(delta(role="assistant", content=""), delta(content="Hel"), delta(content="lo"), STOP, DONE) == [
        PartStarted(0, "text"),
        PartDelta(0, "text", "Hel"),
        PartDelta(0, "text", "lo"),
        PartEnded(0, Text("Hello")),
        Ended("stop"),
    ]


def test_parts_stand_in_the_order_they_streamed():
    got = message(
        delta(reasoning_content="hm"),
        delta(content="one"),
        calls(call("{}", id="a", name="f")),
        delta(content="two"),
        delta(reasoning_content="ha"),
        delta("tool_calls"),
        DONE,
    )
    assert got.parts == (
        Thinking("hm"),
        Text("one"),
        ToolCall("a", "f", {}, "{}"),
        Text("two"),
        Thinking("ha"),
    )
    assert got.stop_reason == "tool_use"


@pytest.mark.parametrize(
    "empty",
    [
        b"null",
        b"",
        b"3",
        b"[]",
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0}]},
        delta(content=None, tool_calls=None, reasoning_content=None),
        delta(reasoning_details=[{"type": "reasoning.text", "text": "x"}]),
        {"choices": [], "prompt_filter_results": [{"x": 1}]},
        ("ping", {"type": "ping"}),
    ],
)
def test_chunks_that_say_nothing_are_skipped(empty):
    assert message(empty, delta(content="a"), empty, STOP, empty, DONE).parts == (Text("a"),)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_both_names_of_reasoning_are_thinking(field):
    got = message(delta(**{field: "think"}), delta(content="say"), STOP)
    assert got.parts == (Thinking("think"), Text("say"))


def test_reasoning_sent_under_both_names_counts_once():
    assert message(delta(reasoning_content="x", reasoning="x"), delta(content="y"), STOP).parts == (
        Thinking("x"),
        Text("y"),
    )


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_inline_thinking_is_found_however_it_is_cut(size):
    text = "\n<think>\nWhat if a < b?</think>\n\nAnswer with <think> in it."
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    got = message(*[delta(content=p) for p in pieces], STOP)
    assert got.parts == (Thinking("\nWhat if a < b?"), Text("Answer with <think> in it."))


def test_inline_thinking_before_a_call_ends_there():
    got = message(delta(content="<think>hm</th"), calls(call("{}", id="a", name="f")), delta("tool_calls"))
    assert got.parts == (Thinking("hm</th"), ToolCall("a", "f", {}, "{}"))


def test_inline_tags_can_be_left_alone():
    assert message(delta(content="<think>a</think>b"), STOP, think_tags=False).parts == (Text("<think>a</think>b"),)


# -- tool calls


def test_arguments_in_pieces_keep_their_text():
    got = message(
        calls(call("", id="a", name="f")), calls(call('{ "x"')), calls(call(":  1 }")), delta("tool_calls"), DONE
    )
    assert got.tool_calls == (ToolCall("a", "f", {"x": 1}, '{ "x":  1 }'),)


def test_interleaved_calls_are_told_apart_by_index():
    got = names(
        calls(call('{"x', id="a", name="f"), call('{"y', index=1, id="b", name="g")),
        calls(call('":1}'), call('":2}', index=1)),
        delta("tool_calls"),
    )
    assert got == [("f", {"x": 1}), ("g", {"y": 2})]


@pytest.mark.parametrize(
    "pieces",
    [
        # without index
        [call("", index=None, id="a", name="f"), call('{"x":', index=None), call("1}", index=None)],
        # without id, or with an empty one
        [call("", name="f"), call('{"x":'), call("1}")],
        [call("", id="", name="f"), call('{"x":', id=""), call("1}", id="")],
        [call("", index=None, name="f"), call('{"x":', index=None), call("1}", index=None)],
        # first index is 1
        [call('{"x":', index=1, id="a", name="f"), call("1}", index=1)],
        # id and name in every chunk, id changing
        [call('{"x":', id="a", name="f"), call("1", id="a", name="f"), call("}", id="a", name="f")],
        [call('{"x":', id="a", name="f"), call("1", id="b", name="f"), call("}", id="c", name="f")],
        [call('{"x":', id="a", name="f"), call("1", id="b"), call("}", id="c")],
        [call('{"x":', index=None, id="a", name="f"), call("1}", index=None, id="a", name="f")],
        # name after id, id after name
        [call("", id="a"), call('{"x":', name="f"), call("1}")],
        [call('{"x":', name="f"), call("1}", id="a")],
        # object instead of text
        [call({"x": 1}, id="a", name="f")],
        # the whole call again at its end
        [call('{"x":', id="a", name="f"), call("1}"), call('{"x":1}', id="a", name="f")],
    ],
)
def test_one_call_stays_one_call(pieces):
    assert names(*[calls(p) for p in pieces], delta("tool_calls"), DONE) == [("f", {"x": 1})]


TWO = [("f", {"x": 1}), ("g", {"y": 2})]


@pytest.mark.parametrize(
    "pieces",
    [
        [[call('{"x":1}', id="a", name="f"), call('{"y":2}', index=1, id="b", name="g")]],
        # same id
        [[call('{"x":1}', id="a", name="f")], [call('{"y":2}', index=1, id="a", name="g")]],
        [[call('{"x":1}', index=None, id="a", name="f")], [call('{"y":2}', index=None, id="a", name="g")]],
        # same index
        [[call('{"x":1}', id="a", name="f")], [call('{"y":2}', id="b", name="g")]],
        [[call('{"x":1}', id="a", name="f"), call('{"y":2}', id="b", name="g")]],
        [[call("", id="a", name="f")], [call('{"x":1}')], [call("", id="b", name="g")], [call('{"y":2}')]],
        [[call('{"x":1}', name="f")], [call('{"y":2}', name="g")]],
        [[call('{"x":1}', name="f")], [call("", name="g")], [call('{"y":2}')]],
        # no index
        [[call('{"x":1}', index=None, id="a", name="f"), call('{"y":2}', index=None, id="b", name="g")]],
        [[call('{"x":1}', index=None, name="f")], [call('{"y":2}', index=None, name="g")]],
        [
            [call("", index=None, id="a", name="f")],
            [call('{"x":1}', index=None)],
            [call("", index=None, id="b", name="g")],
            [call('{"y":2}', index=None)],
        ],
    ],
)
def test_two_calls_stay_two_calls(pieces):
    assert names(*[calls(*p) for p in pieces], delta("tool_calls"), DONE) == TWO


def test_two_calls_of_one_tool_with_one_index_stay_two():
    got = names(
        calls(call('{"x":1}', id="a", name="f")), calls(call("", id="b", name="f")), calls(call('{"x":2}')), STOP
    )
    assert got == [("f", {"x": 1}), ("f", {"x": 2})]


def test_the_first_of_two_equal_ids_is_kept():
    got = message(
        calls(call("{}", id="a", name="f")), calls(call("{}", index=1, id="a", name="f")), delta("tool_calls")
    )
    assert got.tool_calls[0].id == "a"
    assert got.tool_calls[1].id not in ("a", "")


@pytest.mark.parametrize(
    ("raw", "arguments"), [("", {}), (" ", {}), ('{"a":', None), ("[1]", None), ("nonsense", None)]
)
def test_strange_arguments_are_kept_as_they_came(raw, arguments):
    (got,) = message(calls(call(raw, id="a", name="f")), delta("tool_calls")).tool_calls
    assert (got.raw, got.arguments) == (raw, arguments)


def test_arguments_of_no_known_type_become_their_json():
    (got,) = message(calls(call([1, None], id="a", name="f")), delta("tool_calls")).tool_calls
    assert got.raw == "[1, null]"


def test_the_old_function_call_field_is_a_call():
    chunks = [delta(function_call={"name": "f", "arguments": '{"x":'}), delta(function_call={"arguments": "1}"})]
    assert names(*chunks, delta("function_call"), DONE) == [("f", {"x": 1})]


def test_fields_of_a_provider_on_a_call_are_kept_for_it():
    extra = {"google": {"thought_signature": "sig"}}
    (got,) = message(calls(call("{}", id="a", name="f", extra_content=extra)), delta("tool_calls")).tool_calls
    assert got.wire == {"extra_content": extra}


# -- usage

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "prompt_tokens_details": {"cached_tokens": 60},
    "completion_tokens_details": {"reasoning_tokens": 5},
}
OURS = Usage(input=40, output=20, cache_read=60, reasoning=5)


@pytest.mark.parametrize(
    "chunks",
    [
        [delta(content="a"), STOP, {"choices": [], "usage": USAGE}, DONE],
        [delta(content="a"), STOP, {"choices": None, "usage": USAGE}, DONE],
        [delta(content="a"), STOP, {"usage": USAGE}],
        [delta(content="a"), {**STOP, "usage": USAGE}, DONE],
        [{**delta(content="a"), "usage": {"prompt_tokens": 100, "completion_tokens": 1}}, {**STOP, "usage": USAGE}],
        [delta(content="a"), {**STOP, "usage": USAGE}, {"choices": [], "usage": None}, DONE],
        [delta(content="a"), {"choices": [{"delta": {}, "finish_reason": "stop", "usage": USAGE}]}, DONE],
    ],
)
def test_usage_is_found_wherever_it_stands_and_counted_once(chunks):
    assert message(*chunks).usage == OURS


def test_no_usage_is_no_usage():
    assert message(delta(content="a"), STOP, DONE).usage is None


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 8, "prompt_cache_miss_tokens": 2},
            Usage(input=2, output=2, cache_read=8),
        ),
        ({"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 4}, Usage(input=6, output=2, cache_read=4)),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 99}},
            Usage(input=0, output=2, cache_read=10),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}},
            Usage(input=10, output=7, reasoning=5),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 4}},
            Usage(input=3, output=2, cache_read=3, cache_write=4),
        ),
        ({"prompt_tokens": 10.0, "completion_tokens": "2", "prompt_tokens_details": 7}, Usage(input=10, output=2)),
        ({"prompt_tokens": None, "completion_tokens": -3}, Usage()),
    ],
)  # fmt: skip
def test_vendors_conventions_become_ours(usage, expected):
    assert message(delta(content="a"), {**STOP, "usage": usage}).usage == expected


# -- ends


@pytest.mark.parametrize(
    ("finish", "stop"),
    [("stop", "stop"), ("eos", "stop"), ("length", "length"), ("max_tokens", "length"), ("tool_calls", "stop")],
)
def test_finish_reasons_of_a_text(finish, stop):
    assert message(delta(content="a"), delta(finish)).stop_reason == stop


@pytest.mark.parametrize("finish", ["stop", "tool_calls", "function_call", "strange", None])
def test_calls_make_it_tool_use_whatever_the_reason(finish):
    assert message(calls(call("{}", id="a", name="f")), delta(finish), DONE).stop_reason == "tool_use"


def test_a_call_cut_at_the_length_limit_says_length():
    got = message(calls(call('{"a', id="a", name="f")), delta("length"))
    assert (got.stop_reason, got.tool_calls[0].arguments) == ("length", None)


@pytest.mark.parametrize("chunks", [[delta("content_filter")], [delta(refusal="No."), STOP]])
def test_refusals_are_refused(chunks):
    got = message(*chunks)
    assert (got.stop_reason, got.error.kind) == ("refused", "refused")


def test_done_without_a_finish_reason_is_complete():
    assert message(delta(content="a"), DONE).stop_reason == "stop"
    assert message(delta(content="a"), delta("strange"), DONE).stop_reason == "stop"


@pytest.mark.parametrize("chunks", [[], [delta(content="a")], [delta(content="a"), delta("strange")], [DONE]])
def test_an_answer_without_its_closing_mark_is_a_cut(chunks):
    info = failure(*chunks)
    assert (info.kind, info.retryable) == ("network", True)


def test_the_end_is_told_at_done_and_once():
    decoder = ChatDecoder()
    list(decoder.feed("", json.dumps(delta("stop")).encode()))
    assert list(decoder.feed("", b" [DONE]")) == [Ended("stop")]
    assert list(decoder.finish()) == []


def test_a_full_window_is_an_overflow_with_its_usage():
    got = message(delta("model_context_window_exceeded"), {"choices": [], "usage": USAGE})
    assert (got.stop_reason, got.error.kind, got.usage) == ("error", "overflow", OURS)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 100, "completion_tokens": 0}])
def test_length_without_any_output_is_an_overflow(usage):
    got = message({**delta("length"), "usage": usage}, DONE)
    assert (got.stop_reason, got.error.kind) == ("error", "overflow")


@pytest.mark.parametrize("finish", ["error", "network_error", "abort"])
def test_a_finish_reason_can_be_a_failure(finish):
    assert failure(delta(content="a"), delta(finish), DONE).retryable


# -- errors inside a 200 answer


@pytest.mark.parametrize(
    "chunk",
    [
        {"error": {"message": "full", "code": "context_length_exceeded"}},
        {"error": json.dumps({"message": "full", "code": "context_length_exceeded"})},
        {"error": {"message": "Your input exceeds the context window of this model"}, "choices": []},
        {"object": "error", "message": "maximum context length is 4096 tokens", "code": 400},
        {"type": "error", "error": {"message": "prompt is too long"}},
        {"choices": [{"delta": {"content": ""}, "error": {"message": "prompt is too long"}}]},
        {"base_resp": {"status_code": 1039, "status_msg": "token limit exceeded"}, "choices": None},
        {"detail": "prompt is too long"},
        ("error", {"message": "prompt is too long"}),
        ("error", b"prompt is too long"),
        [{"error": {"message": "prompt is too long"}}],
    ],
)
def test_error_objects_in_a_stream_are_classified(chunk):
    assert failure(delta(content="a"), chunk).kind == "overflow"


def test_an_error_in_a_stream_says_whether_to_try_again():
    assert failure({"error": {"type": "server_error", "message": "x"}}).retryable
    assert not failure({"error": {"type": "invalid_request_error", "message": "x"}}).retryable


@pytest.mark.parametrize("chunk", [b"{", b"<html>", b'{"choices": [}', b"\xff", b"[" * 100_000])
def test_what_is_no_json_is_malformed(chunk):
    info = failure(delta(content="a"), chunk)
    assert (info.kind, info.retryable) == ("malformed", True)


# -- whole bodies, strange types, strange text


def test_a_body_that_did_not_stream_is_an_answer():
    body = {
        "object": "chat.completion",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "reasoning_content": "hm",
                    "content": "ok",
                    "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": USAGE,
    }
    got = message(body)
    assert got.parts == (Thinking("hm"), Text("ok"), ToolCall("a", "f", {"x": 1}, '{"x":1}'))
    assert (got.stop_reason, got.usage) == ("tool_use", OURS)
    body["choices"][0]["finish_reason"] = None
    assert message(body).stop_reason == "tool_use"


def test_content_as_a_list_of_parts_is_text_and_thinking():
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "ok"}]
    assert message(delta(content=parts), STOP).parts == (Thinking("hm"), Text("ok"))


@pytest.mark.parametrize(
    "strange",
    [{"content": 3}, {"content": {}}, {"tool_calls": "x"}, {"tool_calls": [None]}, {"reasoning": {}}, {"role": 1}],
)
def test_a_field_of_a_wrong_type_costs_only_itself(strange):
    got = message(delta(content="a"), delta(**strange), delta(content="b"), STOP)
    assert got.parts == (Text("ab"),)


def test_nan_and_bad_utf8_are_survived():
    assert message(b'{"x": NaN, "choices": [{"delta": {"content": "a\xff"}}]}', STOP).text == "a\ufffd"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a\ud83d", "\ude00b"], "a😀b"),
        (["\ud83d\ude00"], "😀"),
        (["a\ud83d", "b"], "a\ufffdb"),
        (["\ude00"], "\ufffd"),
        (["a\ud83d"], "a\ufffd"),
        (["é", "你", "\u2028"], "é你\u2028"),
    ],
)
def test_surrogates_are_joined_or_replaced(texts, expected):
    stream = events(*[delta(content=t) for t in texts], STOP)
    deltas = "".join(e.text for e in stream if isinstance(e, PartDelta))
    deltas.encode()
    assert deltas == expected
    assert message(*[delta(content=t) for t in texts], STOP).text == expected


KEYS = [
    "choices",
    "delta",
    "message",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "index",
    "id",
    "name",
    "usage",
    "prompt_tokens",
    "finish_reason",
    "error",
    "function_call",
    "prompt_tokens_details",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda s: (
        st.lists(s, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYS),
            s,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(chunks=st.lists(st.one_of(st.binary(max_size=20), JSON.map(lambda v: json.dumps(v).encode())), max_size=5))
def test_no_bytes_raise_anything_but_a_wire_failure(chunks):
    decoder = ChatDecoder()
    try:
        for chunk in chunks:
            list(decoder.feed("", chunk))
        list(decoder.finish())
    except WireFailure:
        pass


@given(
    st.lists(
        st.one_of(
            st.text(min_size=1, max_size=4).map(lambda t: ("content", t)),
            st.text(min_size=1, max_size=4).map(lambda t: ("reasoning_content", t)),
        ),
        max_size=12,
    )
)
def test_text_and_thinking_come_out_as_they_went_in(pieces):
    got = message(*[delta(**{k: t}) for k, t in pieces], STOP, DONE, think_tags=False)
    assert got.text == "".join(t for k, t in pieces if k == "content")
    assert "".join(p.text for p in got.parts if isinstance(p, Thinking)) == "".join(
        t for k, t in pieces if k != "content"
    )


def test_surrogates_spelled_by_escapes_in_arguments_are_replaced():
    (got,) = message(calls(call('{"a\\uD83D": ["\\ud83d\\ude00\\ud83d"]}', id="a", name="f")), STOP).tool_calls
    assert got.arguments == {"a\ufffd": ["😀\ufffd"]}


def test_surrogates_in_ids_names_and_extra_fields_are_replaced():
    piece = call("{}", id="a\ud83d", name="f\ud83d", extra_content={"k\ud83d": "\ud83d"})
    (got,) = message(calls(piece), STOP).tool_calls
    assert (got.id, got.name) == ("a\ufffd", "f\ufffd")
    assert got.wire == {"extra_content": {"k\ufffd": "\ufffd"}}


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "content"])
def test_a_surrogate_pair_cut_between_deltas_is_one_character(field):
    got = message(delta(**{field: "\ud83d"}), delta(**{field: "\ude00"}), STOP)
    assert "".join(p.text for p in got.parts) == "😀"
