"""Where work runs changes nothing about what comes of it."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from trimtab.lab import executor as executor_module
from trimtab.lab.executor import Executor, Here, Processes, executor_for
from trimtab.types.errors import UsageError


def square(number: int) -> int:
    """Slower for the first ones, so that later results are there before."""
    time.sleep(0.02 * max(0, 3 - number))
    return number * number


def refuse(number: int) -> int:
    """Raises for one of them."""
    if number == 2:
        raise UsageError("two is refused", hint="take three")
    return number


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two workers for all tests here."""
    executor = executor_for(2)
    yield executor
    executor.close()


def test_results_come_in_the_order_of_the_items_wherever_they_are_made(processes: Executor) -> None:
    assert isinstance(processes, Processes)
    assert list(processes.map(square, range(8))) == list(Here().map(square, range(8))) == [n * n for n in range(8)]


def test_an_error_comes_where_its_result_would_be_and_is_itself(processes: Executor) -> None:
    for executor in (Here(), processes):
        found = executor.map(refuse, range(4))
        assert [next(found), next(found)] == [0, 1]
        with pytest.raises(UsageError) as caught:
            next(found)
        assert (caught.value.message, caught.value.hint) == ("two is refused", "take three")


def doze(seconds: float) -> float:
    """Takes that long."""
    time.sleep(seconds)
    return seconds


def test_what_nobody_waits_for_any_more_is_broken_off() -> None:
    executor = executor_for(2)
    found = executor.map(doze, [0.0, 50.0, 50.0, 50.0])
    assert next(found) == 0.0
    begun = time.monotonic()
    executor.close()
    assert time.monotonic() - begun < 10


_WORKERS = """
import os, signal, time
from trimtab.lab.executor import executor_for

if __name__ == "__main__":
    executor = executor_for(2)
    print(*set(executor.map(pid, range(8))), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc which processes there are")
def test_no_worker_outlives_the_process_that_gave_it_work(tmp_path: Path) -> None:
    script = tmp_path / "killed.py"
    script.write_text("def pid(_):\n    return os.getpid()\n" + _WORKERS)
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=60)
    workers = [int(word) for word in ended.stdout.split()]
    assert ended.returncode == -signal.SIGKILL
    assert workers, ended.stderr
    for _ in range(200):
        if not any(Path(f"/proc/{worker}").exists() for worker in workers):
            return
        time.sleep(0.05)
    pytest.fail(f"workers that are still there: {workers}")


def test_one_worker_is_this_process_and_fewer_are_refused() -> None:
    assert isinstance(executor_for(1), Here)
    with pytest.raises(UsageError, match="0 workers"):
        executor_for(0)


def test_a_missing_ray_is_told_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(UsageError) as caught:
        executor_for(2, ray=True)
    assert "[ray]" in caught.value.hint


def refused(monkeypatch: pytest.MonkeyPatch, address: str, init: Callable[..., None]) -> str:
    """What is said of an address by whoever asks a Ray that does this."""
    monkeypatch.setattr(executor_module, "_ray", lambda: SimpleNamespace(init=init))
    monkeypatch.setattr(executor_module, "CONNECT_S", 0.2)
    with pytest.raises(UsageError) as caught:
        executor_for(2, address=address)
    assert "ray start" in caught.value.hint
    return caught.value.message


def never(**_: object) -> None:
    pytest.fail("Ray is asked, though nobody listens there")


def test_a_port_where_nobody_listens_is_told_without_asking_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    for address in (f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}", "127.0.0.1:99999"):
        assert refused(monkeypatch, address, never) == f"no Ray cluster answers at {address!r}"


def test_a_port_where_nobody_answers_is_waited_for_a_while_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        said = refused(monkeypatch, address, lambda **_: time.sleep(50))
    assert said == f"no Ray cluster answers at {address!r} within 0.2 s"
    assert time.monotonic() - begun < 10


def test_what_ray_says_of_an_address_without_a_port_is_told_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(**_: object) -> None:
        raise ValueError("Malformed address")

    assert refused(monkeypatch, "nonsense", unknown) == "no Ray cluster answers at 'nonsense'"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore")
def test_a_local_cluster_of_two_gives_the_same_results_in_the_same_order() -> None:
    pytest.importorskip("ray")
    executor = executor_for(2, ray=True)
    try:
        assert list(executor.map(square, range(6))) == [n * n for n in range(6)]
        mapped: Callable[[int], int] = refuse
        with pytest.raises(UsageError, match="two is refused"):
            list(executor.map(mapped, range(4)))
    finally:
        executor.close()
