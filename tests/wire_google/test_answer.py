"""What the chunks of a GenAI stream become."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.decoding import ODD_VALUES, failure, failure_or_none, fold, message, stream
from trimtab.providers.google import GoogleWire
from trimtab.providers.sse import SseParser
from trimtab.providers.wire import Decoder, WireFailure
from trimtab.types.messages import Opaque, Text, Thinking, ToolCall
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted
from trimtab.types.usage import Usage

Event = dict[str, Any]


def decoder() -> Decoder:
    return GoogleWire().decoder(ModelRequest(ModelInfo("google", "gemini-x", "google"), ()))


def chunk(*parts: Any, finish: str | None = None, **usage: int) -> Event:
    """One chunk; texts are parts with that text."""
    candidate: Event = {
        "content": {"role": "model", "parts": [{"text": p} if isinstance(p, str) else p for p in parts]}
    }
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]} | ({"usageMetadata": usage} if usage else {})


def calls(name: str = "read", *, signature: str | None = None, **call: Any) -> Event:
    return {"functionCall": {"name": name, **call}} | ({"thoughtSignature": signature} if signature else {})


STOP = chunk(finish="STOP")


def test_a_whole_stream_in_order_with_every_event_it_makes() -> None:
    events = [
        chunk({"text": "hm", "thought": True}, promptTokenCount=10),
        chunk("He"),
        chunk("llo", calls(id="c1", args={"path": "a"}, signature="cw==")),
        chunk("", finish="STOP", promptTokenCount=10, candidatesTokenCount=7, thoughtsTokenCount=2),
    ]
    assert stream(decoder(), *events) == [
        PartStarted(0, "thinking"),
        PartDelta(0, "thinking", "hm"),
        PartEnded(0, Thinking("hm")),
        PartStarted(1, "text"),
        PartDelta(1, "text", "He"),
        PartDelta(1, "text", "llo"),
        PartEnded(1, Text("Hello")),
        PartStarted(2, "tool_arguments", "c1", "read"),
        PartDelta(2, "tool_arguments", '{"path":"a"}'),
        PartEnded(
            2,
            ToolCall("c1", "read", {"path": "a"}, '{"path":"a"}', {"id": "c1", "thoughtSignature": "cw=="}),
        ),
        Ended("tool_use", Usage(input=10, output=9, reasoning=2)),
    ]


SIGNED = {"thoughtSignature": "cw=="}
CODE = {"executableCode": {"language": "PYTHON", "code": "1"}, "thoughtSignature": "cw=="}


@pytest.mark.parametrize(
    ("events", "parts"),
    [
        pytest.param([chunk("a", "b"), chunk("c")], (Text("abc"),), id="neighbouring texts are one part"),
        pytest.param(
            [chunk("a", {"text": "x", "thought": True}, "b")],
            (Text("a"), Thinking("x"), Text("b")),
            id="thought parts the text around it",
        ),
        pytest.param(
            [chunk("a"), chunk({"text": "b", **SIGNED}), chunk("c")],
            (Text("a"), Text("b", SIGNED), Text("c")),
            id="a signed text stays alone",
        ),
        pytest.param(
            [chunk("a"), chunk({"text": "", **SIGNED})], (Text("a"), Text("", SIGNED)), id="an empty signed text is kept"
        ),
        pytest.param([chunk("a"), chunk(SIGNED)], (Text("a"), Text("", SIGNED)), id="a signature without a text"),
        pytest.param(
            [chunk({"text": "x", "thought": True, **SIGNED})], (Thinking("x", wire=SIGNED),), id="a signed thought"
        ),
        pytest.param([chunk("a", CODE, "b")], (Text("a"), Opaque("google", CODE), Text("b")), id="other parts verbatim"),
        pytest.param([chunk({}, {"text": None}, "")], (), id="empty parts are nothing"),
        pytest.param(
            [b'{"candidates":[{"content":{"parts":[{"text":"a\\ud800 \xff"}]}}]}'],
            (Text("a\ufffd \ufffd"),),
            id="lone surrogates and invalid UTF-8 are replaced",
        ),
        pytest.param([[chunk("a"), chunk("b")]], (Text("ab"),), id="a list of chunks"),
        pytest.param(
            [b"null", b"", {"candidates": None}, {"candidates": []}, {"candidates": [{"content": None}]},
             {"candidates": [{"content": {"parts": None}}]}, {"later": 1}, chunk("a")],
            (Text("a"),),
            id="nulls and empty chunks are skipped",
        ),
        pytest.param(
            [{"candidates": [{"index": 1, "content": {"parts": [{"text": "no"}]}}]}, chunk("a")],
            (Text("a"),),
            id="other candidates are skipped",
        ),
    ],
)  # fmt: skip
def test_parts(events: list[Any], parts: tuple[Any, ...]) -> None:
    assert message(decoder(), *events, STOP).parts == parts


@pytest.mark.parametrize(
    ("args", "raw", "parsed"),
    [
        (b'{ "b": 1.0,\n "a" : [1, "x y"] }', '{"b":1.0,"a":[1,"x y"]}', {"b": 1.0, "a": [1, "x y"]}),
        (b"{}", "{}", {}),
        (b"null", "", {}),
        (b'"{\\"a\\": 1}"', '{"a": 1}', {"a": 1}),
        (b"[1]", "[1]", None),
        (b"123456789012345678901234567890", "123456789012345678901234567890", None),
    ],
)
def test_arguments_are_kept_as_sent_without_blanks(args: bytes, raw: str, parsed: Any) -> None:
    data = b'{"candidates":[{"content":{"parts":[{"functionCall":{"name":"read","args":%s}}]}}]}' % args
    (call,) = message(decoder(), data, STOP).tool_calls
    assert (call.raw, call.arguments, call.wire) == (raw, parsed, None)


@pytest.mark.parametrize("ids", [(None, None), ("", ""), ("c", "c"), ("c", None)])
def test_calls_without_an_id_or_with_the_same_one_get_fresh_ids(ids: tuple[Any, Any]) -> None:
    first, second = message(decoder(), chunk(*(calls(id=i) for i in ids)), STOP).tool_calls
    assert first.id
    assert second.id
    assert first.id != second.id
    assert second.wire is None


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("PROHIBITED_CONTENT", "refused"),
        ("MODEL_ARMOR", "refused"),
        ("SOMETHING_NEW", "stop"),
    ],
)
def test_finish_reasons(reason: str, expected: str) -> None:
    answered = message(decoder(), chunk("a", finish=reason))
    assert (answered.stop_reason, answered.text) == (expected, "a")
    assert (answered.error is not None) == (expected == "refused")


@pytest.mark.parametrize(
    ("reason", "kind", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", "malformed", True),
        ("MALFORMED_RESPONSE", "malformed", True),
        ("UNEXPECTED_TOOL_CALL", "malformed", True),
        ("MISSING_THOUGHT_SIGNATURE", "reasoning", False),
        ("OTHER", "server", True),
    ],
)
def test_a_finish_reason_can_be_a_failure(reason: str, kind: str, retryable: bool) -> None:
    info = failure(decoder(), chunk("a", finish=reason))
    assert (info.kind, info.retryable) == (kind, retryable)
    assert reason in info.message


def test_the_finish_message_is_shown() -> None:
    said = {"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "Bad call: print("}]}
    assert failure(decoder(), said).message == "Bad call: print("


def test_an_answer_with_calls_stops_for_them() -> None:
    assert message(decoder(), chunk(calls(args={})), STOP).stop_reason == "tool_use"


def test_a_blocked_prompt_is_refused_and_says_why() -> None:
    blocked = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4}}
    answered = message(decoder(), blocked)
    assert (answered.stop_reason, answered.usage) == ("refused", Usage(input=4))
    assert answered.error is not None
    assert "PROHIBITED_CONTENT" in answered.error.message


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([], None),
        ([{"promptTokenCount": 10, "cachedContentTokenCount": 4}], Usage(input=6, cache_read=4)),
        (
            [{"promptTokenCount": 10}, {"promptTokenCount": 10, "candidatesTokenCount": 3, "thoughtsTokenCount": 5}],
            Usage(input=10, output=8, reasoning=5),
        ),
        ([{"promptTokenCount": 10, "candidatesTokenCount": 3}, {"promptTokenCount": 0}], Usage(input=10, output=3)),
        ([{"promptTokenCount": 10, "toolUsePromptTokenCount": 5}], Usage(input=15)),
        ([{"promptTokenCount": 3, "cachedContentTokenCount": 4}], Usage(cache_read=4)),
        ([{"promptTokenCount": "ten"}], Usage()),
    ],
)
def test_each_token_is_counted_once(pieces: list[Any], expected: Usage | None) -> None:
    assert message(decoder(), *({"usageMetadata": p} for p in pieces), STOP).usage == expected


def test_usage_after_the_finish_reason_counts() -> None:
    late = {"usageMetadata": {"promptTokenCount": 2, "candidatesTokenCount": 1}}
    assert message(decoder(), chunk("a", finish="STOP"), late).usage == Usage(input=2, output=1)


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "The model is overloaded."}}, "server", True),
        ([{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow down"}}], "rate_limit", True),
        (
            {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (9) exceeds the maximum number of tokens allowed (8)."}},
            "overflow",
            False,
        ),
        (b"{", "malformed", True),
        (b"7", "malformed", True),
        (b"<html>", "malformed", True),
        ({"candidates": {"a": 1}}, "malformed", True),
        (chunk({"text": 7}), "malformed", True),
    ],
)  # fmt: skip
def test_an_error_in_the_stream_is_a_failure_of_its_class(event: Any, kind: str, retryable: bool) -> None:
    info = failure(decoder(), chunk("a"), event, STOP)
    assert (info.kind, info.retryable) == (kind, retryable)


@pytest.mark.parametrize("events", [[], [chunk("a")], [chunk("a", finish="FINISH_REASON_UNSPECIFIED")]])
def test_a_stream_without_a_finish_reason_is_a_cut_stream(events: list[Event]) -> None:
    info = failure(decoder(), *events)
    assert (info.kind, info.retryable) == ("network", True)


FULL = [
    chunk({"text": "Größe", "thought": True}, promptTokenCount=3),
    chunk("你"),
    chunk("好 🌍", calls(id="c1", args={"a": 1}, signature="cw==")),
    chunk(finish="STOP", promptTokenCount=3, candidatesTokenCount=4),
]
BYTES = b"".join(f"data: {json.dumps(e, ensure_ascii=False)}\r\n\r\n: keep-alive\n\n".encode() for e in FULL)


@given(st.lists(st.integers(0, len(BYTES)), max_size=12))
def test_bytes_split_anywhere_make_the_same_message(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(BYTES)]
    parser, decoding, out = SseParser(), decoder(), []
    framed = [e for a, b in pairwise(edges) for e in parser.feed(BYTES[a:b])] + parser.close()
    for name, data in framed:
        out.extend(decoding.feed(name, data))
    out.extend(decoding.finish())
    assert fold(out) == message(decoder(), *FULL)


_odd = st.sampled_from(ODD_VALUES)
_call = st.fixed_dictionaries({}, optional={"name": _odd, "id": _odd, "args": _odd})
_part = st.fixed_dictionaries(
    {},
    optional={
        "text": st.text(max_size=3) | _odd,
        "thought": st.booleans() | _odd,
        "thoughtSignature": _odd,
        "functionCall": _call | _odd,
        "inlineData": _odd,
    },
)
_candidate = st.fixed_dictionaries(
    {"content": st.fixed_dictionaries({}, optional={"parts": st.lists(_part, max_size=3) | _odd}) | _odd},
    optional={"finishReason": st.sampled_from(["STOP", "OTHER", "SAFETY"]) | _odd, "index": _odd},
)
_garbage = st.fixed_dictionaries(
    {"candidates": st.lists(_candidate, max_size=2) | _odd},
    optional={"usageMetadata": _odd, "promptFeedback": _odd},
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
@pytest.mark.parametrize("part", ['{"functionCall":{"name":"x","args":DEEP}}', '{"inlineData":DEEP}'])
def test_json_of_any_depth_raises_nothing_but_a_failure(part: str, depth: int) -> None:
    deep = part.replace("DEEP", "[" * depth + "]" * depth)
    failed = failure_or_none(decoder(), f'{{"candidates":[{{"content":{{"parts":[{deep}]}}}}]}}'.encode(), STOP)
    assert failed is None or failed.kind == "malformed"
