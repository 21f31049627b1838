"""What a 200 body is: an event stream, one JSON document, or words of something in between.

The content type isn't trusted, because servers mislabel all three; the first byte that isn't blank decides. A JSON document (a server that
ignored `stream: true`) is delivered as one unnamed event, so a decoder sees it like any other.
"""

from trimtab.providers.sse import SseEvent, SseParser
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo

_FIELDS = (b":", b"data", b"event", b"id", b"retry")
_SHOWN_BYTES = 200
_BLANK = b"\xef\xbb\xbf \t\r\n"


class BodyFramer:
    """Frames one body: `feed` every chunk, then `close` once. Both raise `WireFailure` for a web page or plain text."""

    def __init__(self) -> None:
        self._sse: SseParser | None = None
        self._pieces: list[bytes] = []
        self._json = False
        self._head = b""
        self._framed = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take a chunk; return the events that it completes."""
        if self._sse is not None:
            return self._seen(self._sse.feed(chunk))
        self._pieces.append(chunk)
        if self._json:
            return []
        head = chunk.lstrip(_BLANK)
        if not head:
            return []
        if head.startswith((b"{", b"[")):
            self._json = True
            return []
        if head.startswith(b"<"):
            raise WireFailure(_web_page())
        self._sse = SseParser()
        self._head = head[:_SHOWN_BYTES]
        return self._seen(self._sse.feed(self._whole().lstrip(_BLANK)))

    def close(self) -> list[SseEvent]:
        """The body is over: return the last events."""
        if self._sse is not None:
            events = self._seen(self._sse.close())
            if not self._framed and not self._head.startswith(_FIELDS):
                raise WireFailure(_plain_text(self._head))
            return events
        return [("", self._whole().strip(_BLANK))] if self._json else []

    def _seen(self, events: list[SseEvent]) -> list[SseEvent]:
        self._framed = self._framed or bool(events)
        return events

    def _whole(self) -> bytes:
        whole, self._pieces = b"".join(self._pieces), []
        return whole


def _web_page() -> ErrorInfo:
    return ErrorInfo(
        "malformed",
        "the answer is a web page, not a model's answer",
        hint="Check `base_url`: it should end with the version part (like `/v1`), and no login page or proxy may stand in between.",
        status=200,
    )


def _plain_text(head: bytes) -> ErrorInfo:
    words = head.decode("utf-8", "replace")
    return ErrorInfo("malformed", f"the answer is neither events nor JSON: {words!r}", status=200, retryable=True)
