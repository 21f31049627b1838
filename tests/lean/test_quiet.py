"""With a local model no connection leaves loopback, ever.

Two fuses around the real command: Python's audit hook, which sees each address that any library looks up or connects to, and, where the system allows it,
a network namespace that holds nothing but loopback.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import SOURCES, Cli, local, said
from support.servers import FakeServer

FUSE = """
import ipaddress, os, sys

def _fuse(event, args):
    if event in ("socket.connect", "socket.sendto"):
        host = args[1][0] if isinstance(args[1], tuple) else ""
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0] or ""
    else:
        return
    host = host.decode() if isinstance(host, bytes) else str(host)
    fd = os.open({log!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, (host + "\\n").encode())
    os.close(fd)
    if host not in ("", "localhost") and not _loopback(host):
        raise PermissionError("the fuse: " + host)

def _loopback(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

sys.addaudithook(_fuse)
"""
HERE = {"", "localhost", "127.0.0.1", "::1"}


class Fused:
    """A command line whose every process notes the hosts it asks for, and is stopped at a foreign one."""

    def __init__(self, root: Path) -> None:
        self._log = root / "hosts"
        fuse = root / "fuse"
        fuse.mkdir()
        (fuse / "sitecustomize.py").write_text(FUSE.format(log=str(self._log)), "utf-8")
        # Keys of every large provider are there: nothing may be tempted by them.
        keys = {"OPENAI_API_KEY": "sk-none", "ANTHROPIC_API_KEY": "sk-none", "HTTPS_PROXY": "http://192.0.2.1:3128"}
        self.cli = Cli.at(root, PYTHONPATH=f"{fuse}:{SOURCES}", **keys)

    @property
    def hosts(self) -> set[str]:
        """What was asked for."""
        return set(self._log.read_text().splitlines()) if self._log.exists() else set()


@pytest.fixture
def fused(tmp_path: Path) -> Fused:
    """Home, project and fuse of one test."""
    return Fused(tmp_path)


@pytest.mark.parametrize("host", ["192.0.2.1", "example.invalid"])
def test_the_fuse_burns(fused: Fused, host: str) -> None:
    """A test of this kind is worth what its fuse is worth."""
    code = f"import socket; socket.create_connection(({host!r}, 80), 1)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=fused.cli.environment(), capture_output=True, text=True, check=False
    )
    assert "the fuse" in done.stderr
    assert fused.hosts == {host}


@pytest.mark.parametrize("mode", ["text", "json"])
def test_one_turn_with_a_local_model_reaches_its_server_alone(fused: Fused, mode: str) -> None:
    """No update check, no telemetry, no catalogue refresh."""
    with FakeServer(said("hello")) as server:
        outcome = fused.cli.run("-p", "hi", "--mode", mode, *local(server))
    assert outcome.code == 0, outcome.err
    assert "hello" in outcome.out
    assert fused.hosts == {"127.0.0.1"}


def test_talking_with_a_local_model_reaches_its_server_alone(fused: Fused) -> None:
    """The same over several turns."""
    with FakeServer(said("one"), said("two")) as server:
        outcome = fused.cli.run("chat", *local(server), stdin=b"hi\n")
    assert outcome.code == 0, outcome.err
    assert "one" in outcome.out
    assert fused.hosts == {"127.0.0.1"}


@pytest.mark.parametrize("argv", [["models"], ["sessions", "list"], ["--help"]], ids=lambda argv: argv[0])
def test_what_needs_no_server_opens_no_connection(fused: Fused, argv: list[str]) -> None:
    """Lists come from this machine."""
    assert fused.cli.run(*argv).code == 0
    assert fused.hosts == set()


def test_the_doctor_looks_at_loopback_only_even_with_a_remote_model(fused: Fused) -> None:
    """A remote server is asked with `--online` alone."""
    fused.cli.config('model = "openai/gpt-5"\n')
    outcome = fused.cli.run("doctor")
    assert "not contacted" in outcome.out
    assert fused.hosts <= HERE
    assert fused.hosts != set()


NAMESPACE = shutil.which("unshare") is not None and (
    subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0
)
_ALONE = """
import fcntl, socket, struct, sys
from pathlib import Path

with socket.socket() as s:  # loopback is down in a new namespace: SIOCSIFFLAGS, IFF_UP
    fcntl.ioctl(s, 0x8914, struct.pack("16sh", b"lo", 1))

from support.cli import Cli, local, said
from support.servers import FakeServer

with FakeServer(said("hello")) as server:
    outcome = Cli.at(Path(sys.argv[1])).run("-p", "hi", *local(server))
print(outcome.out, outcome.err)
sys.exit(outcome.code)
"""


@pytest.mark.skipif(not NAMESPACE, reason="this system makes no network namespaces")
def test_a_turn_works_where_there_is_no_network_at_all(tmp_path: Path) -> None:
    """Nothing outside is needed, whatever made the connection."""
    tests = Path(__file__).parents[1]
    env = {**Cli(tmp_path).environment(), "PYTHONPATH": f"{tests}:{SOURCES}"}
    command = ["unshare", "-rn", sys.executable, "-c", _ALONE, str(tmp_path)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=50)
    assert done.returncode == 0, done.stderr
    assert "hello" in done.stdout
