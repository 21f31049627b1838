"""Rules for all tests: asyncio unless a folder says otherwise, no example fails for being slow, no connection leaves loopback, signals are as a shell leaves them."""

import ipaddress
import signal
import socket
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# The same examples on every run, so that a change is judged by what it changed, and few. To look for new ones: --hypothesis-profile=explore.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("check", settings.get_profile("explore"), derandomize=True, max_examples=50)
settings.load_profile("check")

# Under `nohup` a hang-up is ignored by whatever is started here, too, and some tests are about hang-ups.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _socket_fuse(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection to anywhere but this machine fails the test."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        host = address[0] if isinstance(address, tuple) else ""
        try:
            local = not host or host == "localhost" or ipaddress.ip_address(host).is_loopback
        except ValueError:
            local = False
        if not local and self.family in (socket.AF_INET, socket.AF_INET6):
            raise AssertionError(f"a test tried to reach {address!r}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
