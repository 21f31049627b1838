"""`trimtab jobs`: what sessions left running is found, shown and ended from a shell."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from jobs.conftest import record, sleeper
from support.cli import Cli
from trimtab.coding.jobs.recorded import records_folder
from trimtab.coding.jobs.records import Record, Records
from trimtab.coding.project import open_project
from trimtab.coding.tools import process_tree
from trimtab.coding.tools.process import Group

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="jobs are found again by /proc alone")


@pytest.fixture
def started() -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Processes that the test ends."""
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.wait()


class Left:
    """Jobs that were left, in the folder of `cli` and in others."""

    def __init__(self, cli: Cli, started: list["subprocess.Popen[bytes]"]) -> None:
        self.cli, self.started = cli, started

    def records(self, folder: Path) -> Records:
        project = open_project(folder, env=self.cli.environment())
        return Records(records_folder(project), project=str(folder))

    def job(self, *, folder: Path | None = None, **more: object) -> tuple["subprocess.Popen[bytes]", Path]:
        """One more, and its record."""
        marker = process_tree.new_marker()
        process = sleeper(TRIMTAB_COMMAND=marker)
        self.started.append(process)
        records = self.records(folder or self.cli.project)
        made = record(process.pid, process_tree.born_at(process.pid), marker, project=records.project, **more)
        return process, records.write(made)

    @property
    def mine(self) -> dict[str, object]:
        """Whose Trimtab runs: this process."""
        return {"owner": os.getpid(), "owner_born": process_tree.born_at(os.getpid()), "kept": False}


@pytest.fixture
def left(cli: Cli, started: list["subprocess.Popen[bytes]"]) -> Left:
    return Left(cli, started)


def test_what_was_kept_is_listed_shown_and_ended(cli: Cli, left: Left) -> None:
    outputs = cli.home / "sessions" / "p" / "a.jsonl.outputs"
    outputs.mkdir(parents=True)
    (outputs / "output-1.txt").write_text("one\ntwo\nlistening on 8080\x1b]0;x\x07\n")
    process, path = left.job(command="npm run dev", file=str(outputs / "output-1.txt"))
    alone, listed = cli.inside("jobs"), cli.inside("jobs", "list")
    assert alone.out == listed.out
    head, row = alone.out.splitlines()
    assert (head.split(), row.split("  ")[0], row.rpartition("  ")[2].strip()) == (
        ["ID", "RUNS", "STATE", "COMMAND"],
        "j1",
        "npm run dev",
    )
    (told,) = json.loads(cli.inside("jobs", "--json").out)
    assert {key: told[key] for key in ("id", "mark", "state", "command", "folder", "pids", "output_file")} == {
        "id": "j1",
        "mark": path.stem,
        "state": "kept",
        "command": "npm run dev",
        "folder": str(cli.project),
        "pids": [process.pid],
        "output_file": str(outputs / "output-1.txt"),
    }
    shown = cli.inside("jobs", "tail", "j1", "1")
    assert shown.out.splitlines() == [f"[all of it: {outputs / 'output-1.txt'}]", "listening on 8080"]
    assert "note: j1 (npm run dev): kept, runs " in shown.err
    ended = cli.inside("jobs", "kill", "j1")
    assert (ended.code, ended.out) == (0, "j1 (npm run dev): ended\n")
    assert process.wait() == -15
    assert not path.exists()
    assert cli.inside("jobs").err == "no job runs here; --all looks everywhere\n"


def test_a_wait_ends_with_the_job_and_shows_what_it_printed(
    cli: Cli, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = cli.home / "sessions" / "p" / "a.jsonl.outputs"
    outputs.mkdir(parents=True)
    (outputs / "output-1.txt").write_text("bye\n")
    process, _ = left.job(file=str(outputs / "output-1.txt"))
    gone = Group.gone

    async def ends_while_waited_for(group: Group) -> None:
        process.terminate()
        await gone(group)

    monkeypatch.setattr(Group, "gone", ends_while_waited_for)
    waited = cli.inside("jobs", "wait", "j1")
    assert (waited.code, waited.out, waited.err) == (0, "bye\n", "note: j1 (server): ended\n")
    assert process.wait() == -15


def test_of_two_with_one_id_each_is_said_by_its_mark_and_those_of_other_folders_are_reached_by_it(
    cli: Cli, left: Left
) -> None:
    other = cli.root / "other"
    other.mkdir()
    (_, first), (_, second), (process, third) = left.job(), left.job(), left.job(folder=other, command="elsewhere")
    rows = cli.inside("jobs").out.splitlines()[1:]
    assert {row.split()[0] for row in rows} == {first.stem[:8], second.stem[:8]}
    unclear = cli.inside("jobs", "kill", "j1")
    assert unclear.code == 2
    assert f"'j1' may mean 2 jobs\n  Say which: {rows[0].split()[0]}, {rows[1].split()[0]}." in unclear.err
    assert cli.inside("jobs", "kill", "j7").code == 2
    every = cli.inside("jobs", "--all").out
    assert len(every.splitlines()) == 4
    assert every.splitlines()[0].endswith("FOLDER")
    assert str(other) in every
    assert cli.inside("jobs", "kill", third.stem[:8], third.stem).out == f"{third.stem[:8]}: j1 (elsewhere): ended\n"
    assert process.wait() == -15
    assert first.exists()
    assert second.exists()


def test_all_means_what_no_open_session_has_and_what_one_has_is_ended_by_its_id(cli: Cli, left: Left) -> None:
    kept, _ = left.job()
    orphan, _ = left.job(id="j2", kept=False)
    owned, _ = left.job(id="j3", **left.mine)
    waited, _ = left.job(id="j4", waited=True, **left.mine)
    assert [one["state"] for one in json.loads(cli.inside("jobs", "--json").out)] == [
        "kept",
        "cut off",
        "open",
        "waited",
    ]
    outcome = cli.inside("jobs", "kill", "all")
    assert outcome.out == "j1 (server): ended\nj2 (server): ended\n"
    assert outcome.err == "note: 2 jobs of open sessions go on; say the id to end one\n"
    assert (kept.wait(), orphan.wait(), owned.poll(), waited.poll()) == (-15, -15, None, None)
    assert cli.inside("jobs", "kill", "j3").out == "j3 (server): ended\n"
    assert owned.wait() == -15


def test_many_that_were_left_are_found_in_a_few_looks_told_in_short_and_ended_together(
    cli: Cli, left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 25):
        left.job(id=f"j{number}")
    readings = 0
    read = process_tree._read_all

    def counted() -> process_tree._Reading:
        nonlocal readings
        readings += 1
        return read()

    monkeypatch.setattr(process_tree, "_read_all", counted)
    monkeypatch.setattr(process_tree, "_SHARED_S", 30.0)
    assert len(cli.inside("jobs").out.splitlines()) == 25
    assert readings <= 5
    said = [
        line for line in cli.inside("-p", "hi", "--model", cli.script({"text": "x"})).err.splitlines() if "job" in line
    ]
    assert len(said) == 6
    assert said[-1] == "note: and 19 jobs more; /jobs lists them"
    assert len(cli.inside("jobs", "kill", "all").out.splitlines()) == 24
    assert {process.wait() for process in left.started} == {-15}


def test_a_stranger_that_a_forged_record_names_is_neither_listed_nor_ended(cli: Cli, left: Left) -> None:
    stranger = sleeper(TRIMTAB_COMMAND="")
    left.started.append(stranger)
    records = left.records(cli.project)
    forged = records.write(record(stranger.pid, process_tree.born_at(stranger.pid), command="\x1b[31mls\nrm"))
    (records.folder / "\x1b]0;x\x07.json").write_bytes(forged.read_bytes())
    (records.folder / "later.json").write_bytes(b"x" * 1_000_000)
    assert cli.inside("jobs", "kill", "all").err == "note: no job was left here\n"
    assert cli.inside("jobs", "kill", "j1").code == 2
    assert stranger.poll() is None
    assert list(records.folder.iterdir()) == []


def test_what_a_record_says_obeys_no_terminal_and_begins_no_row(cli: Cli, left: Left) -> None:
    left.job(command="\x1b[31mls\nj9  1 s  kept  rm", by="an \x1b]0;x\x07agent", session="\x1b[1m", began=1e11 - 1)
    out = cli.inside("jobs", "--all").out
    assert "\x1b" not in out
    assert len(out.splitlines()) == 2
    assert "\x1b" not in cli.inside("jobs", "--json").out
    assert "\x1b" not in cli.inside("jobs", "kill", "all").out


@pytest.mark.parametrize("began", [-1.0, 1e300])
def test_a_record_that_began_at_no_time_that_can_be_is_removed(cli: Cli, left: Left, began: float) -> None:
    _, path = left.job(began=began)
    assert cli.inside("jobs", "--json").out == "[]\n"
    assert not path.exists()


def test_a_record_of_an_older_trimtab_is_read(cli: Cli, left: Left) -> None:
    _, path = left.job()
    facts = json.loads(path.read_bytes())
    path.write_text(json.dumps({key: facts[key] for key in facts if key not in ("project", "waited")}))
    assert msgspec.json.decode(path.read_bytes(), type=Record).project == ""
    assert cli.inside("jobs", "--all").out.splitlines()[1].split()[-1] == "?"


def test_options_of_the_list_mean_nothing_to_the_others(cli: Cli) -> None:
    outcome = cli.inside("jobs", "--all", "kill", "j1")
    assert outcome.code == 2
    assert "--all and --json are of the list, not of kill" in outcome.err
    assert "did you mean" in cli.inside("job", "list").err
