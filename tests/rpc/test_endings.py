"""How it ends: by the end of input, by a signal, by a client that is gone. Real processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.cli import SOURCES, Cli
from support.rpc_wire import Wire, ended, started

GET = b'{"type":"get_commands"}\n'


def test_at_the_end_of_input_what_was_asked_for_is_finished_and_standard_output_holds_only_protocol(cli: Cli) -> None:
    lines = [{"type": "follow_up", "message": "and"}, {"type": "prompt", "message": "hi"}]
    script = cli.script({"text": "one"}, {"text": "two"})
    outcome = cli.run("--mode", "rpc", "--model", script, stdin=b"\n".join(json.dumps(line).encode() for line in lines))
    assert (outcome.code, outcome.err) == (0, "")
    assert [e["data"]["disposition"] for e in outcome.of("response")] == ["queued", "started"]
    assert [e["message"]["content"][0]["text"] for e in outcome.of("message_end")] == ["hi", "one", "and", "two"]
    assert outcome.events[-1] == {"type": "agent_settled", "aborted": False}


def test_a_hook_that_fails_at_the_end_of_a_session_is_told_before_the_server_leaves(cli: Cli) -> None:
    cli.config("[[hooks.session_end]]\ncommand = 'echo no luck >&2; exit 3'\n")
    outcome = cli.run("--mode", "rpc", "--model", cli.script({"text": "one"}), stdin=GET)
    assert (outcome.code, outcome.err) == (0, "")
    (told,) = [event["message"] for event in outcome.of("extension_ui_request")]
    assert told.endswith("failed at session_end, and is passed over: it ended with exit code 3: no luck")


@contextmanager
def running(cli: Cli, command: str) -> Iterator[tuple[Wire, "subprocess.Popen[bytes]", int]]:
    """A server whose turn runs a command that wrote its process id to `pid`; and that id."""
    call = {"name": "bash", "arguments": {"command": f"echo $$ > pid; {command}"}}
    script = cli.script({"text": "Begun.", "tool_calls": [call]})
    written = cli.project / "pid"
    with started(cli, "--model", script, "--permission", "full") as (wire, process):
        wire.ask("prompt", message="go")
        wire.event("tool_execution_start")
        while not written.exists() or not written.read_text().strip():
            wire.ask("get_state")
        yield wire, process, int(written.read_text())


def test_sigterm_stops_the_turn_and_what_it_runs_keeps_what_was_said_and_says_so_by_its_code(cli: Cli) -> None:
    with running(cli, "exec sleep 60") as (wire, process, pid):
        process.send_signal(signal.SIGTERM)
        records = wire.rest()
        assert ended(process) == (143, "")
        assert records[-1] == {"type": "agent_settled", "aborted": True}
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert b"Begun." in cli.sessions[0].read_bytes()


@pytest.mark.parametrize("last", [b'{"type":"get_state"}', b'{"type":"get_st'])
def test_a_last_line_without_its_newline_is_a_line_and_a_broken_one_is_answered_so(cli: Cli, last: bytes) -> None:
    outcome = cli.run("--mode", "rpc", "--model", cli.script({"text": "x"}), stdin=GET + last)
    assert outcome.code == 0
    answers = outcome.of("response")
    assert len(answers) == 2
    assert [one["success"] for one in answers].count(True) == (2 if last.endswith(b"}") else 1)


def test_a_command_that_ignores_the_signal_is_killed_before_the_server_leaves(cli: Cli) -> None:
    with running(cli, "trap '' TERM; while :; do sleep 0.1; done") as (wire, process, pid):
        process.send_signal(signal.SIGTERM)
        wire.rest()
        assert ended(process) == (143, "")
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_signal_ends_a_server_whose_client_has_stopped_reading(cli: Cli) -> None:
    with started(cli, "--model", cli.script({"text": "ok"})) as (wire, process):
        wire.ask("get_state")
        wire.raw(GET * 100)  # the answers don't fit into the pipe
        wire.raw(b'{"type":"prompt","message":"go"}\n')
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143


def test_a_client_that_is_gone_ends_the_server_in_the_middle_of_a_turn(cli: Cli) -> None:
    with started(cli, "--model", cli.script({"text": "x", "delay_ms": 60_000})) as (wire, process):
        wire.ask("prompt", message="go")
        assert process.stdout is not None
        process.stdout.close()
        wire.hang_up()
        assert process.wait(20) == 0


def test_what_has_no_place_beside_the_protocol_is_refused_before_it_begins(cli: Cli) -> None:
    for words in (["hi"], ["-p"], ["--output-schema", "x.json"]):
        outcome = cli.inside("--mode", "rpc", *words)
        assert (outcome.code, outcome.stdout) == (2, b"")
        assert "prompts come as lines" in outcome.err
    outcome = cli.run("--mode", "rpc", "--model", "nobody/nothing", stdin=b"")
    assert (outcome.code, outcome.stdout) == (2, b"")
    assert "nobody" in outcome.err


def test_the_provider_may_be_named_apart_as_pis_client_does(cli: Cli) -> None:
    script = cli.script({"text": "hello"}).partition("/")[2]
    assert cli.inside("-p", "hi", "--provider", "scripted", "--model", script).out == "hello\n"
    assert cli.inside("-p", "hi", "--provider", "scripted").code == 2


def test_neither_a_stray_print_nor_a_program_that_is_started_reaches_the_client(cli: Cli) -> None:
    code = (
        "import os, subprocess\nfrom trimtab.frontends.rpc.streams import taken_over\n"
        "with taken_over() as (there, here):\n"
        "    print('stray', flush=True)\n"
        "    subprocess.run(['sh', '-c', 'echo child; cat'], check=True)\n"
        "    os.write(here, b'ours:' + os.read(there, 100))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=b"theirs\n",
        capture_output=True,
        env={**cli.environment(), "PYTHONPATH": SOURCES},
        check=True,
        timeout=30,
    )
    assert (done.stdout, done.stderr) == (b"ours:theirs\n", b"stray\nchild\n")
