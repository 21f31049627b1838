"""Whatever comes in: each line that asks for something is answered once, and the session lives."""

import json
import os
import time

import pytest

from support.cli import Cli
from support.rpc_wire import Wire, wired
from trimtab.frontends.rpc.framing import MOST


@pytest.mark.parametrize(
    ("line", "command", "error"),
    [
        (b"{", "parse", "Failed to parse command: "),
        (b"not json", "parse", "Failed to parse command: "),
        (b"[1, 2]", "parse", "Failed to parse command: a command is a JSON object with a `type`"),
        (b'"text"', "parse", "Failed to parse command: a command is a JSON object with a `type`"),
        (b"{}", "parse", "Failed to parse command: `type` has to be the name of a command"),
        (b'{"type": 7}', "parse", "Failed to parse command: `type` has to be the name of a command"),
        (b'{"type": "prompt", "message": "\xff\xfe"}', "parse", "Failed to parse command: "),
        (b"\xff\xfe\x00", "parse", "Failed to parse command: "),
        (b'{"type": "promt"}', "promt", "Unknown command: promt. Did you mean prompt?"),
        (b'{"type": "nothing_like_it"}', "nothing_like_it", "Unknown command: nothing_like_it"),
        (b'{"type": "prompt"}', "prompt", "prompt: Object missing required field `message`"),
        (b'{"type": "prompt", "message": 3}', "prompt", "prompt: Expected `str`, got `int` - at `$.message`"),
        (b'{"type": "prompt", "message": "x", "images": "y"}', "prompt", "prompt: Expected `array | null`"),
        (
            b'{"type": "set_steering_mode", "mode": "some"}',
            "set_steering_mode",
            "set_steering_mode: Invalid enum value",
        ),
        (b'{"type": "get_state", "id": {"a": 1}}', "get_state", "`id` has to be a string"),
        (
            b'{"type": "extension_ui_response", "id": "x", "value": "y"}',
            "extension_ui_response",
            "no such question is open",
        ),
        (b'{"type": "extension_ui_response"}', "extension_ui_response", "`id` has to be that of the question"),
        (b"[" * 5_000, "parse", "Failed to parse command: "),
        (b'{"type":' + b'{"type":' * 5_000, "parse", "Failed to parse command: "),
    ],
)
def test_a_bad_line_is_answered_and_the_next_one_too(cli: Cli, line: bytes, command: str, error: str) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.raw(line + b"\n")
        answer = wire.until(lambda r: r["type"] == "response")[-1]
        assert (answer["command"], answer["success"]) == (command, False)
        assert answer["error"].startswith(error)
        assert wire.ask("get_state")["messageCount"] == 0


def test_blank_lines_carriage_returns_and_unknown_fields_do_no_harm(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.raw(b'\n\r\n   \n{"type":"get_state","id":"a","more":[1]}\r\n')
        assert wire.response("a")["success"]
        assert [r for r in wire.seen if r["type"] == "response"] == [wire.response("a")]


def test_only_a_newline_ends_a_line_and_what_looks_like_one_stays_in_it(cli: Cli) -> None:
    text = "a\u2028b\u2029c\x85d"
    with wired(cli, model=cli.script({"text": text})) as wire:
        wire.raw(json.dumps({"type": "prompt", "message": text}, ensure_ascii=False).encode() + b"\n")
        wire.event("agent_settled")
        messages = wire.ask("get_messages")["messages"]
        assert [m["content"][0]["text"] for m in messages] == [text, text]
        assert wire.ask("get_fork_messages")["messages"][0]["text"] == text


def test_a_line_without_end_is_thrown_away_as_it_comes_and_told_once(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        piece = b"x" * (1 << 20)
        for _ in range((MOST >> 20) + 2):
            wire.raw(piece)
        wire.raw(b'\n{"type":"get_state","id":"a"}\n')
        assert wire.response("a")["success"]
        (refused,) = [r for r in wire.seen if r["type"] == "response" and not r["success"]]
        assert refused["error"] == f"Failed to parse command: a line has at most {MOST:,} bytes, and this one had more"


def test_a_lone_surrogate_neither_breaks_the_log_nor_the_answer(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.raw(b'{"type":"prompt","message":"a\\ud800b","id":"s"}\n')
        assert wire.response("s")["success"]
        wire.event("agent_settled")
        assert wire.ask("get_fork_messages")["messages"][0]["text"] == "a\ufffdb"


def test_two_commands_of_one_id_are_both_done_and_both_answered(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.raw(b'{"type":"get_state","id":"x"}\n{"type":"get_messages","id":"x"}\n')
        for command in ("get_state", "get_messages"):
            wire.read = 0
            wire.event("response", command=command)
        answers = [r["command"] for r in wire.seen if r["type"] == "response" and r.get("id") == "x"]
        assert sorted(answers) == ["get_messages", "get_state"]


def test_commands_without_an_id_and_with_a_number_are_answered_alike(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.raw(b'{"type":"set_auto_retry","enabled":true}\n{"type":"set_auto_retry","enabled":true,"id":7}\n')
        wire.ask("get_state")
        assert [r for r in wire.seen if r["type"] == "response"][:2] == [
            {"type": "response", "command": "set_auto_retry", "success": True},
            {"id": 7, "type": "response", "command": "set_auto_retry", "success": True},
        ]


def test_a_flood_of_commands_is_answered_command_by_command(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        names = [f"n{n}" for n in range(600)]
        wire.raw(b"".join(b'{"type":"get_session_stats","id":"%s"}\n' % name.encode() for name in names))
        for name in names:
            wire.response(name)
        answers = [r for r in wire.seen if r["type"] == "response"]
        assert len(answers) == len(names)
        assert any(r["success"] for r in answers)


def test_a_client_that_stops_reading_costs_bounded_memory_and_misses_nothing_when_it_reads_again(cli: Cli) -> None:
    """Much more is said than may wait; the model waits for the reader."""
    lines = [{"text": "y" * 400_000, "chunk": 20_000} for _ in range(4)]
    sets = ("providers.scripted.context_window=4000000",)
    with wired(cli, model=cli.script(*lines), sets=sets) as wire:
        wire.ask("get_state")
        for n in range(3):
            wire.raw(b'{"type":"follow_up","message":"more %d"}\n' % n)
        wire.raw(b'{"type":"prompt","message":"go"}\n')
        time.sleep(0.5)  # nobody reads
        records = wire.until(lambda r: r["type"] == "agent_settled")
        ends = [r["message"] for r in records if r["type"] == "message_end" and r["message"]["role"] == "assistant"]
        assert [m.get("errorMessage") for m in ends] == [None] * 4
        assert [len(m["content"][0]["text"]) for m in ends] == [400_000] * 4
        assert [r for r in records if r["type"] == "trimtab.events_lost"] == []


def test_a_client_that_goes_without_a_word_ends_the_server(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "never", "delay_ms": 60_000})) as wire:
        wire.ask("prompt", message="go")
        wire.hang_up()
        read = os.dup(wire.of)
        os.close(read)
        _close_reading_end(wire)


def _close_reading_end(wire: Wire) -> None:
    """Close the end that is read from, and leave another descriptor in its place."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, wire.of)
    os.close(nothing)
    wire.rest()  # what had come in before, up to the end
