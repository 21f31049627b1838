"""`trimtab train --ray` under a signal: the cluster goes, what was done stays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from trimtab.frontends.cli import train as cli
from trimtab.frontends.cli.app import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc which processes there are"),
]
_LINE = ("train", "--stage", "rl", "--workers")
_PROCESS = """
import sys
import time
from support.training import TINY, short_suite
from trimtab.frontends.cli import train as cli
from trimtab.lab import executor
from trimtab.main import main

told, ray = cli.told, executor._ray


def waiting(line):
    told(line)
    if line.startswith(told_of):
        time.sleep(60)  # for the signal: the run would be over before a slow test has sent it


def beginning():
    if told_of == "begin":
        print("begin", file=sys.stderr, flush=True)
    return ray()


told_of = sys.argv.pop(1)
cli.told, executor._ray, cli._config = waiting, beginning, lambda *_: TINY
with short_suite():
    sys.exit(main())
"""


@contextmanager
def training(out: Path, told_of: str) -> Iterator[tuple["subprocess.Popen[str]", list[str]]]:
    """A training on a cluster of two, that has told of something by now; in a group of its own, as at a terminal. With all that it said."""
    pytest.importorskip("torch")
    pytest.importorskip("ray")
    with subprocess.Popen(
        [sys.executable, "-c", _PROCESS, told_of, *_LINE, "2", "--ray", "--out", str(out)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_USAGE_STATS_ENABLED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said: list[str] = []
            for line in process.stderr or ():
                said.append(line)
                if line.startswith(told_of):
                    break
            yield process, said
        finally:
            process.kill()


def below(pid: int) -> set[int]:
    """The processes that a process began, and those that these began."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, layer = set[int](), {pid}
    while layer:
        layer = {child for child, parent in parents.items() if parent in layer}
        found |= layer
    return found


def ended(pid: int) -> bool:
    """Whether a process does nothing any more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


def require_gone(pids: set[int]) -> None:
    """Fail where one of them is still there after a while."""
    left: list[int] = []
    for _ in range(200):
        left = [pid for pid in pids if not ended(pid)]
        if not left:
            return
        time.sleep(0.1)
    pytest.fail(f"still there: {left}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_training_and_its_cluster_and_the_same_run_goes_on_without_one(
    number: signal.Signals,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with training(tmp_path, "validation, step 0:") as (process, said):
        begun = below(process.pid)
        (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
        said += process.stderr or ()
        assert process.wait(60) == code, said
    assert len(begun) > 2, said
    require_gone(begun)
    assert said[-1] == "broken off; the same command goes on from the last step\n"
    assert not [line for line in said if "Traceback" in line or "SIGTERM received" in line]
    assert not [*tmp_path.rglob("*.new"), *tmp_path.rglob("*.lock")]
    from support.training import TINY, short_suite

    monkeypatch.setattr(cli, "_config", lambda *_: TINY)
    with short_suite():
        assert main([*_LINE, "1", "--out", str(tmp_path)]) == 0
    again = capsys.readouterr().err
    assert "step 1:" in again
    assert "clone: epoch" not in again


@pytest.mark.parametrize("later", [1.0, 3.0, 6.0])
def test_a_signal_that_comes_while_the_cluster_begins_leaves_nothing_of_it(tmp_path: Path, later: float) -> None:
    with training(tmp_path, "begin") as (process, said):
        time.sleep(later)
        begun = below(process.pid)
        process.send_signal(signal.SIGTERM)
        said += process.stderr or ()
        assert process.wait(60) == 143, said
    require_gone(begun)
    assert said[-1] == "broken off; the same command goes on from the last step\n"
