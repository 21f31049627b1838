"""`trimtab context bisect`: the edit that broke a run, found on forks."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from support.cli import Cli, finish
from support.saved_session import write_masked_session, write_session


def good_without(*edits: str) -> str:
    """A check that is good once these edits were taken back."""
    return " && ".join(f"""grep -q '"target":"{edit}"' "$TRIMTAB_SESSION\"""" for edit in edits)


@pytest.fixture
def masked(cli: Cli) -> str:
    """The path of a session with 16 edits, `mask0` to `mask15`."""
    return str(write_masked_session(cli.root / "masked.jsonl", cwd=str(cli.project), edits=16))


@pytest.mark.parametrize("number", [0, 6, 15])
def test_the_one_edit_that_broke_it_is_found_in_few_trials(cli: Cli, masked: str, number: int) -> None:
    outcome = cli.inside("context", "bisect", masked, "--check", good_without(f"mask{number}"), "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    assert [row["entry_id"] for row in found["guilty"]] == [f"mask{number}"]
    assert found["proved"] is True
    assert len(found["trials"]) <= 2 + 2 * 4
    assert found["trials"][0]["reverted"] == []
    assert len(outcome.err.splitlines()) == len(found["trials"])


def test_the_same_search_is_made_each_time(cli: Cli, masked: str) -> None:
    first, again = (cli.inside("context", "bisect", masked, "--check", good_without("mask9")) for _ in range(2))
    assert (first.out, first.err) == (again.out, again.err)


def test_two_edits_that_broke_it_together_are_found_together(cli: Cli, masked: str) -> None:
    outcome = cli.inside("context", "bisect", masked, "--check", good_without("mask2", "mask13"))
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("these edits together broke it (")
    assert lines[-2:] == [f"trimtab context revert {masked} {edit}" for edit in ("mask2", "mask13")]


def test_the_session_stays_as_it_is_and_the_forks_go(cli: Cli, fixed: str, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    quiet = Cli(cli.root, {"TMPDIR": str(scratch)})
    before = Path(fixed).read_bytes()
    spoil = 'echo \'{"type": "spoiled"}\' >> {session}; touch {session}.more;'
    outcome = quiet.run("context", "bisect", fixed, "--check", f"{spoil} {good_without('edit0001')}")
    assert (outcome.code, outcome.out.splitlines()[0]) == (0, "this edit broke it (2 trials):")
    assert Path(fixed).read_bytes() == before
    assert list(scratch.iterdir()) == []
    assert sorted(p.name for p in cli.home.rglob("*")) == ["config.toml"]


def test_an_edit_that_was_taken_back_is_not_suspected(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", good_without("edit0001"), "--json")
    assert [trial["reverted"] for trial in json.loads(outcome.out)["trials"]] == [[], ["edit0001"]]


def test_a_check_that_passes_blames_nobody(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "test -s {session}")
    assert (outcome.code, outcome.out) == (1, "")
    assert "the check passes with all edits in place" in outcome.err


def test_a_check_that_always_fails_blames_nobody(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "false")
    assert (outcome.code, outcome.out) == (1, "")
    assert "the check fails without any edit too" in outcome.err


def test_a_session_without_edits_has_nothing_to_search(cli: Cli) -> None:
    path = str(write_session(cli.root / "s.jsonl", cwd=str(cli.project), upto="res00002"))
    outcome = cli.inside("context", "bisect", path, "--check", "false", "--json")
    assert (outcome.code, json.loads(outcome.out)["reason"]) == (1, "there are no edits")


@pytest.mark.parametrize("name", ["sesion", "SESSION", "sessions"])
def test_a_placeholder_that_is_nearly_the_one_is_exit_code_two(cli: Cli, fixed: str, name: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", f"cat {{{name}}}")
    assert (outcome.code, outcome.out) == (2, "")
    assert f"the check has no placeholder {{{name}}}" in outcome.err
    assert "trial" not in outcome.err


def test_braces_of_a_shell_are_no_placeholders(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "awk '{print}' {session}")
    assert (outcome.code, "the check passes with all edits in place" in outcome.err) == (1, True)


def test_a_check_that_cannot_be_run_is_exit_code_two(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "no-such-program {session}")
    assert outcome.code == 2
    assert "the check can't be run: 'no-such-program {session}' ended with 127" in outcome.err


def test_a_check_without_end_is_ended_and_proves_nothing(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "sleep 60", "--timeout", "0.05", "--json")
    assert outcome.code == 1
    trials = json.loads(outcome.out)["trials"]
    assert [(trial["verdict"], trial["exit_code"]) for trial in trials] == [("unknown", None)] * 2
    assert "no end in time" in outcome.err


def test_the_check_has_a_fork_that_the_command_itself_can_read(cli: Cli, fixed: str) -> None:
    """The variable that names the fork is no setting, and `trimtab` says nothing about it."""
    program = (
        f"{sys.executable} -W error -m trimtab context show $TRIMTAB_SESSION --json >/dev/null 2>seen && test ! -s seen"
    )
    outcome = cli.run("context", "bisect", fixed, "--check", program)
    assert (outcome.code, "the check passes with all edits in place" in outcome.err) == (1, True)


def alive(pid: int) -> bool:
    """Whether a process runs (one that only waits to be reaped doesn't)."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=lambda value: str(value),
)
def test_a_signal_ends_the_check_with_all_that_it_started_and_takes_the_forks_along(
    cli: Cli, fixed: str, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    scratch, ready = tmp_path / "scratch", tmp_path / "ready"
    scratch.mkdir()
    os.mkfifo(ready)
    sleep = f"{sys.executable} -c 'import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)'"
    check = f"{sleep} & first=$!; setsid {sleep} & echo $$ $first $! > {ready}; wait"
    process = Cli(cli.root, {"TMPDIR": str(scratch)}).start("context", "bisect", fixed, "--check", check)
    pids = [int(pid) for pid in ready.read_text().split()]
    assert list(scratch.iterdir())
    process.send_signal(number)
    process.send_signal(number)
    outcome = finish(process)
    assert (outcome.code, outcome.out) == (code, "")
    assert "Traceback" not in outcome.err
    assert [pid for pid in pids if alive(pid)] == []
    assert list(scratch.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_a_check_that_ends_leaves_no_process_behind(cli: Cli, fixed: str, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    check = f"setsid sleep 60 & echo $! >> {pids}; false"
    assert cli.run("context", "bisect", fixed, "--check", check).code == 1
    assert [pid for pid in pids.read_text().split() if alive(int(pid))] == []


@pytest.mark.parametrize("seconds", ["nan", "inf", "-inf", "-1", "0", "1e300", "soon", ""])
def test_a_time_that_makes_no_sense_is_exit_code_two(cli: Cli, fixed: str, seconds: str) -> None:
    outcome = cli.inside("context", "bisect", fixed, "--check", "true", f"--timeout={seconds}")
    assert (outcome.code, outcome.out) == (2, "")
    assert "'--timeout'" in outcome.err
