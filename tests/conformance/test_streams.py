"""Answers of Chat Completions servers, whole and broken, as the command line shows them."""

import time
from typing import Any

import pytest

from support.cli import Cli, Json, Outcome, delta, local, said, stream, text_of
from support.servers import FakeServer, HangUp, Pause, Reply, Reset, Stall, json_reply, one_byte_each, sse

STOP = delta("stop")
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


def piece(arguments: Any = None, **fields: Any) -> Json:
    """One piece of a tool call."""
    name = fields.pop("name", None)
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    return {"function": function, **fields}


def calls(*pieces: Json) -> Json:
    return delta(tool_calls=list(pieces))


def ask(cli: Cli, server: FakeServer, *flags: str, prompt: str = "hi", **settings: Any) -> Outcome:
    """One turn in JSON mode."""
    return cli.inside("-p", prompt, "--mode", "json", "--permission", "full", *flags, *local(server, **settings))


def called(cli: Cli, *chunks: Any) -> tuple[list[Json], list[Json]]:
    """Answer with calls, then with a word. Return the `tool_ended` events and the messages of the second request."""
    with FakeServer(stream(*chunks, delta("tool_calls")), said("done")) as server:
        outcome = ask(cli, server)
    assert (outcome.code, outcome.result["text"]) == (0, "done"), outcome.events
    return outcome.of("tool_ended"), server.requests[1].json["messages"]


def paired(messages: list[Json]) -> list[str]:
    """The ids of all calls of a request; each must have its result, in order, right behind."""
    made = [c["id"] for m in messages for c in m.get("tool_calls") or ()]
    answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
    assert made == answered
    assert len(set(made)) == len(made)
    assert all(made)
    return made


@pytest.mark.kind(41)
@pytest.mark.parametrize("text", ["é你🌍", "a\u0301🏳️‍🌈", "\\n\t\"'", "𝄞" * 50])
def test_an_answer_in_single_bytes_is_the_same_answer(cli: Cli, text: str) -> None:
    with FakeServer(Reply(one_byte_each(stream(delta(content=text), STOP).chunks))) as server:
        outcome = ask(cli, server)
    assert outcome.result["text"] == text
    assert "".join(e["text"] for e in outcome.of("message_delta")) == text


@pytest.mark.kind(42)
@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1e"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_other_line_separators_are_text(cli: Cli, mark: str, ending: bytes) -> None:
    chunks = [c.replace(b"\n", ending) for c in stream(delta(content=f"a{mark}b"), STOP).chunks if isinstance(c, bytes)]
    with FakeServer(Reply(chunks)) as server:
        outcome = ask(cli, server)
    assert (outcome.code, outcome.result["text"]) == (0, f"a{mark}b")
    assert len(outcome.of("result")) == 1


@pytest.mark.kind(44)
@pytest.mark.parametrize(
    "empty",
    [
        b"null",
        b"",
        {"choices": None, "usage": USAGE},
        {"choices": []},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [None]},
        {"choices": [{"index": 0}]},
        {"choices": [{"index": 0, "delta": {"content": None, "tool_calls": None}}]},
        {},
        b"[]",
    ],
)
def test_chunks_that_say_nothing_do_no_harm(cli: Cli, empty: Any) -> None:
    with FakeServer(stream(empty, delta(content="one "), empty, delta(content="two"), empty, STOP, empty)) as server:
        outcome = ask(cli, server)
    assert (outcome.code, outcome.result["text"], len(server.requests)) == (0, "one two", 1)


@pytest.mark.kind(45)
@pytest.mark.parametrize("end", [(), (HangUp(),)])
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_half_an_answer_is_an_error_after_a_bounded_number_of_tries(cli: Cli, framing: Any, end: Any) -> None:
    cut = Reply([*sse(delta(content="half an ans")), *end], framing=framing)
    with FakeServer(cut, cut, said("too late")) as server:
        outcome = ask(cli, server, max_retries=1)
    assert outcome.code == 1
    assert outcome.result["reason"] == "error"
    assert len(server.requests) == 2
    assert outcome.of("error")[0]["class"] == "network"


@pytest.mark.kind(45)
def test_half_a_tool_call_never_runs(cli: Cli) -> None:
    cut = Reply(sse(calls(piece('{"command": "touch ran"}', index=0, id="c1", name="bash"))))
    with FakeServer(cut) as server:
        outcome = ask(cli, server, max_retries=0)
    assert outcome.code == 1
    assert not (cli.project / "ran").exists()


@pytest.mark.kind(45)
def test_a_cut_answer_in_text_mode_says_so_on_standard_error(cli: Cli) -> None:
    with FakeServer(Reply(sse(delta(content="half")))) as server:
        outcome = cli.inside("-p", "hi", *local(server, max_retries=0))
    assert outcome.code == 1
    assert "broke off" in outcome.err


@pytest.mark.kind(46)
@pytest.mark.parametrize("end", [Reset(), HangUp()])
def test_a_broken_connection_is_tried_again_and_the_part_is_kept_and_marked(cli: Cli, end: Any) -> None:
    with FakeServer(
        Reply([*sse(delta(content="half an ans")), Pause(0.05), end]), said("whole"), said("more")
    ) as server:
        outcome = ask(cli, server)
        again = ask(cli, server, "--continue")
    assert (outcome.code, outcome.result["text"], again.code) == (0, "whole", 0)
    (retry,) = outcome.of("retry")
    assert (retry["attempt"], retry["class"]) == (1, "network")
    assert '"superseded":true' in cli.sessions[0].read_text()
    assert b"half an ans" not in server.requests[2].body
    assert b"whole" in server.requests[2].body


@pytest.mark.kind(47)
def test_done_without_a_reason_is_accepted(cli: Cli) -> None:
    with FakeServer(stream(delta(content="whole"))) as server:
        outcome = ask(cli, server)
    assert (outcome.code, outcome.result["text"], len(server.requests)) == (0, "whole", 1)


@pytest.mark.kind(48)
@pytest.mark.parametrize(
    "error", [{"message": "overloaded", "type": "server_error", "code": 503}, {"message": "slow down", "code": 429}]
)
def test_an_error_that_may_pass_is_retried_within_a_bound(cli: Cli, error: Json) -> None:
    bad = stream(delta(content="some"), {"error": error})
    with FakeServer(bad, said("whole")) as server:
        assert ask(cli, server).result["text"] == "whole"
    with FakeServer(bad, bad, bad) as server:
        outcome = ask(cli, server, max_retries=1)
    assert (outcome.code, len(server.requests)) == (1, 2)
    assert error["message"] in outcome.of("error")[0]["message"]


@pytest.mark.kind(49)
@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("mode", ["json", "text"])
def test_a_rejected_request_is_shown_and_not_sent_again(cli: Cli, inside: bool, mode: str) -> None:
    error = {"error": {"message": "temperature is not supported", "type": "invalid_request_error", "code": 400}}
    bad = stream(error, done=False) if inside else json_reply(error, status=400)
    with FakeServer(bad, said()) as server:
        outcome = cli.inside("-p", "hi", "--mode", mode, *local(server))
    assert (outcome.code, len(server.requests)) == (1, 1)
    assert "temperature is not supported" in (outcome.err if mode == "text" else outcome.of("error")[0]["message"])


@pytest.mark.kind(50)
@pytest.mark.parametrize(("status", "header"), [(429, "1"), (503, "0.5"), (529, "1")])
def test_retry_after_is_waited_for_and_shown(cli: Cli, status: int, header: str) -> None:
    busy = json_reply({"error": {"message": "slow down"}}, status=status, headers={"retry-after": header})
    with FakeServer(busy, said("whole")) as server:
        start = time.perf_counter()
        outcome = ask(cli, server)
        spent = time.perf_counter() - start
    assert outcome.result["text"] == "whole"
    assert spent >= float(header)
    assert outcome.of("retry")[0]["wait_s"] >= float(header)


@pytest.mark.kind(50)
def test_a_wait_over_the_limit_is_refused_at_once(cli: Cli) -> None:
    busy = json_reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "7200"})
    with FakeServer(busy, said()) as server:
        outcome = cli.inside("-p", "hi", *local(server))
    assert (outcome.code, len(server.requests)) == (1, 1)
    assert "7200" in outcome.err


@pytest.mark.kind(51)
@pytest.mark.parametrize("mode", ["json", "text"])
@pytest.mark.parametrize(
    "reply",
    [
        json_reply({"error": {"message": "no"}}, status=400),
        json_reply({"error": {"message": "bad key"}}, status=401),
        json_reply({"error": {"message": "not here"}}, status=404),
        Reply([b"<html><title>502 Bad Gateway</title></html>"], headers={"content-type": "text/html"}),
        Reply([b"plain words"], status=418, headers={"content-type": "text/plain"}),
        json_reply([], status=200),
        Reply([], status=204),
    ],
)
def test_every_error_is_a_non_zero_exit(cli: Cli, reply: Reply, mode: str) -> None:
    with FakeServer(reply) as server:
        outcome = cli.inside("-p", "hi", "--mode", mode, *local(server, max_retries=0))
    assert outcome.code == 1
    assert (outcome.of("error")[0]["message"] if mode == "json" else outcome.err.partition("error:")[2]).strip()
    assert "Traceback" not in outcome.err


@pytest.mark.kind(52)
@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
def test_reasoning_is_thinking(cli: Cli, field: str) -> None:
    reply = stream(delta(**{field: "let me "}), delta(**{field: "think"}), delta(content="42"), STOP)
    with FakeServer(reply, reply) as server:
        outcome, text = ask(cli, server), cli.inside("-p", "hi", *local(server))
    assert outcome.result["text"] == "42"
    assert "".join(e["text"] for e in outcome.of("message_delta") if e["kind"] == "thinking") == "let me think"
    assert text.out == "42\n"


@pytest.mark.kind(52)
@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize("lead", ["", "\n"])
def test_inline_thinking_is_told_from_the_answer_however_it_is_cut(cli: Cli, size: int, lead: str) -> None:
    body = f"{lead}<think>is 1 < 2? </no> yes</think>\n\nYes: 1 <b> 2"
    chunks = [delta(content=body[i : i + size]) for i in range(0, len(body), size)]
    with FakeServer(stream(*chunks, STOP)) as server:
        outcome = ask(cli, server)
    assert outcome.result["text"] == "Yes: 1 <b> 2"
    assert "".join(e["text"] for e in outcome.of("message_delta") if e["kind"] == "thinking") == "is 1 < 2? </no> yes"


@pytest.mark.kind(54)
@pytest.mark.parametrize(
    "reply", [stream(delta(reasoning_content="hm"), STOP), stream(STOP), stream(delta(content=" \n"), STOP)]
)
def test_an_empty_answer_is_asked_for_once_more_then_it_is_an_error(cli: Cli, reply: Reply) -> None:
    with FakeServer(reply, said("whole")) as server:
        assert ask(cli, server).result["text"] == "whole"
    with FakeServer(reply, reply, said("too late")) as server:
        outcome = ask(cli, server)
    assert (outcome.code, outcome.result["reason"], len(server.requests)) == (1, "empty", 2)
    assert server.requests[1].json["messages"][-1]["role"] == "user"
    with FakeServer(reply, reply) as server:
        text = cli.inside("-p", "hi", *local(server))
    assert text.code == 1
    assert "answered nothing" in text.err


@pytest.mark.kind(55)
@pytest.mark.parametrize(
    "pieces",
    [
        [piece("", id="c1", name="bash"), piece('{"command":'), piece(' "echo hi"}')],
        [piece('{"command":', id="c1", name="bash"), piece(' "echo hi"}', id="c1")],
        [piece('{"command": "echo hi"}', id="c1", name="bash")],
        [piece('{"command": "echo hi"}', id="c1", name="bash", index=None)],
    ],
)
def test_pieces_without_an_index_are_one_call(cli: Cli, pieces: list[Json]) -> None:
    ended, messages = called(cli, *map(calls, pieces))
    assert [text_of(e) for e in ended] == ["hi"]
    assert paired(messages) == ["c1"]


@pytest.mark.kind(56)
@pytest.mark.parametrize("given", [{}, {"id": ""}, {"id": None}, {"id": "call_0"}])
def test_every_call_has_an_id_of_its_own_in_the_session(cli: Cli, given: Json) -> None:
    answer = stream(calls(piece('{"command": "echo hi"}', index=0, name="bash", **given)), delta("tool_calls"))
    with FakeServer(answer, answer, said("done"), answer, said("done")) as server:
        first, second = ask(cli, server), ask(cli, server, "--continue")
    assert (first.code, second.code) == (0, 0)
    assert len(paired(server.requests[-1].json["messages"])) == 3


@pytest.mark.kind(57)
@pytest.mark.parametrize("index", [1, 7, -1])
def test_the_first_index_may_be_any(cli: Cli, index: int) -> None:
    ended, messages = called(
        cli,
        delta(content="look:"),
        calls(piece('{"command":', index=index, id="c1", name="bash")),
        calls(piece('"echo hi"}', index=index)),
    )
    assert [text_of(e) for e in ended] == ["hi"]
    assert paired(messages) == ["c1"]


@pytest.mark.kind(58)
@pytest.mark.parametrize("index", [{"index": 0}, {}, {"index": 3}])
@pytest.mark.parametrize("in_one_chunk", [True, False])
def test_two_calls_that_share_an_index_both_run(cli: Cli, index: Json, in_one_chunk: bool) -> None:
    pieces = [piece(f'{{"command": "echo {n}"}}', id=f"c{n}", name="bash", **index) for n in (1, 2)]
    ended, messages = called(cli, *([calls(*pieces)] if in_one_chunk else map(calls, pieces)))
    assert [text_of(e) for e in ended] == ["1", "2"]
    assert paired(messages) == ["c1", "c2"]


@pytest.mark.kind(59)
@pytest.mark.parametrize("twin", ["same", ""])
def test_two_calls_with_one_id_both_run(cli: Cli, twin: str) -> None:
    ended, messages = called(
        cli,
        calls(piece('{"command": "echo 1"}', index=0, id=twin, name="bash")),
        calls(piece('{"command": "echo 2"}', index=1, id=twin, name="bash")),
    )
    assert [text_of(e) for e in ended] == ["1", "2"]
    assert len(paired(messages)) == 2


@pytest.mark.kind(60)
@pytest.mark.parametrize(
    "later",
    [
        {"id": "c2"},
        {"id": "c1", "name": "bash"},
        {"id": ""},
        {"name": ""},
        {"id": "c1", "name": "bash", "type": "function"},
    ],
)
def test_one_call_stays_one(cli: Cli, later: Json) -> None:
    ended, messages = called(
        cli,
        calls(piece('{"command":', index=0, id="c1", name="bash")),
        calls(piece(' "echo', index=0, **later)),
        calls(piece(' hi"}', index=0, **later)),
    )
    assert [text_of(e) for e in ended] == ["hi"]
    assert len(paired(messages)) == 1


@pytest.mark.kind(61)
@pytest.mark.parametrize(
    "arguments", [{"command": "echo hi"}, '"{\\"command\\": \\"echo hi\\"}"', {"command": "echo hi", "timeout": "5"}]
)
def test_arguments_as_an_object_are_run_and_replayed(cli: Cli, arguments: Any) -> None:
    ended, messages = called(cli, calls(piece(arguments, index=0, id="c1", name="bash")))
    assert [text_of(e) for e in ended] == ["hi"]
    assert isinstance(messages[-2]["tool_calls"][0]["function"]["arguments"], str)
    with FakeServer(said("fine")) as server:
        assert ask(cli, server, "--continue").result["text"] == "fine"


@pytest.mark.kind(61)
@pytest.mark.parametrize("arguments", [7, ["echo"], True, {"command": ["echo", "hi"]}, {"command": {"a": 1}}])
def test_arguments_of_other_types_are_an_error_the_model_reads(cli: Cli, arguments: Any) -> None:
    ended, messages = called(cli, calls(piece(arguments, index=0, id="c1", name="bash")))
    assert [e["is_error"] for e in ended] == [True]
    assert "bash" in text_of(ended[0])
    assert paired(messages) == ["c1"]


@pytest.mark.kind(62)
@pytest.mark.parametrize(
    ("name", "arguments", "said_to_model"),
    [
        ("bash", "", "command: missing"),
        ("bash", "{}", "command: missing"),
        ("bash", '{"command": "echo', "no JSON object"),
        ("bash", "null", "not an object"),
        ("bsh", '{"command": "x"}', "Nearest: bash"),
        ("launch_rockets", "{}", "no tool named"),
        ("read", '{"path": "f", "offset": "many"}', "offset: expected integer"),
    ],
)
def test_a_call_that_cannot_run_is_answered_precisely(cli: Cli, name: str, arguments: str, said_to_model: str) -> None:
    ended, messages = called(cli, calls(piece(arguments, index=0, id="c1", name=name)))
    assert [e["is_error"] for e in ended] == [True]
    assert said_to_model in text_of(ended[0])
    assert said_to_model in messages[-1]["content"]


@pytest.mark.kind(64)
@pytest.mark.parametrize(
    "chunks",
    [
        [STOP, {"choices": [], "usage": USAGE}],
        [delta(content="") | {"usage": USAGE}, STOP | {"usage": USAGE}],
        [
            delta(content="") | {"usage": {"prompt_tokens": 100, "completion_tokens": 3}},
            STOP,
            {"choices": None, "usage": USAGE},
        ],
    ],
)
def test_usage_is_counted_once_wherever_it_stands(cli: Cli, chunks: list[Any]) -> None:
    detailed = {
        **USAGE,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    chunks = [c | {"usage": detailed} if c.get("usage") == USAGE else c for c in chunks]
    with FakeServer(stream(delta(content="x"), *chunks)) as server:
        usage = ask(cli, server).result["usage"]
    assert (usage["input"], usage["cache_read"], usage["output"]) == (40, 60, 20)


@pytest.mark.kind(69)
@pytest.mark.parametrize("before", [[], sse(delta(content="half"))])
def test_a_stream_that_falls_silent_is_a_dropped_stream(cli: Cli, before: list[Any]) -> None:
    with FakeServer(Reply([*before, Stall()]), said("whole")) as server:
        start = time.perf_counter()
        outcome = ask(cli, server, idle_timeout_s=0.3)
        assert time.perf_counter() - start < 20
    assert outcome.result["text"] == "whole"
    assert outcome.of("retry")[0]["class"] == "network"
