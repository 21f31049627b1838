"""Models over HTTP that stand in for each other: servers that refuse, stall, hang up, lie, and speak another API."""

from pathlib import Path

import pytest

from support.cli import Cli
from support.servers import FakeServer, HangUp, Reply, Stall, json_reply, sse

DONE = {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}


def chat(text: str, **usage: int) -> Reply:
    """An answer of OpenAI Chat Completions."""
    told = {"choices": [{"delta": {"content": text}}]}
    end = {**DONE, "usage": usage or DONE["usage"]}
    return Reply(sse(told, end, done=True))


def anthropic(text: str) -> Reply:
    """An answer of Anthropic Messages."""
    return Reply(
        sse(
            {"type": "message_start", "message": {"usage": {"input_tokens": 10, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
            named=True,
        )
    )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)


def settings(cli: Cli, first: str, second: str, *, api: str = "anthropic") -> None:
    """Two providers, the second with another API."""
    cli.config(f"""
[roles]
main = ["one/m", "two/n"]
[providers.one]
base_url = "{first}/v1"
max_retries = 0
idle_timeout_s = 0.3
context_window = 32000
[providers.two]
api = "{api}"
base_url = "{second}"
max_retries = 0
context_window = 32000
""")


@pytest.mark.parametrize(
    "reply",
    [
        json_reply({"error": {"message": "overloaded"}}, status=503),
        json_reply({"error": {"message": "slow down"}}, status=429, headers={"retry-after": "3600"}),
        Reply([b"<html>bad gateway</html>"], status=502, headers={"content-type": "text/html"}),
        Reply([Stall()]),
        Reply([HangUp()]),
        Reply(status=0),
        Reply([*sse({"choices": []}), Stall()]),
    ],
    ids=["503", "429 for an hour", "a page of a proxy", "stalls", "hangs up", "no answer", "stalls in the stream"],
)
def test_a_server_of_another_api_answers_in_its_place(cli: Cli, reply: Reply) -> None:
    with FakeServer(reply) as one, FakeServer(anthropic("from the other")) as two:
        settings(cli, one.url, two.url)
        outcome = cli.inside("-p", "hi", "--mode", "json")
    assert (outcome.code, outcome.result["text"]) == (0, "from the other"), outcome.err
    assert len(one.requests) == 1
    assert two.requests[0].json["model"] == "n"
    assert any("two/n answers in its place" in event["message"] for event in outcome.of("notice"))
    assert outcome.of("error") == []


def test_text_before_a_break_is_kept_and_nobody_takes_over(cli: Cli) -> None:
    begun = Reply([*sse({"choices": [{"delta": {"content": "half"}}]}), HangUp()])
    with FakeServer(begun) as one, FakeServer(anthropic("never")) as two:
        settings(cli, one.url, two.url)
        outcome = cli.inside("-p", "hi", "--mode", "json")
    assert (outcome.code, two.requests) == (1, [])
    assert outcome.result["text"] == "half"


def test_a_refused_key_is_said_and_nobody_takes_over(cli: Cli) -> None:
    with FakeServer(json_reply({"error": {"message": "invalid api key"}}, status=401)) as one, FakeServer() as two:
        settings(cli, one.url, two.url)
        outcome = cli.inside("-p", "hi", "--mode", "json")
    assert (outcome.code, two.requests) == (1, [])
    assert outcome.of("error")[0]["class"] == "auth"


def test_all_down_is_one_error_with_the_next_step(cli: Cli) -> None:
    down = json_reply({"error": {"message": "overloaded"}}, status=503)
    with FakeServer(down) as one, FakeServer(down) as two:
        settings(cli, one.url, two.url)
        outcome = cli.inside("-p", "hi")
    assert outcome.code == 1
    assert "and no other model of roles.main either" in outcome.err
    assert "Traceback" not in outcome.err
    assert (len(one.requests), len(two.requests)) == (1, 1)


def test_a_stand_in_that_lies_about_its_usage_counts_as_silent(cli: Cli) -> None:
    down = json_reply({"error": {"message": "overloaded"}}, status=503)
    with FakeServer(down) as one, FakeServer(chat("hi", prompt_tokens=10**15, completion_tokens=1)) as two:
        settings(cli, one.url, f"{two.url}/v1", api="openai-chat")
        outcome = cli.inside("-p", "hi", "--mode", "json", "--max-tokens", "100000")
    assert (outcome.code, outcome.result["text"]) == (0, "hi")
    assert outcome.result["usage"]["input"] == 0
    assert any("two/n reported a usage that can't be" in event["message"] for event in outcome.of("notice"))


def test_control_signs_in_a_failure_reach_no_terminal(cli: Cli) -> None:
    evil = "\x1b]0;owned\x07\u202ereversed\x1b[2J"
    with FakeServer(json_reply({"error": {"message": evil}}, status=503)) as one, FakeServer(anthropic("ok")) as two:
        settings(cli, one.url, two.url)
        outcome = cli.inside("-p", "hi")
    assert outcome.code == 0
    assert "\x1b" not in outcome.err
    assert "\u202e" not in outcome.err
