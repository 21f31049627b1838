"""SIGKILL at any instant of a run with tools: what was acknowledged is there, and the session goes on to a good end."""

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from support.cli import Cli, Json, Outcome
from support.forked import Launcher
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, ToolResult

STEPS = 4
Record = Callable[[str, object], None]


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    with Launcher(Cli(tmp_path_factory.mktemp("launcher"))) as launcher:
        yield launcher


@pytest.fixture
def duration(launcher: Launcher, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that a whole run takes here, and now: measured once while the machine was busy, hundreds of kills would wait for runs that are long over."""
    cli = prepared(tmp_path_factory.mktemp("whole"))
    run = launcher.start(cli, *arguments(cli))
    seconds = run.wait()
    outcome = Outcome(0, run.stdout.read_bytes(), "")
    assert (outcome.result["reason"], outcome.result["steps"]) == ("stop", STEPS + 1)
    return seconds


def prepared(root: Path) -> Cli:
    """A project, and a script of several steps that read, edit and run things."""
    cli = Cli.at(root)
    cli.file("code.py", "".join(f"value_{n} = {n}\n" for n in range(STEPS)))
    return cli


def step(n: int) -> Json:
    edit = {"path": "code.py", "edits": [{"old": f"value_{n} = {n}\n", "new": f"value_{n} = {n * 10}\n"}]}
    return {
        "text": f"Step {n}. " + "Words " * 40,
        "thinking": "Let me see.",
        "chunk": 30,
        "tool_calls": [
            {"id": f"r{n}", "name": "read", "arguments": {"path": "code.py"}},
            {"id": f"e{n}", "name": "edit", "arguments": edit},
            {"id": f"b{n}", "name": "bash", "arguments": {"command": f"echo ran {n} >> ran.txt; seq 2000"}},
        ],
    }


def arguments(cli: Cli) -> list[str]:
    script = cli.script(*(step(n) for n in range(STEPS)), {"text": "All done."})
    return ["-p", "repair it", "--mode", "json", "--permission", "full", "--model", script]


def killed_and_continued(cli: Cli, acknowledged: list[str]) -> Counter[str]:
    """Check what a killed run left, go on with it, and check the whole. Return what was met."""
    met = Counter(instants=1, acknowledged=len(acknowledged))
    if not cli.sessions:
        assert acknowledged == []
        return met
    (session,) = cli.sessions
    log = reader(session)
    there = [entry.id for entry in log.archive.path()]
    assert [i for i in there if i in acknowledged] == acknowledged
    lines = session.read_bytes().count(b"\n") + 1
    assert [(d.kind, d.line) for d in log.damage] in ([], [("unreadable", lines)])
    met.update(sessions=1, torn=len(log.damage))

    script = cli.script(
        {"tool_calls": [{"name": "read", "arguments": {"path": "code.py"}}]}, {"text": "Continued to the end."}
    )
    again = cli.inside("-p", "go on", "--mode", "json", "--resume", str(session), "--model", script)
    assert (again.code, again.result["text"]) == (0, "Continued to the end."), again.err
    log = reader(session)
    assert [i for i in (entry.id for entry in log.archive.path()) if i in acknowledged] == acknowledged
    paired(log)
    third = cli.inside("-p", "and", "--resume", str(session), "--model", cli.script({"text": "ok"}))
    assert (third.code, third.out) == (0, "ok\n")
    runs = (cli.project / "ran.txt").read_text().splitlines() if (cli.project / "ran.txt").exists() else []
    assert runs == [f"ran {n}" for n in range(len(runs))]
    return met


def reader(session: Path) -> SessionLog:
    return SessionLog.open(session, now=lambda: datetime.now(UTC), read_only=True)


def paired(log: SessionLog) -> None:
    """Each call of the view has exactly one result, right behind it and in order."""
    waiting: list[str] = []
    for message in log.view():
        if isinstance(message, ToolResult):
            assert waiting.pop(0) == message.call_id
        else:
            assert waiting == []
            waiting = [call.id for call in message.tool_calls] if isinstance(message, Assistant) else []
    assert waiting == []


SMALL = ("--set", "providers.scripted.context_window=12000", "--set", "providers.scripted.max_output=1000")
"""A window in which every step needs an edit."""


def kill_many(
    launcher: Launcher, root: Path, instants: list[float], record: Record, flags: tuple[str, ...] = ()
) -> None:
    met: Counter[str] = Counter()
    for number, instant in enumerate(instants):
        (root / str(number)).mkdir()
        cli = prepared(root / str(number))
        run = launcher.start(cli, *arguments(cli), *flags)
        time.sleep(instant)
        run.kill()
        met += killed_and_continued(cli, Outcome(-9, run.stdout.read_bytes(), "").acknowledged)
    for key, value in met.items():
        record(key, value)


@pytest.mark.timeout(240)  # four runs and what goes on after them: on a busy machine each takes a while
@pytest.mark.parametrize("seed", range(5))
def test_a_kill_at_any_instant_loses_nothing_that_was_acknowledged(
    launcher: Launcher, duration: float, tmp_path: Path, record_property: Record, seed: int
) -> None:
    chance = random.Random(seed)
    # One in each quarter of the run.
    instants = [duration * (part + chance.random()) / 4 for part in range(4)]
    kill_many(launcher, tmp_path, instants, record_property)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_two_hundred_kills_lose_nothing_that_was_acknowledged(
    launcher: Launcher, duration: float, tmp_path: Path, record_property: Record, seed: int
) -> None:
    chance = random.Random(seed)
    kill_many(launcher, tmp_path, [chance.uniform(0, duration * 1.05) for _ in range(10)], record_property)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 205))
def test_kills_between_edits_and_requests_lose_no_edit_that_was_told(
    launcher: Launcher, duration: float, tmp_path: Path, record_property: Record, seed: int
) -> None:
    chance = random.Random(seed)
    instants = [chance.uniform(duration * 0.2, duration * 1.4) for _ in range(6)]
    kill_many(launcher, tmp_path, instants, record_property, SMALL)


def test_edits_are_acknowledged_like_messages(launcher: Launcher, tmp_path: Path) -> None:
    cli = prepared(tmp_path)
    run = launcher.start(cli, *arguments(cli), *SMALL)
    run.wait()
    written = [json.loads(line) for line in cli.sessions[0].read_bytes().splitlines()[1:]]
    edits = [entry["id"] for entry in written if entry["type"] == "edit"]
    told = Outcome(0, run.stdout.read_bytes(), "").acknowledged
    assert edits
    assert [i for i in told if i in edits] == edits


@pytest.mark.parametrize("seed", range(2))
def test_a_process_killed_while_it_starts_leaves_nothing_broken(
    tmp_path: Path, record_property: Record, seed: int
) -> None:
    cli = prepared(tmp_path)
    process = cli.start(*arguments(cli))
    time.sleep(random.Random(seed).uniform(0.1, 0.7))
    os.kill(process.pid, signal.SIGKILL)
    out, _ = process.communicate()
    for key, value in killed_and_continued(cli, Outcome(-9, out, "").acknowledged).items():
        record_property(key, value)


def test_the_script_of_these_tests_is_acknowledged_entry_by_entry(launcher: Launcher, tmp_path: Path) -> None:
    cli = prepared(tmp_path)
    run = launcher.start(cli, *arguments(cli))
    run.wait()
    outcome = Outcome(0, run.stdout.read_bytes(), "")
    written = [json.loads(line) for line in cli.sessions[0].read_bytes().splitlines()[1:]]
    assert outcome.acknowledged == [entry["id"] for entry in written if entry["type"] in ("message", "edit")]
    assert sum(entry["type"] == "message" for entry in written) == 2 + STEPS * 4
