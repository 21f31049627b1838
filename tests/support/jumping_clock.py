"""An event loop whose clock jumps: what waits for a time is woken at once, and the loop's time is then that time.

@pytest.fixture
def anyio_backend():
    return ("asyncio", {"loop_factory": JumpingLoop})

Only for tests without threads: what another thread does takes no time here, so every timer would go off before it.
"""

import asyncio
import selectors
from collections.abc import Callable


class _Jumping(selectors.DefaultSelector):
    """Waits for no time, and tells how long it would have waited."""

    jump: Callable[[float], None]

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """What is ready now; where the caller would wait for a while, the while is over."""
        ready = super().select(None if timeout is None else 0)
        if timeout and not ready:
            self.jump(timeout)
        return ready


class JumpingLoop(asyncio.SelectorEventLoop):
    """The loop."""

    def __init__(self) -> None:
        self._jumped = 0.0
        selector = _Jumping()
        selector.jump = self._forward
        super().__init__(selector)

    def time(self) -> float:
        """Seconds, with those that nobody waited for."""
        return super().time() + self._jumped

    def _forward(self, seconds: float) -> None:
        self._jumped += seconds
