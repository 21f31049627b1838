"""Sessions of other agents, taken over."""

import gzip
import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli, local, said
from support.servers import FakeServer
from trimtab.context.stores.checkup import check

TIME = "2026-03-04T05:06:07.000Z"


def jsonl(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def pi(path: Path) -> Path:
    """A session of pi, with a call, its result and a compaction."""
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    usage = {"input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0}
    answer = {
        "role": "assistant",
        "content": [call],
        "provider": "anthropic",
        "model": "m",
        "usage": usage,
        "stopReason": "toolUse",
    }
    result = {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "bash",
        "content": [{"type": "text", "text": "a.py"}],
        "isError": False,
    }
    return jsonl(
        path,
        {"type": "session", "version": 3, "id": "p-1", "timestamp": TIME, "cwd": "/elsewhere"},
        {"type": "message", "id": "a", "parentId": None, "timestamp": TIME, "message": {"role": "user", "content": "which files?"}},
        {"type": "message", "id": "b", "parentId": "a", "timestamp": TIME, "message": answer},
        {"type": "message", "id": "c", "parentId": "b", "timestamp": TIME, "message": result},
        {"type": "compaction", "id": "d", "parentId": "c", "timestamp": TIME, "summary": "s", "firstKeptEntryId": "c", "tokensBefore": 9},
    )  # fmt: skip


def claude(path: Path) -> Path:
    """A session of Claude Code."""
    head = {"sessionId": "s", "timestamp": TIME, "cwd": "/elsewhere", "version": "2", "isSidechain": False}
    said = {
        "id": "msg_1",
        "role": "assistant",
        "model": "claude-x",
        "content": [{"type": "text", "text": "hello"}],
        "usage": {"input_tokens": 3, "output_tokens": 1},
    }
    return jsonl(
        path,
        {"type": "user", "uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "greet me"}, **head},
        {"type": "assistant", "uuid": "b", "parentUuid": "a", "message": said, **head},
    )  # fmt: skip


def openai(path: Path) -> Path:
    """Messages of Chat Completions, with a call that has no id."""
    call = {"type": "function", "function": {"name": "ls", "arguments": "{}"}}
    path.write_text(
        json.dumps([{"role": "user", "content": "list"}, {"role": "assistant", "content": None, "tool_calls": [call]}])
    )
    return path


def test_a_session_of_another_agent_goes_on_here(cli: Cli) -> None:
    source = pi(cli.root / "pi.jsonl")
    before = source.read_bytes()
    outcome = cli.inside("sessions", "import", str(source))
    assert (outcome.code, outcome.err) == (0, "")
    assert "is a session now" in outcome.out
    assert "(pi, 3 messages)" in outcome.out
    assert "left out: 1 compaction" in outcome.out
    (session,) = cli.sessions
    assert (source.read_bytes(), check(session).damage, session.stat().st_mode & 0o777) == (before, (), 0o600)
    assert session.name.startswith("20260304T050607Z_")
    with FakeServer(said("ok")) as server:
        assert cli.inside("-p", "and now?", "--continue", *local(server)).code == 0
    sent = [m.get("content") for m in server.requests[0].json["messages"][1:]]
    assert (sent[0], "a.py" in str(sent[2]), sent[-1]) == ("which files?", True, "and now?")
    (row,) = json.loads(cli.inside("sessions", "list", "--json").out)
    assert (row["title"], row["created"]) == ("which files?", TIME)


@pytest.mark.parametrize("make", [pi, claude, openai])
def test_the_same_content_is_one_session_whatever_it_is_called_and_packed_in(cli: Cli, make) -> None:
    source = make(cli.root / "one.jsonl")
    (cli.root / "two.jsonl.gz").write_bytes(gzip.compress(source.read_bytes()))
    first, again, packed = (
        json.loads(cli.inside("sessions", "import", "--json", str(cli.root / name)).out)[0]
        for name in ("one.jsonl", "one.jsonl", "two.jsonl.gz")
    )
    assert (first["known"], again["known"], packed["known"]) == (False, True, True)
    assert first["session"] == again["session"] == packed["session"]
    assert len(cli.sessions) == 1


def test_a_trial_writes_nothing(cli: Cli) -> None:
    outcome = cli.inside("sessions", "import", "--dry-run", str(pi(cli.root / "pi.jsonl")))
    assert (outcome.code, "would be a session" in outcome.out, cli.sessions) == (0, True, [])


def test_what_cannot_be_read_is_said_and_the_rest_is_taken(cli: Cli) -> None:
    (cli.root / "noise.jsonl").write_bytes(b"\0\xff nothing")
    outcome = cli.inside(
        "sessions", "import", str(cli.root / "noise.jsonl"), str(cli.root / "gone"), str(claude(cli.root / "c.jsonl"))
    )
    assert (outcome.code, len(cli.sessions)) == (1, 1)
    assert "no session of a known agent" in outcome.err
    assert "gone" in outcome.err


def test_a_folder_is_searched_for_sessions(cli: Cli) -> None:
    pi(cli.root / "theirs" / "a" / "pi.jsonl")
    claude(cli.root / "theirs" / "b" / "c.jsonl")
    (cli.root / "theirs" / "notes.txt").write_text("nothing")
    rows = json.loads(cli.inside("sessions", "import", "--json", str(cli.root / "theirs")).out)
    assert sorted((row["format"], row["messages"]) for row in rows) == [("claude-code", 2), ("pi", 3)]


def test_an_import_that_is_cut_off_leaves_no_session(cli: Cli, monkeypatch) -> None:
    monkeypatch.setattr("trimtab.context.stores.jsonl.write_all", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    outcome = cli.inside("sessions", "import", str(pi(cli.root / "pi.jsonl")))
    assert (outcome.code, cli.sessions) == (1, [])
    assert list((cli.home / "sessions").rglob("*.part")) == []


def test_what_a_folder_holds_and_nobody_can_read_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = cli.root / "theirs"
    claude(theirs / "c.jsonl")
    pi(theirs / "secret.jsonl")
    pi(theirs / "closed" / "pi.jsonl")
    opened, listed = os.open, os.scandir

    def open_(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith("secret.jsonl"):
            raise PermissionError(13, "Permission denied", path)
        return opened(path, *rest, **more)

    def scandir(path: Any = ".") -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "open", open_)
    monkeypatch.setattr(os, "scandir", scandir)
    outcome = cli.inside("sessions", "import", str(theirs))
    monkeypatch.undo()
    assert (outcome.code, len(cli.sessions)) == (1, 1)
    for name in ("secret.jsonl", "closed"):
        assert f"can't read {str(theirs / name)!r}: Permission denied" in outcome.err.replace("\n  ", " ")


@pytest.mark.parametrize("format", ["html", "md"])
def test_a_text_for_people_names_the_exports_that_come_back(cli: Cli, format: str) -> None:
    assert cli.inside("-p", "greet", "--model", cli.script({"text": "hello"})).code == 0
    assert cli.inside("sessions", "export", "last", f"out.{format}").code == 0
    refused = cli.inside("sessions", "import", f"out.{format}")
    assert refused.code == 1
    assert "of the formats of an export, jsonl comes back whole, openai and anthropic as messages" in refused.err


@pytest.mark.parametrize("format", ["jsonl", "openai.jsonl", "anthropic.jsonl"])
def test_an_export_for_programs_comes_back(cli: Cli, format: str) -> None:
    assert cli.inside("-p", "greet", "--model", cli.script({"text": "hello"})).code == 0
    assert cli.inside("sessions", "export", "last", f"out.{format}").code == 0
    (row,) = json.loads(cli.inside("sessions", "import", "--json", f"out.{format}").out)
    assert (row["messages"], row["lost"]) == (2, [])
    shown = cli.inside("sessions", "show", row["session"]).out
    assert shown.index("greet") < shown.index("hello")


def test_what_was_left_out_and_what_else_there_is_to_know_are_told_apart(cli: Cli) -> None:
    time = {"timestamp": TIME}
    words = {"role": "user", "content": "one"}
    source = jsonl(
        cli.root / "pi.jsonl",
        {"type": "session", "version": 3, "id": "p", "cwd": "/e", "parentSession": "q.jsonl", **time},
        {"type": "message", "id": "a", "parentId": None, "message": words, **time},
        {"type": "message", "id": "b", "parentId": "a", "message": words, **time},
        {"type": "message", "id": "c", "parentId": "a", "message": {"role": "user", "content": "two"}, **time},
    )
    with source.open("ab") as file:
        file.write(b'{"type": "message", "id": "d", "par')
    outcome = cli.inside("sessions", "import", str(source))
    assert outcome.out.splitlines()[1:] == [
        "  left out: what nobody can read of 1 damaged line",
        "  left out: 1 entry of abandoned branches",
        "  note: branched from another session",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_an_import_or_export_whole_or_not_there(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    def told(*_: Any, **__: Any) -> Any:
        yield b"half of it\n"
        signal.raise_signal(number)
        yield b"the rest\n"

    pi(cli.root / "pi.jsonl")
    monkeypatch.setattr("trimtab.sessions.imported._lines", told)
    code = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}[number]
    stopped = cli.inside("sessions", "import", str(cli.root / "pi.jsonl"))
    assert (stopped.code, stopped.err) == (code, "stopped; what was taken over so far stays (0 sessions)\n")
    assert [path for path in (cli.home / "sessions").rglob("*") if path.is_file()] == []
    monkeypatch.undo()
    assert cli.inside("sessions", "import", str(cli.root / "pi.jsonl")).code == 0
    monkeypatch.setattr("trimtab.frontends.cli.sessions_export.export", told)
    stopped = cli.inside("sessions", "export", "last", "out.html")
    assert (stopped.code, stopped.err) == (code, "stopped; out.html is not written\n")
    assert list(cli.project.iterdir()) == []
