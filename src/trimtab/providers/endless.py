"""The end of answers that have none: too large, or kept alive without saying anything.

The HTTP client's own limit is the time between two reads, which a server that sends comments (or blanks before a JSON document)
keeps to for ever. That is legitimate while a model reads a long prompt, so patience is many times the idle timeout. Size is counted
on the unpacked body, so it bounds memory whatever the body holds: one line, one event, or text that repeats itself.
"""

from dataclasses import dataclass, field

import anyio

from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo

QUIET_FACTOR = 6
"""So many times `idle_timeout_s` may pass between two events of an answer, whatever else comes."""
MAX_ANSWER_BYTES = 256 << 20
"""The largest answer. The longest that models give to date are a fifth of this, a wrapping for each token included."""


@dataclass(slots=True)
class AnswerWatch:
    """Watches one answer: `take` each chunk of the body, `heard` after its events. Limits in bytes and seconds."""

    max_bytes: int
    max_quiet_s: float
    _bytes: int = 0
    _heard_at: float = field(default_factory=anyio.current_time)

    def heard(self) -> None:
        """Note that the answer went on (call it when whoever reads has taken the event: a slow reader is not silence)."""
        self._heard_at = anyio.current_time()

    def take(self, chunk: bytes) -> None:
        """Count a chunk. Raises `WireFailure` when the answer is past a limit."""
        self._bytes += len(chunk)
        if self._bytes > self.max_bytes:
            raise WireFailure(
                ErrorInfo(
                    "malformed",
                    f"the answer has no end: given up after {self.max_bytes:,} bytes",
                    "A model that repeats itself may need a limit (`max_output`); otherwise check `base_url`.",
                )
            )
        if anyio.current_time() - self._heard_at > self.max_quiet_s:
            raise WireFailure(
                ErrorInfo(
                    "network",
                    f"the connection was kept alive for {self.max_quiet_s:g} s without a word of an answer",
                    "Try again; a model that is that slow needs a longer `idle_timeout_s`.",
                )
            )
