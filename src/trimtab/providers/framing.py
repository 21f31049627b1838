"""What a 200 body is: an event stream, one JSON document, or a web page of something in between.

The content type isn't trusted, because servers mislabel all three; the first byte that isn't blank decides. A JSON document (a server that
ignored `stream: true`) is delivered as one unnamed event, so a decoder sees it like any other.
"""

from trimtab.providers.sse import SseEvent, SseParser
from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo

_BLANK = b"\xef\xbb\xbf \t\r\n"


class BodyFramer:
    """Frames one body: `feed` every chunk, then `close` once. Raises `WireFailure` for a web page."""

    def __init__(self) -> None:
        self._sse: SseParser | None = None
        self._pieces: list[bytes] = []
        self._json = False

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Take a chunk; return the events that it completes."""
        if self._sse is not None:
            return self._sse.feed(chunk)
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
        return self._sse.feed(self._whole().lstrip(_BLANK))

    def close(self) -> list[SseEvent]:
        """The body is over: return the last events."""
        if self._sse is not None:
            return self._sse.close()
        return [("", self._whole().strip(_BLANK))] if self._json else []

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
