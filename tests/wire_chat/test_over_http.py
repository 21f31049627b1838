"""Chat Completions through a real socket."""

import anyio
import pytest

from support.servers import FakeServer, HangUp, Reply, Stall, json_reply, one_byte_each, sse
from trimtab.agent.ports import Provider
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types import Assembler, Assistant, ModelInfo, ModelRequest, Text, user
from trimtab.types.stream import PartDelta, Retrying

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(ModelInfo("local", "m", "openai-chat"), (user("hi"),))


def say(text: str, finish: str | None = None) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}]}


async def no_sleep(_seconds: float) -> None:
    pass


async def ask(server: FakeServer, **changes: object) -> tuple[Assistant, list[Retrying]]:
    endpoint = Endpoint("local", "openai-chat", server.url + "/v1", **changes)
    provider = HttpProvider(endpoint, OpenAIChat(), sleep=no_sleep)
    port: Provider = provider
    assembler = Assembler(provider="local", model="m")
    retries = []
    async for event in port.stream(REQUEST):
        assembler.feed(event)
        if isinstance(event, Retrying):
            retries.append(event)
    await provider.aclose()
    return assembler.message(), retries


async def test_an_answer_arrives_one_byte_at_a_time():
    chunks = one_byte_each([b"\r\n: hi\r\n\r\n", *sse(say("é你🌍"), say("", "stop"), done=True)])
    with FakeServer(Reply(chunks)) as server:
        got, _ = await ask(server)
    assert (got.parts, got.stop_reason, got.error) == ((Text("é你🌍"),), "stop", None)
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].json["messages"] == [{"role": "user", "content": "hi"}]
    assert "authorization" not in server.requests[0].headers


async def test_a_cut_answer_is_asked_for_again_and_never_a_success():
    cut = Reply([*sse(say("half")), HangUp()])
    orderly = Reply(sse(say("half")))
    with FakeServer(cut, orderly, Reply(sse(say("whole", "stop")))) as server:
        got, retries = await ask(server)
    assert got.text == "whole"
    assert [(r.attempt, r.kind) for r in retries] == [(1, "network"), (2, "network")]

    with FakeServer(orderly, orderly) as server:
        got, _ = await ask(server, max_retries=1)
    assert (got.stop_reason, got.error.kind, got.text) == ("error", "network", "half")


async def test_an_error_in_the_stream_is_tried_again_only_when_it_may_pass():
    passing = {"error": {"type": "server_error", "message": "hiccup"}}
    final = {"error": {"type": "invalid_request_error", "message": "bad tool", "code": 400}}
    with FakeServer(Reply(sse(say("a"), passing)), Reply(sse(say("b"), final))) as server:
        got, retries = await ask(server)
    assert [r.message for r in retries] == ["hiccup"]
    assert (got.stop_reason, got.error.kind, got.error.message, got.text) == (
        "error",
        "invalid",
        "local answered 400: bad tool",
        "b",
    )


async def test_a_body_that_did_not_stream_is_accepted():
    body = {"choices": [{"message": {"content": "whole"}, "finish_reason": "stop"}]}
    with FakeServer(json_reply(body)) as server:
        got, _ = await ask(server)
    assert (got.text, got.stop_reason) == ("whole", "stop")


async def test_done_ends_the_answer_though_the_connection_stays_open():
    with FakeServer(Reply([*sse(say("a", "stop"), done=True), Stall()])) as server, anyio.fail_after(3):
        got, _ = await ask(server)
    assert got.stop_reason == "stop"


async def test_deltas_arrive_while_the_answer_streams():
    with FakeServer(Reply([*sse(say("a")), Stall()])) as server:
        provider = HttpProvider(Endpoint("local", "openai-chat", server.url), OpenAIChat())
        with anyio.fail_after(3), anyio.CancelScope() as scope:
            async for event in provider.stream(REQUEST):
                if event == PartDelta(0, "text", "a"):
                    scope.cancel()
        assert await anyio.to_thread.run_sync(server.left.wait, 2)
        await provider.aclose()
