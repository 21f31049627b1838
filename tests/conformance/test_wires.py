"""One session, several makers: what of an answer goes back to whom."""

import json
import re
from typing import Any

import pytest

from support.cli import Cli, Json, delta, local, said, stream
from support.servers import FakeServer, Reply, sse

SIGNATURE = "c2lnbmVkIGJ5IHRoZSBtYWtlcg=="
LONG_ID = "call/with:odd.characters|" + "x" * 60


def google(*parts: Json) -> Reply:
    return Reply(sse({"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}]}))


def anthropic(*blocks: tuple[Json, Json]) -> Reply:
    events: list[Json] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": {}}}
    ]
    for index, (start, change) in enumerate(blocks):
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.append({"type": "content_block_delta", "index": index, "delta": change})
        if start["type"] == "thinking":
            signed = {"type": "signature_delta", "signature": SIGNATURE}
            events.append({"type": "content_block_delta", "index": index, "delta": signed})
        events.append({"type": "content_block_stop", "index": index})
    reason = "tool_use" if any(b[0]["type"] == "tool_use" for b in blocks) else "end_turn"
    events += [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {}}, {"type": "message_stop"}]
    return Reply(sse(*events, named=True))


def maker(name: str, api: str, server: FakeServer, base: str = "") -> list[str]:
    values = {"api": api, "base_url": server.url + base, "api_key": "k", "context_window": 32_768, "max_output": 4_096}
    return ["--model", f"{name}/m", *(f for k, v in values.items() for f in ("--set", f"providers.{name}.{k}={v}"))]


ANTHROPIC_CALL = [
    ({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": "private thought"}),
    (
        {"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {}},
        {"type": "input_json_delta", "partial_json": '{"path": "."}'},
    ),
]
ANTHROPIC_TEXT = ({"type": "text", "text": ""}, {"type": "text_delta", "text": "done"})


@pytest.mark.kind(65)
def test_a_signature_goes_back_with_its_call_after_a_resume_too(cli: Cli) -> None:
    call = {"functionCall": {"name": "ls", "args": {"path": "."}}, "thoughtSignature": SIGNATURE}
    with FakeServer(google(call), google({"text": "done"}), google({"text": "more"})) as server:
        flags = maker("g", "google", server)
        assert cli.inside("-p", "go", *flags).code == 0
        assert cli.inside("-p", "on", "-c", *flags).code == 0
    for request in server.requests[1:]:
        (part,) = [p for c in request.json["contents"] for p in c["parts"] if "functionCall" in p]
        assert part["thoughtSignature"] == SIGNATURE


@pytest.mark.kind(65)
def test_a_call_of_another_maker_is_replayed_in_a_form_that_is_accepted(cli: Cli) -> None:
    call = delta(tool_calls=[{"index": 0, "id": LONG_ID, "function": {"name": "ls", "arguments": "{}"}}])
    with (
        FakeServer(stream(call, delta("tool_calls")), said("done")) as chat,
        FakeServer(google({"text": "x"})) as server,
    ):
        assert cli.inside("-p", "go", *local(chat)).code == 0
        assert cli.inside("-p", "on", "-c", *maker("g", "google", server)).code == 0
    parts = [p for c in server.requests[0].json["contents"] for p in c["parts"]]
    assert [p["functionCall"]["name"] for p in parts if "functionCall" in p] == ["ls"]
    assert [p["functionResponse"]["name"] for p in parts if "functionResponse" in p] == ["ls"]
    assert SIGNATURE not in json.dumps(parts)


@pytest.mark.kind(66)
def test_ids_become_legal_and_stay_paired_and_the_same(cli: Cli) -> None:
    call = delta(tool_calls=[{"index": 0, "id": LONG_ID, "function": {"name": "ls", "arguments": "{}"}}])
    answers = [anthropic(ANTHROPIC_TEXT), anthropic(ANTHROPIC_TEXT)]
    with FakeServer(stream(call, delta("tool_calls")), said("done")) as chat, FakeServer(*answers) as server:
        assert cli.inside("-p", "go", *local(chat)).code == 0
        for prompt in ("on", "and on"):
            outcome = cli.inside("-p", prompt, "-c", *maker("a", "anthropic", server))
            assert outcome.code == 0, outcome.err
    seen = []
    for request in server.requests:
        blocks = [b for m in request.json["messages"] for b in m["content"] if isinstance(b, dict)]
        (use,) = [b for b in blocks if b["type"] == "tool_use"]
        (result,) = [b for b in blocks if b["type"] == "tool_result"]
        assert use["id"] == result["tool_use_id"]
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", use["id"])
        seen.append(use["id"])
    assert seen[0] == seen[1]


@pytest.mark.kind(66)
def test_signed_thinking_goes_back_to_its_maker_and_to_no_one_else(cli: Cli) -> None:
    replies: list[Any] = [anthropic(*ANTHROPIC_CALL), anthropic(ANTHROPIC_TEXT), anthropic(ANTHROPIC_TEXT)]
    with FakeServer(*replies) as server, FakeServer(said("other")) as chat, FakeServer(google({"text": "x"})) as third:
        assert cli.inside("-p", "go", *maker("a", "anthropic", server)).code == 0
        assert cli.inside("-p", "on", "-c", *local(chat)).code == 0
        assert cli.inside("-p", "on", "-c", *maker("g", "google", third)).code == 0
        assert cli.inside("-p", "back", "-c", *maker("a", "anthropic", server)).code == 0
    assert SIGNATURE in server.requests[1].body.decode()
    for request in (*chat.requests, *third.requests):
        assert SIGNATURE not in request.body.decode()
        assert "private thought" not in request.body.decode()
    assert len(server.requests) == 3


@pytest.mark.kind(67)
def test_a_prompt_that_the_server_cut_is_told(cli: Cli) -> None:
    answer = stream(
        delta(content="Hm."), delta("stop"), {"choices": [], "usage": {"prompt_tokens": 2048, "completion_tokens": 2}}
    )
    with FakeServer(answer) as server:
        ended = cli.run("-p", "What stands here? " + "one line of a long log\n" * 900, *local(server), "--mode", "json")

    assert ended.code == 0
    assert any("2,048 prompt tokens" in n["message"] and "num_ctx" in n["message"] for n in ended.of("notice"))
