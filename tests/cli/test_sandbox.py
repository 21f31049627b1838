"""The sandbox as a person meets it: in a run, in a notice, in the doctor's list."""

import json

import pytest

from sandbox.conftest import facts
from support.cli import Cli, text_of

NONE = ("--set", "sandbox.backend=seatbelt")
"""On Linux, there is none of that."""


def run(cli: Cli, *commands: str, settings: tuple[str, ...] = ()) -> tuple[list[str], str]:
    """What a model reads of its commands, one step each, and what a person reads beside it."""
    steps = [{"tool_calls": [{"name": "bash", "arguments": {"command": command}}]} for command in commands]
    model = cli.script(*steps, {"text": "done"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--permission", "full", "--model", model, *settings)
    assert outcome.code == 0, outcome.err
    notices = "\n".join(event["message"] for event in outcome.of("notice"))
    return [text_of(event) for event in outcome.of("tool_ended")], notices


@pytest.mark.skipif(bool(facts().no_mounts), reason=f"NOT TESTED: {facts().no_mounts}")
def test_full_permission_writes_neither_trimtabs_own_settings_nor_its_sessions(cli: Cli) -> None:
    cli.config('thinking = "low"\n')
    before = (cli.home / "config.toml").read_text()
    (said, again), notices = run(
        cli,
        "echo 'permissions.mode = \"full\"' > ../home/config.toml",
        "for f in ../home/sessions/*/*.jsonl; do echo > $f; done; mv ../home ../old",
    )
    assert "Read-only file system" in said
    assert "[the sandbox may be why:" in said
    assert "[the sandbox may be why:" in again
    assert (cli.home / "config.toml").read_text() == before
    assert notices == ""


@pytest.mark.skipif(bool(facts().no_mounts), reason=f"NOT TESTED: {facts().no_mounts}")
def test_the_commands_of_a_check_are_held_as_well(cli: Cli) -> None:
    write = {"tool_calls": [{"name": "write", "arguments": {"path": "a", "content": "a"}}]}
    told = {"text": "I give up", "expect": {"contains": ["[the sandbox may be why:"]}}
    check = ("--verify", "echo bad > .trimtab/config.toml", "--set", "verify.rounds=1")
    cli.file(".trimtab/config.toml", "")
    outcome = cli.inside(
        "-p",
        "go",
        "--mode",
        "json",
        "--permission",
        "full",
        *check,
        "--model",
        cli.script(write, {"text": "done"}, told),
    )
    assert outcome.result["verify"] == "failed", outcome.err
    assert (cli.project / ".trimtab/config.toml").read_text() == ""


def test_a_setting_turns_it_off(cli: Cli) -> None:
    (said,), notices = run(
        cli, "mkdir -p ../home && echo x > ../home/x && echo ran", settings=("--set", "sandbox.mode=off")
    )
    assert said == "ran"
    assert notices == ""


def test_without_one_the_person_is_told_once_and_commands_run(cli: Cli) -> None:
    said, notices = run(cli, "echo a", "echo b", settings=NONE)
    assert said == ["a", "b"]
    assert notices == 'commands run without a sandbox: seatbelt is macOS\'s own; sandbox.mode = "off" hides this'


def test_where_one_is_required_nothing_runs_without(cli: Cli) -> None:
    (said,), _ = run(cli, "echo ran > ran", settings=(*NONE, "--set", "sandbox.mode=required"))
    assert "sandbox.mode is required" in said
    assert not (cli.project / "ran").exists()


def test_the_doctor_says_what_holds_and_what_does_not(cli: Cli) -> None:
    def found(*settings: str) -> tuple[int, dict[str, dict[str, str]]]:
        outcome = cli.inside("doctor", "--json", "--model", cli.script({"text": "ok"}), *settings)
        return outcome.code, {check["name"]: check for check in json.loads(outcome.out)}

    code, off = found("--set", "sandbox.mode=off")
    assert (code, off["sandbox"]["status"]) == (0, "note")
    assert off["sandbox"]["found"] == "off: a command that may run can do what you can"
    code, none = found(*NONE)
    assert (code, none["sandbox"]["status"]) == (0, "note")
    assert none["sandbox"]["found"].startswith("none: seatbelt is macOS's own; ")
    code, required = found(*NONE, "--set", "sandbox.mode=required")
    assert (code, required["sandbox"]["status"]) == (1, "missing")
    if not facts().abi:
        pytest.skip("NOT TESTED: this system has no Landlock")
    (cli.project / ".trimtab").mkdir()
    code, active = found("--set", 'sandbox.write=["gone"]', "--set", "sandbox.backend=landlock")
    assert code == 0
    assert f"landlock (ABI {facts().abi})" in active["sandbox"]["found"]
    assert "not held: " in active["sandbox"]["found"]
    assert active["sandbox writes"]["found"].startswith("gone: isn't there")
    assert str(cli.project / ".trimtab") in active["sandbox keeps"]["found"]
