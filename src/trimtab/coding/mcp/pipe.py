"""A server as a process: its standard input and output as the two streams that the SDK talks over.

    SDK ──message──▶ a line on its stdin          its stdout ──line, bounded──▶ message (lines.py) ──▶ SDK
                                                  its stderr ──▶ the last lines of it (tail.py)
    left ──▶ stdin is closed ──a moment──▶ its whole tree is stopped

The SDK brings a transport of its own; this one has bounds: of a message, of lines that are none, of messages in a second, and it ends what the
server started, wherever that went. The one rule: whatever comes out of the process, this process keeps its memory and its event loop.
"""

import secrets
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

from trimtab.coding.mcp.failures import McpFailure
from trimtab.coding.mcp.lines import mend, read_message
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools import process_tree

LARGEST = 64_000_000
"""Bytes of one message."""
MOST_NOISE = 4_000_000
"""Bytes that a server may print that are no messages, before it is given up; each line counts for some more."""
MOST_A_SECOND = 2_000
"""Messages; more wait in the pipe."""
MOST_ASKED = 500
"""What a server may ask for in a second."""
_WAITING = 8
"""Messages that may wait for a server that reads slowly: one that gives a request up is let go of at once, though the notice of it can't be written yet."""
_GRACE_S = 0.7
_LAST_WORDS_S = 0.5
"""How long is waited for the rest of its stderr, and its exit code, once its stdout has ended."""
_CHUNK = 1 << 18
_LINE_COST = 200


@dataclass(slots=True)
class Lines:
    """Cuts what comes into lines. Pure."""

    _held: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that end in `data`. Raises `McpFailure` for one that never seems to."""
        first, newline, rest = data.partition(b"\n")
        self._held += first
        if len(self._held) > LARGEST:
            raise McpFailure(f"it sent a message of more than {LARGEST:,} bytes")
        if not newline:
            return []
        lines = [bytes(self._held), *rest.split(b"\n")]
        self._held = bytearray(lines.pop())
        return lines


@asynccontextmanager
async def process_streams(
    argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], tail: Tail, lost: anyio.Event
) -> AsyncIterator[tuple[Any, Any]]:
    """Start the server and yield its two streams; `lost` is set once it says no more, unless it is left. Raises `McpFailure`, `OSError` or `ValueError` when it can't be started."""
    marker = secrets.token_hex(8)
    try:
        process = await anyio.open_process(
            list(argv),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**environment, process_tree.MARKER: marker},
            start_new_session=True,
        )
    except FileNotFoundError as e:
        if e.filename != argv[0]:  # the folder in which it should start
            raise
        raise McpFailure(f"there is no program {one_line(argv[0])}") from None
    to_sdk, from_server = anyio.create_memory_object_stream[Any](0)
    to_server, from_sdk = anyio.create_memory_object_stream[Any](_WAITING)
    leaving, silent = anyio.Event(), anyio.Event()
    tail.begin()
    try:
        async with anyio.create_task_group() as group:
            if process.stdin is not None and process.stdout is not None and process.stderr is not None:  # all are pipes
                group.start_soon(_read, process, to_sdk, tail, lost, leaving, silent)
                group.start_soon(_write, process.stdin, from_sdk, to_sdk, lost)
                group.start_soon(_drain, process.stderr, tail, silent)
            try:
                yield from_server, to_server
            finally:
                leaving.set()
                with anyio.CancelScope(shield=True):
                    from_server.close()
                    await _end(process, marker)
                group.cancel_scope.cancel()
    finally:
        for stream in (to_sdk, from_server, to_server, from_sdk):
            stream.close()


async def _read(
    process: Process, to_sdk: Any, tail: Tail, lost: anyio.Event, leaving: anyio.Event, silent: anyio.Event
) -> None:
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - of the extra

    lines, noise, pace = Lines(), 0, _Pace()
    try:
        async with to_sdk:
            with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
                while True:
                    for line in lines.feed(await process.stdout.receive(_CHUNK)):  # type: ignore[union-attr]  # it is a pipe
                        if not line.strip():
                            continue
                        message = await read_message(line)
                        if message is None:
                            noise += len(line) + _LINE_COST
                            tail.say(f"not of the protocol: {line[:400].decode('utf-8', 'replace')}")
                            if noise > MOST_NOISE:
                                raise McpFailure("it prints what isn't of the protocol, and won't stop") from None
                            continue
                        mend(message, tail)
                        pace.asked(message)
                        await pace.step()
                        await to_sdk.send(SessionMessage(message))
                    await anyio.lowlevel.checkpoint()
            if not leaving.is_set():
                with anyio.move_on_after(_LAST_WORDS_S):
                    await silent.wait()
                    tail.code = await process.wait()
    finally:
        if not leaving.is_set():
            lost.set()


@dataclass(slots=True)
class _Pace:
    """Lets so many messages a second through."""

    _since: float = 0.0
    _count: int = 0
    _asked: int = 0

    def asked(self, message: Any) -> None:
        """Count what the server asks for. Raises `McpFailure` for one that asks without end: it reads no answers meanwhile."""
        self._asked += hasattr(message, "method") and hasattr(message, "id")
        if self._asked > MOST_ASKED:
            raise McpFailure(f"it asked for more than {MOST_ASKED:,} things in a second")

    async def step(self) -> None:
        now = anyio.current_time()
        if now - self._since >= 1:
            self._since, self._count, self._asked = now, 0, 0
        self._count += 1
        if self._count > MOST_A_SECOND:
            await anyio.sleep(1 - (now - self._since))


async def _write(stdin: ByteSendStream, from_sdk: Any, to_sdk: Any, lost: anyio.Event) -> None:
    try:
        async with from_sdk:
            async for sent in from_sdk:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(text.encode("utf-8", "replace") + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        with anyio.move_on_after(2 * _LAST_WORDS_S):  # most have ended, and say why
            await lost.wait()
        to_sdk.close()  # who waits for an answer is told that none comes


async def _drain(stderr: ByteReceiveStream, tail: Tail, silent: anyio.Event) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            tail.feed(await stderr.receive(_CHUNK))
    silent.set()


async def _end(process: Process, marker: str) -> None:
    """Let it end by itself for a moment, then stop it and all that it started."""
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(_GRACE_S):
        await process.wait()
    await process_tree.stop(process.pid, marker, grace_s=_GRACE_S)
    with anyio.move_on_after(1), suppress(OSError):
        await process.aclose()
