"""A conversation over the wire: prompts, what comes back, what may be done meanwhile."""

import base64
import json
import struct
import zlib

from support.cli import Cli
from support.rpc_wire import kinds, notices, wired

SLOW = {"text": "word " * 400, "chunk": 1, "delay_ms": 30_000}


def png() -> str:
    """A picture of one pixel, as base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


def test_a_prompt_is_told_in_the_order_that_pis_clients_expect(cli: Cli) -> None:
    model = cli.script(
        {"text": "Looking.", "tool_calls": [{"id": "k1", "name": "ls", "arguments": {"path": "."}}]}, {"text": "Done."}
    )
    cli.file("a.txt", "a")
    with wired(cli, model=model) as wire:
        records = wire.prompt("look")
        assert kinds(records) == [
            "agent_start",
            "turn_start",
            "message_start",
            "message_end",
            "message_start",
            *["message_update"] * 6,
            "message_end",
            "tool_execution_start",
            "tool_execution_end",
            "message_start",
            "message_end",
            "turn_end",
            "turn_start",
            "message_start",
            *["message_update"] * 3,
            "message_end",
            "turn_end",
            "agent_end",
            "agent_settled",
        ]
        updates = [r["assistantMessageEvent"] for r in records if r["type"] == "message_update"]
        assert updates[:6] == [
            {"type": "text_start", "contentIndex": 0},
            {"type": "text_delta", "contentIndex": 0, "delta": "Looking."},
            {"type": "text_end", "contentIndex": 0, "content": "Looking."},
            {"type": "toolcall_start", "contentIndex": 1, "id": "k1", "toolName": "ls"},
            {"type": "toolcall_delta", "contentIndex": 1, "delta": '{"path": "."}'},
            {
                "type": "toolcall_end",
                "contentIndex": 1,
                "toolCall": {"type": "toolCall", "id": "k1", "name": "ls", "arguments": {"path": "."}},
            },
        ]
        turns = [r for r in records if r["type"] == "turn_end"]
        assert [r["message"]["stopReason"] for r in turns] == ["toolUse", "stop"]
        assert [len(r["toolResults"]) for r in turns] == [1, 0]
        (end,) = [r for r in records if r["type"] == "agent_end"]
        assert [m["role"] for m in end["messages"]] == ["user", "assistant", "toolResult", "assistant"]
        assert wire.seen[-1] == {"type": "agent_settled", "aborted": False}
        told = wire.ask("get_messages")["messages"]
        assert [m["content"] for m in told] == [m["content"] for m in end["messages"]]
        assert all(m["timestamp"] > 0 for m in told)


def test_an_update_carries_its_delta_and_the_id_of_its_message_and_never_what_came_before(cli: Cli) -> None:
    text = "x" * 30_000
    with wired(cli, model=cli.script({"text": text, "chunk": 500})) as wire:
        records = wire.prompt("go")
        updates = [r for r in records if r["type"] == "message_update"]
        (start,) = [r for r in records if r["type"] == "message_start" and r["message"]["role"] == "assistant"]
        assert {r["messageId"] for r in updates} == {start["messageId"]}
        deltas = [
            r["assistantMessageEvent"]["delta"] for r in updates if r["assistantMessageEvent"]["type"] == "text_delta"
        ]
        assert "".join(deltas) == text
        size = sum(len(json.dumps(r)) for r in records)
        assert size < 10 * len(text)


def test_what_comes_late_in_a_turn_is_steered_or_queued_and_each_is_told(cli: Cli) -> None:
    call = {"name": "bash", "arguments": {"command": "until [ -e go ]; do sleep 0.05; done"}}
    model = cli.script(
        {"tool_calls": [call]},
        {"text": "heard", "expect": {"contains": ["be quick"]}},
        {"text": "more", "expect": {"contains": ["and then"]}},
    )
    with wired(cli, model=model, permission="full") as wire:
        assert wire.ask("prompt", message="wait") == {"disposition": "started"}
        wire.event("tool_execution_start")
        assert wire.fail("prompt", message="me too").startswith("the agent is busy. Say whether to steer it")
        assert wire.ask("steer", message="be quick") == {"disposition": "queued"}
        assert wire.ask("prompt", message="and then", streamingBehavior="followUp") == {"disposition": "queued"}
        state = wire.ask("get_state")
        assert (state["isStreaming"], state["pendingMessageCount"]) == (True, 2)
        cli.file("go", "")
        wire.until(lambda r: r["type"] == "agent_settled")
        queues = [(r["steering"], r["followUp"]) for r in wire.seen if r["type"] == "queue_update"]
        assert queues == [(["be quick"], []), (["be quick"], ["and then"]), ([], ["and then"]), ([], [])]
        assert [r["type"] for r in wire.seen].count("agent_end") == 2
        assert wire.ask("get_last_assistant_text") == {"text": "more"}


def test_a_client_may_have_one_word_of_steering_a_step(cli: Cli) -> None:
    model = cli.script(
        {"text": "one", "expect": {"contains": ["first"]}}, {"text": "two", "expect": {"contains": ["second"]}}
    )
    with wired(cli, model=model) as wire:
        assert wire.ask("get_state")["steeringMode"] == "all"
        assert wire.ask("set_steering_mode", mode="one-at-a-time") is None
        assert wire.ask("get_state")["steeringMode"] == "one-at-a-time"
        wire.ask("steer", message="first")
        wire.ask("steer", message="second")
        wire.ask("prompt", message="go")
        wire.until(lambda r: r["type"] == "agent_settled")
        said = [m["content"] for m in wire.ask("get_messages")["messages"] if m["role"] == "user"]
        assert len(said) == 3
        assert wire.ask("get_last_assistant_text") == {"text": "two"}


def test_automatic_compaction_is_turned_off_and_on(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        for enabled in (False, True):
            assert wire.ask("set_auto_compaction", enabled=enabled) is None
            assert wire.ask("get_state")["autoCompactionEnabled"] is enabled
    with wired(cli, model=cli.script({"text": "ok"}), policy="none") as wire:
        assert wire.ask("set_auto_compaction", enabled=False) is None
        assert "--policy none" in wire.fail("set_auto_compaction", enabled=True)


def test_what_is_queued_can_be_taken_back(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        wire.ask("steer", message="one")
        wire.ask("follow_up", message="two")
        assert wire.ask("clear_queue") == {"steering": ["one"], "followUp": ["two"]}
        assert wire.ask("get_state")["pendingMessageCount"] == 0


def test_an_abort_stops_the_turn_before_its_first_byte_and_is_answered_when_it_has_stopped(cli: Cli) -> None:
    with wired(cli, model=cli.script(SLOW, {"text": "fresh"})) as wire:
        wire.ask("trimtab.set_events", events="all")
        wire.ask("prompt", message="go")
        wire.until(lambda r: r["type"] == "trimtab.event" and r["event"]["type"] == "step_started")
        wire.ask("steer", message="later")
        assert wire.ask("abort") is None
        assert wire.event("agent_settled") == {"type": "agent_settled", "aborted": True}
        assert wire.ask("get_state")["isStreaming"] is False
        assert wire.ask("get_state")["pendingMessageCount"] == 1  # and it started nothing
        end = [r for r in wire.seen if r["type"] == "turn_end"][-1]
        assert end["message"]["stopReason"] == "aborted"


def test_a_prompt_and_an_abort_that_are_sent_in_one_write_are_both_answered(cli: Cli) -> None:
    with wired(cli, model=cli.script(SLOW)) as wire:
        wire.ask("get_state")
        wire.raw(b'{"id":"p","type":"prompt","message":"go"}\n{"id":"a","type":"abort"}\n')
        assert wire.response("a")["success"]
        answer = wire.response("p")
        assert answer["success"] or "aborted" in answer["error"]
        wire.send("abort")
        if answer["success"]:
            assert wire.event("agent_settled")["aborted"]
        assert wire.ask("get_state")["isStreaming"] is False


def test_an_answer_that_fails_is_told_as_pis_clients_show_it(cli: Cli) -> None:
    with wired(cli, model=cli.script({"error": {"status": 401, "body": "bad key"}})) as wire:
        records = wire.prompt("go")
        message = [r["message"] for r in records if r["type"] == "message_end"][-1]
        assert message["stopReason"] == "error"
        assert "bad key" in message["errorMessage"]
        assert [
            r["event"]["class"] for r in records if r["type"] == "trimtab.event" and r["event"]["type"] == "error"
        ] == ["auth"]
        assert wire.ask("trimtab.result")["exit_code"] == 1


def test_a_retry_is_told_with_how_it_went(cli: Cli) -> None:
    model = cli.script({"error": {"status": 503, "body": "later"}}, {"text": "there"})
    with wired(cli, model=model) as wire:
        records = wire.prompt("go")
        (start,) = [r for r in records if r["type"] == "auto_retry_start"]
        assert (start["attempt"], start["maxAttempts"]) == (1, 4)
        assert [r for r in records if r["type"] == "auto_retry_end"] == [
            {"type": "auto_retry_end", "success": True, "attempt": 1}
        ]


def test_without_retries_a_request_that_failed_ends_the_turn(cli: Cli) -> None:
    model = cli.script({"error": {"status": 503, "body": "later"}}, {"text": "there"})
    with wired(cli, model=model) as wire:
        wire.ask("set_auto_retry", enabled=False)
        records = wire.prompt("go")
        assert not [r for r in records if r["type"].startswith("auto_retry")]
        message = [r["message"] for r in records if r["type"] == "message_end"][-1]
        assert (message["stopReason"], "later" in message["errorMessage"]) == ("error", True)
        wire.ask("set_auto_retry", enabled=True)
        assert wire.prompt("go on")
        assert wire.ask("get_last_assistant_text") == {"text": "there"}


def test_a_picture_comes_along_by_its_bytes_and_a_bad_one_never_enters_the_conversation(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "seen"})) as wire:
        text = base64.b64encode(b"no picture").decode()
        assert wire.fail(
            "prompt", message="look", images=[{"type": "image", "data": text, "mimeType": "image/png"}]
        ) == ("picture 1: no picture of a known kind. Models take PNG, JPEG, GIF and WebP.")
        assert "isn't base64" in wire.fail(
            "prompt", message="look", images=[{"type": "image", "data": "%", "mimeType": "x"}]
        )
        records = wire.prompt("look", images=[{"type": "image", "data": png(), "mimeType": "text/html"}])
        said = next(r["message"] for r in records if r["type"] == "message_end")
        assert said["content"] == [
            {"type": "text", "text": "look"},
            {"type": "image", "data": png(), "mimeType": "image/png"},
        ]
        assert any("isn't known to take pictures" in text for text in notices(records))


def test_a_command_of_the_persons_own_streams_and_joins_the_conversation(cli: Cli) -> None:
    model = cli.script({"text": "ok", "expect": {"contains": ["$ printf", "me-too"], "absent": ["secret"]}})
    with wired(cli, model=model) as wire:
        assert wire.ask("bash", command="printf me-'too'") == {
            "output": "me-too",
            "exitCode": 0,
            "cancelled": False,
            "truncated": False,
        }
        name = wire.send("bash", command="printf se'cret'", excludeFromContext=True)
        assert wire.response(name)["data"]["output"] == "secret"
        deltas = [r for r in wire.seen if r["type"] == "bash_execution_update"]
        assert [r["delta"] for r in deltas] == ["me-too", "secret"]
        assert deltas[1]["id"] == name
        assert wire.prompt("go")[-1]["aborted"] is False
        assert wire.ask("get_last_assistant_text") == {"text": "ok"}


def test_a_long_command_blocks_nothing_and_is_stopped_on_request(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "ok"})) as wire:
        name = wire.send("bash", command="echo begun; sleep 60")
        wire.event("bash_execution_update")
        assert wire.ask("get_state")["isStreaming"] is False
        wire.prompt("meanwhile")
        assert wire.fail("new_session").startswith("something runs")
        assert wire.ask("abort_bash") is None
        assert wire.response(name)["data"]["cancelled"] is True


def test_all_that_may_be_called_by_name_is_listed_whoever_brings_it(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "skills" / "tidy").mkdir(parents=True)
    (cli.home / "skills" / "tidy" / "SKILL.md").write_text("---\nname: tidy\ndescription: tidies\n---\nTidy.")
    picks = cli.file(
        "picks.py", "API = 1\ndef extend(api):\n    api.command('pick', lambda rest, here: '', help='picks')\n"
    )
    with wired(cli, model=cli.script({"text": "hello"}), extensions=(str(picks),)) as wire:
        listed = {c["name"]: c for c in wire.ask("get_commands")["commands"]}
        assert (listed["skill:tidy"]["source"], listed["pick"]["description"]) == ("skill", "picks")
        assert {c["value"] for c in wire.ask("trimtab.complete", line="/")["completions"]} == {f"/{n}" for n in listed}


def test_slash_commands_run_templates_are_said_and_unknown_ones_are_named(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "prompts").mkdir()
    (cli.home / "prompts" / "greet.md").write_text("Greet $1 warmly.")
    with wired(cli, model=cli.script({"text": "hello", "expect": {"contains": ["Greet Ann warmly."]}})) as wire:
        assert wire.ask("prompt", message="/name a talk") == {"disposition": "handled"}
        assert "name: a talk" in notices(wire.seen)
        assert wire.ask("get_state")["sessionName"] == "a talk"
        assert "no command /nmae. Did you mean /name?" in wire.fail("prompt", message="/nmae x")
        wire.prompt("/greet Ann")
        assert wire.ask("get_last_assistant_text") == {"text": "hello"}
        assert wire.fail("steer", message="/name x") == "a command isn't queued. Send it as a prompt."
        listed = {c["name"]: c["source"] for c in wire.ask("get_commands")["commands"]}
        assert (listed["greet"], listed["undo"]) == ("prompt", "extension")
        assert wire.ask("trimtab.command", line="/name")["output"] == "name: a talk"
        assert {
            "value": "/undo",
            "help": listed and "take the last turn back, or N: what was said and changed; ? only says what would be",
        } in wire.ask("trimtab.complete", line="/un")["completions"]
        assert {c["value"] for c in wire.ask("trimtab.complete", line="/undo ")["completions"]} == {
            "/undo files",
            "/undo talk",
            "/undo force",
            "/undo ?",
        }


def test_a_prompt_that_is_sent_as_soon_as_a_run_has_ended_is_taken(cli: Cli) -> None:
    """An older client of pi's waits for agent_end, not for agent_settled."""
    with wired(cli, model=cli.script(*[{"text": f"{n}"} for n in range(6)])) as wire:
        wire.ask("prompt", message="0")
        for n in range(1, 6):
            wire.event("agent_end")
            assert wire.ask("prompt", message=str(n)) == {"disposition": "started"}
        wire.event("agent_end")
        assert wire.ask("get_last_assistant_text") == {"text": "5"}
