"""The HTTP provider against a scripted server, with a wire that is as small as a wire can be."""

import base64
import json
import subprocess
import sys
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace

import anyio
import pytest

from support.servers import FakeServer, HangUp, Pause, Received, Reply, Reset, Stall, json_reply, one_byte_each, sse
from trimtab.providers.classify import load_rules
from trimtab.providers.http import HttpProvider, join_url
from trimtab.providers.loopback import is_loopback
from trimtab.providers.wire import Endpoint, WireFailure, WireRequest
from trimtab.types import ErrorInfo, ModelInfo, ModelRequest, StreamEvent
from trimtab.types.stream import Ended, PartDelta, Retrying

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest(ModelInfo("fake", "m", "openai-chat"), ())
DONE = Ended("stop")


class EchoDecoder:
    """Each event is JSON: a string is text, null ends the answer, an object is an error."""

    def __init__(self) -> None:
        self.closed = False

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]:
        try:
            value = json.loads(data)
        except ValueError:
            raise WireFailure(ErrorInfo("malformed", "not JSON", retryable=True)) from None
        if isinstance(value, dict):
            raise WireFailure(ErrorInfo("invalid", value["error"]))
        return [DONE] if value is None else [PartDelta(0, "text", value)]

    def finish(self) -> Iterable[StreamEvent]:
        raise WireFailure(ErrorInfo("network", "cut", retryable=True))


class EchoWire:
    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        return WireRequest("chat", {"authorization": f"Bearer {endpoint.api_key}"}, b'{"a": 1}')

    def decoder(self, request: ModelRequest) -> EchoDecoder:
        return EchoDecoder()


@dataclass
class Clock:
    slept: list[float]

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def endpoint(url: str, **changes: object) -> Endpoint:
    return replace(Endpoint("fake", "openai-chat", url + "/v1", "sk-secret", idle_timeout_s=5.0), **changes)


async def ask(url: str, *, clock: Clock | None = None, **changes: object) -> list[StreamEvent]:
    clock = clock or Clock([])
    provider = HttpProvider(endpoint(url, **changes), EchoWire(), sleep=clock.sleep, random=lambda: 0.0)
    try:
        return [e async for e in provider.stream(REQUEST)]
    finally:
        await provider.aclose()


def text(*parts: str) -> list[StreamEvent]:
    return [PartDelta(0, "text", p) for p in parts]


async def test_a_request_carries_the_bytes_and_headers_of_the_wire_and_the_endpoint():
    with FakeServer(Reply(sse("hi", None))) as server:
        events = await ask(server.url, headers={"X-Extra": "1", "Authorization": "Other"})
    assert events == [*text("hi"), DONE]
    (got,) = server.requests
    assert (got.method, got.path, got.body) == ("POST", "/v1/chat", b'{"a": 1}')
    assert got.headers["authorization"] == "Other"
    assert got.headers["x-extra"] == "1"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["user-agent"].startswith("trimtab/")


@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
@pytest.mark.parametrize("encoding", ["", "gzip", "deflate"])
async def test_the_text_is_the_same_however_the_body_is_packed(framing, encoding):
    chunks = one_byte_each(sse("é你🌍", "\u2028", None))
    with FakeServer(Reply(chunks, framing=framing, encoding=encoding)) as server:
        assert await ask(server.url) == [*text("é你🌍", "\u2028"), DONE]


async def test_one_connection_serves_many_requests():
    with FakeServer(*[Reply(sse("a", None))] * 3) as server:
        provider = HttpProvider(endpoint(server.url), EchoWire())
        for _ in range(3):
            assert [e async for e in provider.stream(REQUEST)] == [*text("a"), DONE]
        await provider.aclose()
        assert server.connections == 1


@pytest.mark.parametrize("dies_at", [2, 3])
async def test_a_kept_connection_that_is_dead_costs_no_try(dies_at):
    def answer(_: Received) -> Reply:
        if len(server.requests) == dies_at:
            raise ConnectionResetError
        return Reply(sse("a", None))

    clock = Clock([])
    with FakeServer(answer) as server:
        provider = HttpProvider(endpoint(server.url, max_retries=0), EchoWire(), sleep=clock.sleep)
        told = [[e async for e in provider.stream(REQUEST)] for _ in range(3)]
        await provider.aclose()
    assert told == [[*text("a"), DONE]] * 3
    assert (len(server.requests), server.connections, clock.slept) == (4, 2, [])


async def test_a_fresh_connection_that_dies_before_a_byte_is_a_failed_try():
    def answer(_: Received) -> Reply:
        if len(server.requests) == 1:
            raise ConnectionResetError
        return Reply(sse("a", None))

    with FakeServer(answer) as server:
        first, *rest = await ask(server.url)
    assert (type(first), rest) == (Retrying, [*text("a"), DONE])


async def test_a_server_that_lingers_after_the_final_event_is_not_waited_for():
    with FakeServer(Reply([*sse("a", None), Stall()])) as server:
        with anyio.fail_after(2):
            assert await ask(server.url) == [*text("a"), DONE]


async def test_a_json_body_is_one_event():
    with FakeServer(Reply([b' \n{"error":', b'"no"}'])) as server:
        events = await ask(server.url, max_retries=0)
    assert events == [Ended("error", error=ErrorInfo("invalid", "no"))]


@pytest.mark.parametrize("end", [Reset(), HangUp()])
async def test_a_broken_connection_is_tried_again_and_voids_what_came(end):
    with FakeServer(Reply([*sse("half"), Pause(0.05), end]), Reply(sse("whole", None))) as server:
        clock = Clock([])
        first, retry, *rest = await ask(server.url, clock=clock)
    assert first == text("half")[0]
    assert isinstance(retry, Retrying)
    assert (retry.attempt, retry.kind, retry.wait_s) == (1, "network", 0.25)
    assert rest == [*text("whole"), DONE]
    assert clock.slept == [0.25]


async def test_an_event_cut_in_its_middle_is_a_cut_and_not_bad_json():
    with FakeServer(Reply([b'data: "hal'], framing="close")) as server:
        (ended,) = await ask(server.url, max_retries=0)
    assert (ended.error.kind, ended.error.retryable) == ("network", True)


async def test_silence_longer_than_the_idle_timeout_is_a_network_error():
    with FakeServer(Reply([*sse("a"), Stall()]), Reply(sse("b", None))) as server:
        events = await ask(server.url, idle_timeout_s=0.1)
    assert isinstance(events[1], Retrying)
    assert "0.1 s" in events[1].message
    assert events[2:] == [*text("b"), DONE]


async def test_tries_are_bounded_when_the_answer_never_ends():
    with FakeServer(lambda _: Reply(sse("a"))) as server:
        events = await ask(server.url, max_retries=3)
    assert len(server.requests) == 4
    assert [type(e) for e in events].count(Ended) == 1
    assert events[-1].error.hint.startswith("Given up after 4 tries.")


@pytest.mark.parametrize(
    "kept_alive", [b": ping\n\n", b"\n", b"event: ping\n\n"], ids=["comment", "blank", "empty event"]
)
async def test_a_stream_that_is_only_kept_alive_ends(kept_alive):
    # The server's pauses are far shorter than what counts as silence, also on a machine that is busy.
    drip = [step for _ in range(200) for step in (kept_alive, Pause(0.03))]
    with FakeServer(Reply([*sse("a"), *drip])) as server, anyio.fail_after(20):
        first, ended = await ask(server.url, idle_timeout_s=0.5)
    assert first == text("a")[0]
    assert (ended.error.kind, ended.error.retryable) == ("network", False)
    assert ended.error.message == "the connection was kept alive for 3 s without a word of an answer"


async def test_a_slow_answer_that_is_kept_alive_meanwhile_is_waited_for():
    drip = [step for _ in range(5) for step in (b": ping\n\n", Pause(0.02))]
    with FakeServer(Reply([*drip, *sse("a"), *drip, *sse(None)])) as server:
        assert await ask(server.url, idle_timeout_s=0.2) == [*text("a"), DONE]


async def test_a_slow_reader_is_not_taken_for_a_silent_server():
    with FakeServer(Reply([*sse("a"), b": ping\n\n", *sse(None)])) as server:
        provider = HttpProvider(endpoint(server.url, idle_timeout_s=0.05), EchoWire())
        events = []
        async for event in provider.stream(REQUEST):
            events.append(event)
            await anyio.sleep(0.4)
        await provider.aclose()
    assert events == [*text("a"), DONE]


@pytest.mark.parametrize(
    ("chunks", "encoding"),
    [
        ([b"data: " + b"x" * 2000, b"y" * 9000], ""),
        ([b'{"a": "' + b"x" * 2000, b"y" * 9000], ""),
        ([b": " + b"x" * 11_000 + b"\n"], "gzip"),
        (sse(*["x" * 50] * 200), ""),
    ],
    ids=["one line", "one document", "packed", "many events"],
)
async def test_an_answer_that_grows_without_end_is_given_up(chunks, encoding):
    with FakeServer(Reply([*chunks, Stall()], encoding=encoding)) as server:
        provider = HttpProvider(endpoint(server.url), EchoWire(), max_answer_bytes=10_000)
        *_, ended = [e async for e in provider.stream(REQUEST)]
        await provider.aclose()
    assert (ended.error.kind, ended.error.retryable) == ("malformed", False)
    assert ended.error.message == "the answer has no end: given up after 10,000 bytes"


async def test_an_error_text_that_drips_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("trimtab.providers.http._REFUSAL_S", 0.1)
    drip = [step for _ in range(100) for step in (b"busy ", Pause(0.02))]
    with FakeServer(Reply(drip, status=503)) as server, anyio.fail_after(1.5):
        (ended,) = await ask(server.url, max_retries=0)
    assert (ended.error.kind, ended.error.message[:25]) == ("server", "fake answered 503: busy b")


async def test_retry_after_is_kept_to():
    clock = Clock([])
    reply = json_reply({"error": {"message": "slow"}}, status=429, headers={"retry-after": "2"})
    with FakeServer(reply, Reply(sse("a", None))) as server:
        events = await ask(server.url, clock=clock)
    assert (events[0].kind, events[0].wait_s, clock.slept) == ("rate_limit", 2.0, [2.0])
    assert events[1:] == [*text("a"), DONE]


async def test_a_wait_longer_than_allowed_ends_and_says_so():
    with FakeServer(json_reply({}, status=503, headers={"retry-after": "3600"})) as server:
        (ended,) = await ask(server.url)
    assert ended.error.retry_after_s == 3600
    assert "asks to wait 3600 s" in ended.error.hint


async def test_the_key_never_comes_back_in_a_message():
    with FakeServer(json_reply({"error": {"message": "bad key sk-secret"}}, status=401)) as server:
        (ended,) = await ask(server.url)
    assert (ended.error.kind, ended.error.message) == ("auth", "fake answered 401: bad key [key]")
    assert "sk-secret" not in repr(endpoint("http://x"))


@pytest.mark.parametrize(
    ("more", "sent"),
    [
        ({"headers": {"X-Own": "own-secret-1"}}, "own-secret-1"),
        ({"headers": {"Authorization": "Bearer own-secret-2"}}, "own-secret-2"),
        ({"query": "?key=own-secret-3"}, "own-secret-3"),
        ({"login": "me:own-secret-4"}, "own-secret-4"),
        ({"login": "me:own-secret-5"}, base64.b64encode(b"me:own-secret-5").decode()),
        ({"login": "me:own%2Dsecret-6"}, "own-secret-6"),
    ],
)
async def test_nothing_that_lets_in_comes_back_in_a_message_also_where_the_message_is_cut_within_it(more, sent):
    for before in ("", "x" * (500 - len("you sent ") - 8)):
        body = {"error": {"message": f"{before}you sent {sent} {'y' * 600}"}}
        with FakeServer(json_reply(body, status=400)) as server:
            url = server.url.replace("//", f"//{more['login']}@") if "login" in more else server.url
            base_url = f"{url}/v1{more.get('query', '')}"
            (ended,) = await ask(url, base_url=base_url, api_key=None, headers=more.get("headers", {}))
        assert sent[:8] not in ended.error.message
        assert "you sent [key]" in ended.error.message


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(
    ("more", "blames"),
    [
        ({"api_key": None}, "No key was sent"),
        ({"api_key": "sk-secret"}, "refused the key"),
        ({"api_key": None, "headers": {"authorization": "Bearer x"}}, "refused the key"),
        ({"api_key": None, "headers": {"x-own": "value"}}, "No key was sent"),
    ],
)
async def test_a_refusal_blames_a_key_only_where_one_was_sent(status, more, blames):
    with FakeServer(json_reply({"error": {"message": "no"}}, status=status)) as server:
        (ended,) = await ask(server.url, **more)
    assert ended.error.kind == "auth"
    assert blames in ended.error.hint
    assert ("trimtab login " in ended.error.hint) is (blames == "No key was sent")


async def test_a_word_that_stands_for_no_key_is_not_struck_out_of_a_message():
    with FakeServer(json_reply({"error": {"message": "token broke"}}, status=400)) as server:
        (ended,) = await ask(server.url, api_key="k")
    assert ended.error.message == "fake answered 400: token broke"


async def test_web_pages_are_named_as_such():
    page = Reply([b"<!DOCTYPE html><html><title>Sign in</title></html>"], headers={"content-type": "text/html"})
    with FakeServer(page, replace(page, status=502)) as server:
        (ended,) = await ask(server.url)
        assert (ended.error.kind, ended.error.retryable) == ("malformed", False)
        assert "web page" in ended.error.message
        (ended,) = await ask(server.url, max_retries=0)
        assert (ended.error.kind, ended.error.message) == ("server", "fake answered 502: Sign in")


async def test_rules_of_the_user_hold_for_statuses_and_for_streams():
    rules = load_rules('[[rule]]\nclass = "overflow"\nmatch = ["hamster is full"]')
    failing = [json_reply({"error": "hamster is full"}, status=400), Reply(sse({"error": "the hamster is full"}))]
    with FakeServer(*failing) as server:
        provider = HttpProvider(endpoint(server.url), EchoWire(), extra_rules=rules)
        for _ in failing:
            (ended,) = [e async for e in provider.stream(REQUEST)]
            assert ended.error.kind == "overflow"
        await provider.aclose()


async def test_plain_words_with_status_200_are_shown():
    with FakeServer(Reply([b"upstream connect error"])) as server:
        (ended,) = await ask(server.url, max_retries=0)
    assert (ended.error.kind, ended.error.retryable) == ("malformed", True)
    assert "upstream connect error" in ended.error.message


async def test_nobody_listening_is_said_at_once_on_this_machine():
    with FakeServer() as server:
        url = server.url
    (ended,) = await ask(url)
    assert ended.error.kind == "network"
    assert url in ended.error.message
    assert "base_url" in ended.error.hint


async def test_a_password_in_the_base_url_is_not_shown():
    with FakeServer() as server:
        url = server.url
    (ended,) = await ask(url.replace("//", "//me:hidden@"))
    assert ended.error.message.startswith(f"can't connect to {url}/v1: ")


@pytest.mark.parametrize(
    "proxy",
    ["gopher://x", "socks9://x", "://:::", "http://[", "http://", "http://127.0.0.1:999999", "http://127.0.0.1:x"],
)
async def test_a_proxy_that_cannot_be_used_is_an_error(proxy):
    (ended,) = await ask("http://model.invalid", proxy=proxy)
    assert (ended.error.kind, ended.error.retryable) == ("invalid", False)
    assert ended.error.message.startswith("the proxy can't be used: ")


@pytest.mark.parametrize("url", ["", "http://", "http://[::1", "http://127.0.0.1:99999", "http://\x00", "//x"])
async def test_a_base_url_that_is_none_is_an_error_and_not_tried_again(url):
    (ended,) = await ask(url)
    assert (ended.error.kind, ended.error.retryable) == ("invalid", False)
    assert "base_url" in ended.error.hint


@pytest.mark.parametrize(
    ("url", "key"), [("ftp://x", "k"), ("no url", "k"), ("http://127.0.0.1:1", "kéy"), ("http://127.0.0.1:1", "k\ny")]
)
async def test_what_cannot_be_sent_is_an_error_and_not_tried_again(url, key):
    (ended,) = await ask(url, api_key=key)
    assert (ended.error.kind, ended.error.retryable) == ("invalid", False)
    assert key not in ended.error.message or key == "k"


async def test_cancelling_closes_the_connection_at_once():
    with FakeServer(Reply([*sse("a"), Stall()])) as server:
        provider = HttpProvider(endpoint(server.url), EchoWire())
        with anyio.CancelScope() as scope:
            async for _ in provider.stream(REQUEST):
                scope.cancel()
        assert scope.cancelled_caught
        assert await anyio.to_thread.run_sync(server.left.wait, 2)
        await provider.aclose()


async def test_closing_the_iterator_closes_the_connection():
    with FakeServer(Reply([*sse("a"), Stall()])) as server:
        provider = HttpProvider(endpoint(server.url), EchoWire())
        async with aclosing(provider.stream(REQUEST)) as events:
            async for _ in events:
                break
        assert await anyio.to_thread.run_sync(server.left.wait, 2)
        await provider.aclose()


async def test_a_loopback_url_never_uses_a_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeServer(Reply(sse("a", None))) as server:
        assert await ask(server.url, proxy="http://127.0.0.1:9") == [*text("a"), DONE]


async def test_another_url_uses_the_proxy_of_the_endpoint():
    def answer(received: Received) -> Reply:
        assert received.path == "http://model.invalid/v1/chat"
        return Reply(sse("a", None))

    with FakeServer(answer) as proxy:
        assert await ask("http://model.invalid", proxy=proxy.url) == [*text("a"), DONE]


async def test_a_proxy_that_wants_a_password_is_named_without_the_one_it_got():
    def refuse(_: Received) -> Reply:
        return json_reply({}, status=407)

    for target in ("http://model.invalid", "https://model.invalid"):
        with FakeServer(refuse) as proxy:
            host = proxy.url.removeprefix("http://")
            (ended,) = await ask(target, proxy=f"http://me:hidden@{host}")
        assert ended.error.message.startswith(f"the proxy {host} refused: ")
        assert (ended.error.kind, "HTTPS_PROXY" in ended.error.hint, ended.error.retryable) == ("network", True, False)


async def test_a_proxy_that_is_not_there_is_named():
    with FakeServer() as server:
        gone = server.url
    (ended,) = await ask("http://model.invalid", proxy=gone, max_retries=0)
    assert f" through the proxy {gone.removeprefix('http://')}: " in ended.error.message
    assert "HTTP_PROXY" in ended.error.hint


@pytest.mark.parametrize("content", [None, "not a certificate"])
async def test_certificates_that_cannot_be_read_are_an_error_and_not_tried_again(content, tmp_path):
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    (ended,) = await ask("https://127.0.0.1:1", ca_file=str(file))
    assert (ended.error.kind, ended.error.retryable, str(file) in ended.error.message) == ("invalid", False, True)


def test_a_query_of_the_base_url_stays_behind_the_path():
    assert join_url("https://x/v1/", "/chat") == "https://x/v1/chat"
    assert join_url("https://x/d?api-version=1", "chat?alt=sse") == "https://x/d/chat?api-version=1&alt=sse"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://localhost:1/v1", True),
        ("http://a.localhost", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:8080", True),
        ("http://0.0.0.0", True),
        ("http://10.0.0.1", False),
        ("https://localhost.example.org", False),
        ("http://[", False),
    ],
)
def test_loopback_is_known_by_name_or_address(url, expected):
    assert is_loopback(url) is expected


def test_importing_the_provider_loads_no_sdk_and_a_plain_url_no_certificates():
    code = (
        "import sys, ssl\n"
        "import trimtab.providers.http\n"
        "from trimtab.providers.network import open_transport\n"
        "heavy = {'httpx', 'pydantic', 'openai', 'rich', 'httpx2._main', 'starlette', 'torch'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "def no(*a, **k): raise AssertionError('certificates loaded')\n"
        "ssl.SSLContext.load_verify_locations = no\n"
        "open_transport('http://127.0.0.1:1/v1')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
