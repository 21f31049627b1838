"""A server's tokenizer: both dialects, and whatever a server may do instead of counting."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.servers import FakeServer, Pause, Received, Reply, Reset, Stall, json_reply
from trimtab.context.counting.counter import Counter
from trimtab.providers.post import Address
from trimtab.providers.tokenize import ServerTokenizer
from trimtab.types.models import ModelInfo

MODEL = ModelInfo("local", "llama-3", "openai-chat")


def llama(received: Received) -> Reply:
    """As llama.cpp answers: a token a word."""
    assert received.path == "/tokenize"
    return json_reply({"tokens": list(range(len(received.json.get("content", "").split())))})


def vllm(received: Received) -> Reply:
    """As vLLM and SGLang answer: without `prompt` it is a bad request."""
    if "prompt" not in received.json:
        return json_reply({"error": {"message": "prompt: field required"}}, status=400)
    assert received.json["add_special_tokens"] is False
    words = len(received.json["prompt"].split())
    return json_reply({"count": words, "max_model_len": 8192, "tokens": [0] * words, "token_strs": None})


@pytest.fixture(autouse=True)
def made() -> Iterator[list[ServerTokenizer]]:
    """The tokenizers of a test, closed at its end."""
    _made.clear()
    yield _made
    for tokenizer in _made:
        tokenizer.close()


_made: list[ServerTokenizer] = []


def opened(server: FakeServer, path: str = "/v1", **options: Any) -> ServerTokenizer:
    """A tokenizer of `server`."""
    _made.append(ServerTokenizer(Address(f"{server.url}{path}"), "m", **options))
    return _made[-1]


@pytest.mark.parametrize(("server_is", "asked"), [(llama, 3), (vllm, 4)])
@pytest.mark.parametrize("path", ["/v1", "/v1/", ""])
def test_the_dialect_is_found_at_the_first_text_and_kept(
    server_is: Callable[[Received], Reply], asked: int, path: str
) -> None:
    with FakeServer(server_is) as server:
        tokenizer = opened(server, path)
        counts = [tokenizer(text) for text in ("one two three", "日本 \ud800 語", "a")]
        assert server.connections <= 2
    assert counts == [3, 3, 1]
    assert len(server.requests) == asked
    assert (tokenizer.problem, tokenizer.worked) == ("", True)


WRONG = {
    "none": (json_reply({}, status=404), "it answers 404"),
    "redirect": (json_reply({}, status=302, headers={"location": "http://127.0.0.1:9/"}), "it redirects (302)"),
    "html": (Reply([b"<html>"], framing="length"), "no count of tokens"),
    "nothing": (json_reply({"ok": True}), "no count of tokens"),
    "text": (json_reply({"count": "many"}), "no count of tokens"),
    "too many": (json_reply({"count": 10**9}), "1,000,000,000 tokens of a text of 13 bytes"),
    "negative": (json_reply({"count": -5}), "-5 tokens of a text"),
    "packed": (Reply([b'{"count": 3}'], encoding="gzip"), "the answer is packed"),
    "endless": (Reply([b" " * (1 << 20)] * 20), "more than 16,777,216 bytes"),
    "broken": (Reply([b'{"count"', Reset()]), "the connection broke"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_server_that_does_not_count_is_asked_no_more_and_the_vocabulary_counts(kind: str) -> None:
    reply, why = WRONG[kind]
    with FakeServer(lambda _received: reply) as server:
        tokenizer = opened(server)
        counter = Counter(MODEL, tokenize=tokenizer)
        usual = Counter(MODEL)
        texts = ["one two three", "four five"]
        assert [counter.text(text) for text in texts] == [usual.text(text) for text in texts]
        asked = len(server.requests)
        assert counter.text("six") == usual.text("six")
        assert len(server.requests) == asked
    assert why in tokenizer.problem
    assert (counter.family, counter.calibration.state) == (usual.family, usual.calibration.state)


@pytest.mark.parametrize("steps", [[Stall()], [b"{", *[Pause(0.05), b" "] * 60]], ids=["hung", "dripping"])
def test_a_server_that_takes_its_time_costs_a_second_or_two_once(
    steps: list[bytes | Pause | Stall], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.providers.tokenize.ANSWER_S", 0.2)
    with FakeServer(lambda _received: Reply(steps)) as server:
        tokenizer = opened(server)
        assert [tokenizer(text) for text in ("one", "two", "three")] == [None] * 3
    assert tokenizer.problem == "no answer within 0.2 s"
    assert len(server.requests) <= 2


def test_all_texts_together_may_only_take_a_share_of_the_time() -> None:
    times = iter(range(0, 1000, 10))
    with FakeServer(llama) as server:
        tokenizer = opened(server, clock=lambda: float(next(times) / 10))
        counts = [tokenizer("one two") for _ in range(40)]
    assert counts[0] == 2
    assert counts[-1] is None
    assert tokenizer.problem.startswith("it is slow")


def test_a_server_that_is_gone_is_no_error_and_its_url_is_not_told() -> None:
    tokenizer = ServerTokenizer(Address("http://me:secret@127.0.0.1:9/v1?key=hidden"), "m")
    assert tokenizer("one") is None
    assert "it can't be reached" in tokenizer.problem
    assert tokenizer.address.host == "127.0.0.1:9"
    assert "secret" not in f"{tokenizer}{tokenizer.problem}"
    assert "hidden" not in f"{tokenizer}{tokenizer.problem}"


def test_a_kept_connection_that_was_closed_is_replaced() -> None:
    with FakeServer(json_reply({"tokens": [1]}), Reply([], status=0), json_reply({"tokens": [1, 2]})) as server:
        tokenizer = opened(server)
        assert (tokenizer("one"), tokenizer("one two")) == (1, 2)


def test_a_very_long_text_goes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.providers.tokenize.MAX_TEXT", 10)
    with FakeServer(llama) as server:
        tokenizer = opened(server)
        assert tokenizer("four four four four four ") == 5
        assert len(server.requests) == 3


def test_counts_of_a_model_with_its_own_tokenizer_are_surer_from_the_start() -> None:
    unknown = ModelInfo("local", "somebody-s-model", "openai-chat")
    with FakeServer(llama) as server:
        exact = Counter(unknown, tokenize=opened(server))
        size = exact.fixed_size("word " * 2_000, ())
        assert exact.text("word " * 2_000) == 2_000
    guessed = Counter(unknown)
    assert exact.calibration.deviation(size) < guessed.calibration.deviation(size) / 2
