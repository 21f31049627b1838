"""Sockets and the network: what a command can reach."""

import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.conftest import BACKENDS, WHOLE, World, backend
from trimtab.coding.sandbox.plan import Confinement, Place, by_depth

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: Linux's backends")

_CONNECT = (
    'python3 -c "import os, socket, sys\n'
    "w = os.environ['WHERE']; kind, _, rest = w.partition(' ')\n"
    "s = socket.socket(socket.AF_UNIX if kind == 'unix' else socket.AF_INET, socket.SOCK_DGRAM if kind == 'udp' else socket.SOCK_STREAM)\n"
    "s.settimeout(5)\n"
    "a = rest.replace('@', chr(0), 1) if kind == 'unix' else ('127.0.0.1', int(rest))\n"
    "s.connect(a); s.send(b'x'); print(s.recv(9).decode())\""
)


def reach(world: World, name: str, where: str, plan: Confinement | None = None) -> bool:
    ran = world.run(name, _CONNECT, plan=plan, environment={"WHERE": where})
    assert (ran.returncode == 0) == ran.stdout.endswith("heard\n"), ran.stdout
    return ran.returncode == 0


def answer(listener: socket.socket) -> None:
    """Answer whoever comes, once."""
    listener.settimeout(30)
    try:
        if listener.type == socket.SOCK_DGRAM:
            _, peer = listener.recvfrom(9)
            listener.sendto(b"heard", peer)
            return
        wire, _ = listener.accept()
        with wire:
            wire.recv(9)
            wire.send(b"heard")
    except OSError:
        return


@pytest.fixture
def served() -> Iterator[list[socket.socket]]:
    """Sockets that answer once."""
    opened: list[socket.socket] = []
    yield opened
    for listener in opened:
        listener.close()


def serve(served: list[socket.socket], family: int, kind: int, address: object) -> socket.socket:
    listener = socket.socket(family, kind)
    served.append(listener)
    listener.bind(address)  # type: ignore[arg-type]
    if kind == socket.SOCK_STREAM:
        listener.listen()
    threading.Thread(target=answer, args=(listener,), daemon=True).start()
    return listener


def port(served: list[socket.socket], kind: int) -> int:
    number: int = serve(served, socket.AF_INET, kind, ("127.0.0.1", 0)).getsockname()[1]
    return number


def off(world: World) -> Confinement:
    return replace(world.plan(), network=False)


@pytest.mark.parametrize("name", BACKENDS)
def test_with_a_network_tcp_and_udp_go_out(world: World, served: list[socket.socket], name: str) -> None:
    assert reach(world, name, f"tcp {port(served, socket.SOCK_STREAM)}")
    assert reach(world, name, f"udp {port(served, socket.SOCK_DGRAM)}")


@pytest.mark.parametrize("name", BACKENDS)
def test_without_a_network_there_is_no_tcp(world: World, served: list[socket.socket], name: str) -> None:
    backend(name, world.plan(), abi=4)
    assert not reach(world, name, f"tcp {port(served, socket.SOCK_STREAM)}", off(world))


@pytest.mark.parametrize("name", WHOLE)
def test_without_a_network_there_is_no_udp(world: World, served: list[socket.socket], name: str) -> None:
    assert not reach(world, name, f"udp {port(served, socket.SOCK_DGRAM)}", off(world))


def test_landlock_alone_leaves_udp_open_and_says_so(world: World, served: list[socket.socket]) -> None:
    plan = off(world)
    backend("landlock", plan, abi=4)
    assert reach(world, "landlock", f"udp {port(served, socket.SOCK_DGRAM)}", plan)
    assert any("UDP is open" in gap for gap in backend("landlock", plan).describe().gaps)


@pytest.mark.parametrize("name", WHOLE)
def test_without_a_network_a_command_still_reaches_its_own_servers(world: World, name: str) -> None:
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); "
        "s.accept()[0].send(b'own'); print(c.recv(9).decode())"
    )
    assert world.run(name, f'python3 -c "{code}"', plan=off(world)).stdout == "own\n"


@pytest.mark.parametrize("name", BACKENDS)
def test_a_closed_socket_is_reached_only_past_landlock_alone(
    world: World, served: list[socket.socket], name: str
) -> None:
    with tempfile.TemporaryDirectory(prefix="t") as folder:  # a socket's name may have 107 bytes
        path = str(Path(folder).resolve() / "s")
        serve(served, socket.AF_UNIX, socket.SOCK_STREAM, path)
        plan = world.plan()
        closed = replace(plan, places=by_depth((*plan.places, Place("close", path))))
        assert reach(world, name, f"unix {path}", closed) == (name == "landlock")


@pytest.mark.parametrize("name", BACKENDS)
def test_other_sockets_with_a_path_stay_open(world: World, served: list[socket.socket], name: str) -> None:
    with tempfile.TemporaryDirectory(prefix="t") as folder:
        path = str(Path(folder).resolve() / "s")
        serve(served, socket.AF_UNIX, socket.SOCK_STREAM, path)
        assert reach(world, name, f"unix {path}")


@pytest.mark.parametrize("name", BACKENDS)
def test_an_abstract_socket_of_others_is_reached_only_past_bubblewrap(
    world: World, served: list[socket.socket], name: str
) -> None:
    backend(name, world.plan(), abi=6)
    serve(served, socket.AF_UNIX, socket.SOCK_STREAM, f"\0trimtab-{world.root}")
    assert reach(world, name, f"unix @trimtab-{world.root}") == (name == "bubblewrap")
