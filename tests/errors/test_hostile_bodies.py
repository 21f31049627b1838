"""An error body may be anything: it is read at once, whatever its size and shape, and what it says of sizes is believed as far as it makes sense."""

import pytest

from support.servers import FakeServer, Reply
from trimtab.providers.classify import classify
from trimtab.providers.http import HttpProvider
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Ended

LARGE = 1 << 20
OVERFLOW = "This model's maximum context length is {} tokens. However, your messages resulted in {} tokens."


@pytest.mark.parametrize(
    "body",
    [
        "<script " * (LARGE // 8),
        "<" * LARGE,
        "<title" * (LARGE // 6),
        "9" * LARGE,
        "1," * (LARGE // 2),
        " " * LARGE + "x",
        '{"error": {"message": "' + "9 tokens " * (LARGE // 9) + '"}}',
        '{"limit": ' + "9" * 5_000 + "}",
        '{"a":' * 50_000,
        b"\xff\x00" * (LARGE // 2),
    ],
    ids=[
        "scripts",
        "brackets",
        "titles",
        "digits",
        "commas",
        "blanks",
        "a long message",
        "a long number",
        "deep",
        "no text",
    ],
)
def test_it_is_read_at_once(body):
    said = classify(400, body)
    assert said.kind == "invalid"
    assert len(said.message) <= 510


def test_what_stands_at_the_front_of_a_large_page_is_still_told():
    page = "<html><head><title>502 Bad Gateway</title>" + "<style>p{}</style>" * 200_000
    assert classify(502, page).message == "502 Bad Gateway"


@pytest.mark.parametrize(("limit", "actual"), [("3", "9000"), ("9" * 30, "9" * 31), ("0", "0")])
def test_an_overflow_with_figures_that_make_no_sense_is_an_overflow(limit, actual):
    said = classify(400, '{"error": {"message": "' + OVERFLOW.format(limit, actual) + '"}}')
    assert said.kind == "overflow"


@pytest.mark.anyio
async def test_a_refusal_of_ten_megabytes_ends_the_request_with_its_first_words():
    front = b'{"error": {"message": "' + OVERFLOW.format(8192, 9000).encode()
    with FakeServer(Reply([front, *([b" and more" * 14_564] * 80)], status=400)) as server:
        provider = HttpProvider(Endpoint("p", "openai-chat", server.url, api_key="k"), OpenAIChat())
        request = ModelRequest(ModelInfo("p", "m", "openai-chat"), (user("hi"),))
        events = [event async for event in provider.stream(request)]
        await provider.aclose()
    (ended,) = events
    assert isinstance(ended, Ended)
    assert ended.error is not None
    assert (ended.error.kind, ended.error.limit, ended.error.actual) == ("overflow", 8_192, 9_000)
    assert len(ended.error.message) <= 530
