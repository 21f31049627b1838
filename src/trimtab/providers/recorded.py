"""Replaying and recording: a test model that answers from a cassette, and a wrapper that writes one.

One replayed request: hash it → the first unused take with that hash → its events. No such take: the stream ends with an error
of class `script` that says which request it was, both hashes, and what differs. `cassette.py` has the format and the hash.
"""

import os
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path

import anyio
import anyio.to_thread
from msgspec.structs import replace

from trimtab.providers.cassette import (
    HEADER,
    Take,
    difference,
    encode_take,
    prints_of,
    read_cassette,
    request_hash,
    take_of,
)
from trimtab.providers.provider import Provider
from trimtab.types.errors import ErrorInfo
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, StreamEvent


class RecordedProvider:
    """Answers from a cassette. Raises `ConfigError` when it can't be read.

    Each take answers once. Requests may come in another order than recorded (subagents run side by side), never with other content.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = str(path)
        self._unused = list(read_cassette(path))
        self._asked = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Answer with what was recorded for this request."""
        self._asked += 1
        actual = request_hash(request)
        take = next((t for t in self._unused if t.hash == actual), None)
        if take is None:
            yield Ended("error", error=self._mismatch(request, actual))
            return
        self._unused.remove(take)
        for event in take.stream_events():
            yield event

    def _mismatch(self, request: ModelRequest, actual: str) -> ErrorInfo:
        if not self._unused:
            message = f"request {self._asked} is past the last take of {self._file}"
        else:
            expected = self._unused[0]
            why = difference(expected.prints, prints_of(request))
            message = (
                f"request {self._asked} differs from {self._file}: "
                f"recorded {expected.hash[:12]}, now {actual[:12]}: {why}"
            )
        return ErrorInfo("script", message, hint="record the cassette again if the change is meant")


class Recorder:
    """Passes a provider's streams on and appends each that came to its end to a cassette at `path`.

    A stream that was given up is not recorded. What is written holds no request text, endpoint, header or key. An existing
    file is continued. The file is made when the first stream ends, readable by its owner only; if it can't be written, the stream ends with an error.
    """

    def __init__(self, provider: Provider, path: str | Path) -> None:
        self._provider = provider
        self._path = Path(path)
        self._lock = anyio.Lock()

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Stream from the wrapped provider, and record."""
        events: list[StreamEvent] = []
        stream = self._provider.stream(request)
        try:
            async for event in stream:
                events.append(event)
                yield await self._keep(request, events, event) if isinstance(event, Ended) else event
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    async def _keep(self, request: ModelRequest, events: Sequence[StreamEvent], ended: Ended) -> Ended:
        """Write the take; the end to yield: `ended`, or what kept it from being written (a stream never raises)."""
        try:
            async with self._lock:
                await anyio.to_thread.run_sync(self._append, take_of(request, events))
        except OSError as exc:
            message = f"can't write the cassette {str(self._path)!r}: {exc.strerror or exc}"
            return replace(
                ended, stop_reason="error", error=ErrorInfo("script", message, hint="record to another path")
            )
        return ended

    def _append(self, take: Take) -> None:
        handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            if not os.fstat(file.fileno()).st_size:
                file.write(HEADER)
            file.write(encode_take(take))
