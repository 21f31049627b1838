"""JSON mode: one event a line, as pinned."""

import json
import re

import pytest

from support.cli import Cli, delta, local, said, stream
from support.servers import FakeServer, json_reply


def test_a_run_with_a_tool_is_this_sequence_of_events(cli: Cli) -> None:
    cli.file("f.txt", "x\n")
    script = cli.script(
        {"text": "look", "tool_calls": [{"id": "c1", "name": "read", "arguments": {"path": "f.txt"}}]},
        {"text": "done", "usage": {"input": 9, "output": 2, "cache_read": 4}},
    )
    flags = ["--set", "providers.scripted.context_window=9000", "--set", "providers.scripted.max_output=900"]
    outcome = cli.run("-p", "go", "--mode", "json", *flags, "--model", script)
    assert outcome.code == 0
    assert outcome.err == ""
    assert [e["type"] for e in outcome.events] == [
        "session",
        "turn_started",
        "message_ended",
        "step_started",
        "message_started",
        "message_delta",
        "message_delta",
        "message_ended",
        "tool_started",
        "tool_ended",
        "step_ended",
        "step_started",
        "message_started",
        "message_delta",
        "message_ended",
        "step_ended",
        "turn_ended",
        "result",
    ]
    seqs = [e["seq"] for e in outcome.events]
    assert seqs == sorted(set(seqs))
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", e["time"]) for e in outcome.events)
    assert all(line.startswith(b'{"type":') for line in outcome.stdout.splitlines())
    result = outcome.result
    assert (result["reason"], result["exit_code"], result["text"], result["steps"]) == ("stop", 0, "done", 2)
    assert result["usage"]["input"] == 9
    assert result["session_file"] == str(cli.sessions[0])
    assert result["verify"] == "not_configured"
    assert result["changed_files"] == []


def test_changed_files_are_in_the_result(cli: Cli) -> None:
    cli.file("b.txt", "x\n")
    calls = [
        {"name": "write", "arguments": {"path": "a.txt", "content": "1\n"}},
        {"name": "edit", "arguments": {"path": "b.txt", "edits": [{"old": "x", "new": "y"}]}},
        {"name": "read", "arguments": {"path": "a.txt"}},
    ]
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", cli.script({"tool_calls": calls}, {"text": "ok"}))
    assert sorted(name.rsplit("/")[-1] for name in outcome.result["changed_files"]) == ["a.txt", "b.txt"]


def test_every_acknowledged_entry_is_in_the_file_in_order(cli: Cli) -> None:
    calls = [{"name": "ls", "arguments": {}}] * 3
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", cli.script({"tool_calls": calls}, {"text": "ok"}))
    lines = map(json.loads, cli.sessions[0].read_bytes().splitlines()[1:])
    written = [line["id"] for line in lines if line["type"] == "message"]
    assert outcome.acknowledged == written


def test_deltas_of_one_part_are_joined_and_lose_nothing(cli: Cli) -> None:
    answer = "".join(f"word{n} " for n in range(3_000))
    with FakeServer(
        stream(*(delta(content=answer[i : i + 4]) for i in range(0, len(answer), 4)), delta("stop"))
    ) as server:
        outcome = cli.inside("-p", "go", "--mode", "json", *local(server))
    deltas = [e["text"] for e in outcome.of("message_delta")]
    assert "".join(deltas) == answer
    assert len(deltas) < len(answer) / 200
    assert len(outcome.stdout) <= 4 * len(answer)


@pytest.mark.parametrize("text", ["a\u2028b", "\n\n", "\u0000 and \x1b[2J", '"quoted\\', "🏳️‍🌈"])
def test_any_text_stays_on_one_line_and_comes_out_as_it_went_in(cli: Cli, text: str) -> None:
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", cli.script({"text": f"x{text}x"}))
    assert outcome.result["text"] == f"x{text}x"
    assert outcome.stdout.count(b"\n") == len(outcome.events)


def test_an_error_is_an_event_and_the_result_is_still_the_last_line(cli: Cli) -> None:
    with FakeServer(json_reply({"error": {"message": "bad key"}}, status=401)) as server:
        outcome = cli.inside("-p", "go", "--mode", "json", *local(server))
    (error,) = outcome.of("error")
    assert error["class"] == "auth"
    assert error["hint"]
    assert (outcome.code, outcome.result["exit_code"], outcome.result["reason"]) == (1, 1, "error")


def test_what_is_wrong_before_the_turn_is_words_on_standard_error(cli: Cli) -> None:
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", "nosuch/model")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("trimtab: ")


def test_a_session_event_comes_first_even_before_notices(cli: Cli) -> None:
    cli = Cli(cli.root, {"TRIMTAB_NONSENSE": "1"})
    with FakeServer(said()) as server:
        outcome = cli.inside("-p", "go", "--mode", "json", *local(server))
    assert [e["type"] for e in outcome.events][:2] == ["session", "notice"]
    assert outcome.events[0]["session_file"] == outcome.result["session_file"]


def test_the_cost_is_known_when_the_price_is(cli: Cli) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    reply = stream(delta(content="x"), delta("stop"), {"choices": [], "usage": usage})
    with FakeServer(reply, reply) as server:
        priced = local(server, models='[{id="tiny",price_input=2.0,price_output=10.0}]')
        assert cli.inside("-p", "go", "--mode", "json", *priced).result["cost_usd"] == pytest.approx(3.0)
        assert cli.inside("-p", "go", "--mode", "json", *local(server)).result["cost_usd"] is None
