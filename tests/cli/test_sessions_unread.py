"""Sessions that nobody can look at are not sessions that aren't there. A link to itself stands for what can't be read: it refuses root, too."""

import json
import os
from pathlib import Path

import pytest

from support.cli import Cli
from trimtab.coding.logs import now
from trimtab.context.stores.checkup import leftovers
from trimtab.context.stores.folder import SessionFolder


def unreadable(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path)


@pytest.fixture(params=["the folder of this project", "the folder of all"])
def hidden(cli: Cli, request: pytest.FixtureRequest) -> Path:
    """A folder of sessions that can't be read."""
    folder = SessionFolder(cli.home / "sessions", cli.home / "bodies", now=now)
    path = folder.folder_of(str(cli.project)) if "this" in request.param else folder.sessions
    unreadable(path)
    return path


@pytest.mark.parametrize("command", [["list"], ["list", "--all"], ["list", "--json"], ["search", "word"], ["doctor"]])
def test_a_folder_that_cannot_be_read_is_named_and_not_called_empty(cli: Cli, hidden: Path, command: list[str]) -> None:
    outcome = cli.inside("sessions", *command)
    assert str(hidden) in outcome.out + outcome.err
    assert "can't be read: Too many levels of symbolic links" in outcome.out + outcome.err
    assert "no sessions here yet" not in outcome.err
    assert outcome.code == (0 if command[0] == "search" else 1)


@pytest.mark.parametrize("choice", [["--continue"], ["--resume", "last"], ["--resume", "abcd1234"], ["--fork", "last"]])
def test_going_on_says_that_nobody_could_look(cli: Cli, hidden: Path, choice: list[str]) -> None:
    outcome = cli.inside("-p", "hi", *choice, "--model", cli.script({"text": "no"}))
    assert (outcome.code, outcome.out) == (2, "")
    assert "no session can be gone on with: the folder" in outcome.err
    assert (str(hidden) in outcome.err, "can't be read" in outcome.err) == (True, True)
    assert "no session in" not in outcome.err


def test_a_file_that_cannot_be_read_is_why_nothing_goes_on(cli: Cli) -> None:
    folder = SessionFolder(cli.home / "sessions", cli.home / "bodies", now=now)
    unreadable(folder.folder_of(str(cli.project)) / "20260101T000000Z_abcd.jsonl")
    outcome = cli.inside("-p", "hi", "-c", "--model", cli.script({"text": "no"}))
    assert (outcome.code, "abcd.jsonl" in outcome.err) == (2, True)
    listed = cli.inside("sessions", "list")
    assert (listed.code, "abcd.jsonl" in listed.err, "no sessions" in listed.err) == (1, True, False)


def test_an_older_session_that_goes_on_in_place_of_one_that_cannot_be_read_is_told(cli: Cli) -> None:
    flags = ("--model", cli.script({"text": "one"}))
    assert cli.inside("-p", "hi", *flags).code == 0
    assert "older" not in cli.inside("-p", "on", "-c", *flags).err
    newer = cli.sessions[0].with_name("29990101T000000Z_abcd.jsonl")
    newer.write_bytes(b"no session\n")
    os.utime(newer, (4e9, 4e9))
    outcome = cli.inside("-p", "on", "-c", *flags)
    assert (outcome.code, outcome.out) == (0, "one\n")
    assert "an older session goes on: " in outcome.err
    assert "abcd.jsonl" in outcome.err


def test_nothing_is_called_a_leftover_while_a_session_cannot_be_read(cli: Cli, hidden: Path) -> None:
    folder = SessionFolder(cli.home / "sessions", cli.home / "bodies", now=now)
    (cli.home / "bodies").mkdir(parents=True)
    (cli.home / "bodies" / f"sha256-{'0' * 64}").write_bytes(b"needed, for all that anybody knows")
    (cli.home / "checkpoints" / "other-00000000").mkdir(parents=True)
    assert leftovers(folder, cli.home / "checkpoints", now=now) == ()
    hidden.unlink()
    assert len(leftovers(folder, cli.home / "checkpoints", now=now)) == 2


def test_a_list_says_how_each_session_ended_once_one_did_not_end_well(cli: Cli) -> None:
    assert cli.inside("-p", "goes well", "--model", cli.script({"text": "fine"})).code == 0
    assert "ENDED" not in cli.inside("sessions", "list").out
    cli.inside("-p", "breaks", "--model", cli.script({"error": {"status": 401}}))
    cli.inside("-p", "too long", "--model", cli.script({"text": "half", "stop_reason": "length"}))
    call = {"tool_calls": [{"name": "read", "arguments": {"path": "."}}]}
    cli.inside("-p", "never done", "--max-steps", "1", "--model", cli.script(call, call))
    rows = {row["prompt"]: row["ended"] for row in json.loads(cli.inside("sessions", "list", "--json").out)}
    assert rows == {"goes well": "answered", "breaks": "failed", "too long": "cut", "never done": "unfinished"}
    cli.inside("chat", "--model", cli.script({"text": "x"}), stdin=b"!true\n!!true\nand fine\n!true\n")
    assert json.loads(cli.inside("sessions", "list", "--json").out)[0]["ended"] == "answered"
    shown = [line.split() for line in cli.inside("sessions", "list").out.splitlines()]
    assert shown[0][-2:] == ["ENDED", "TITLE"]
    assert ["failed", "breaks"] in [line[-2:] for line in shown]
    assert not any(word in line for line in shown for word in ("answered", "empty"))
