"""A real HTTP/1.1 server on loopback whose every answer is written by the test.

Plain sockets in threads: each request takes the next `Reply` of the script, each chunk is one write, and a reply can pause, stall or
reset the connection in the middle. The server ends with its `with` block, whatever state its connections are in.

    with FakeServer(Reply(chunks=sse({"x": 1}), …)) as server:
        … server.url … server.requests[0].json …
"""

import json
import select
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, TypeAlias


@dataclass(frozen=True)
class Pause:
    """Wait `seconds` before the next chunk; ends early when the client leaves."""

    seconds: float


@dataclass(frozen=True)
class Stall:
    """Send nothing more until the client leaves or the server ends."""


@dataclass(frozen=True)
class Reset:
    """Break the connection with a TCP reset."""


@dataclass(frozen=True)
class HangUp:
    """Close the connection without ending the body."""


Step: TypeAlias = bytes | Pause | Stall | Reset | HangUp


@dataclass(frozen=True)
class Reply:
    """One scripted answer. `framing` says how the body's end is marked; `encoding` compresses each chunk with a flush.

    Status 0 is no answer: the connection is closed once the request is there.
    """

    chunks: Sequence[Step] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/event-stream"})
    framing: Literal["chunked", "length", "close"] = "chunked"
    encoding: Literal["", "gzip", "deflate"] = ""


@dataclass(frozen=True)
class Received:
    """One request as it arrived. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def json_reply(
    value: Any,
    *,
    status: int = 200,
    headers: dict[str, str] | None = None,
    framing: Literal["chunked", "length"] = "length",
) -> Reply:
    """An answer that is one JSON document."""
    return Reply(
        [json.dumps(value, ensure_ascii=False).encode()],
        status=status,
        headers={"content-type": "application/json", **(headers or {})},
        framing=framing,
    )


def sse(*values: Any, done: bool = False, named: bool = False) -> list[Step]:
    """One chunk per event. Bytes are the data as they are, other values become JSON; `named` sends their `type` as event name."""
    chunks: list[Step] = []
    for value in values:
        data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        name = f"event: {value['type']}\n".encode() if named and isinstance(value, dict) else b""
        chunks.append(name + b"data: " + data + b"\n\n")
    if done:
        chunks.append(b"data: [DONE]\n\n")
    return chunks


def one_byte_each(chunks: Iterable[Step]) -> list[Step]:
    """The same bytes, one write per byte."""
    out: list[Step] = []
    for chunk in chunks:
        out.extend(bytes([b]) for b in chunk) if isinstance(chunk, bytes) else out.append(chunk)
    return out


Handler: TypeAlias = Callable[[Received], Reply]


class FakeServer:
    """Answers from a script of replies, or from one function of the request. Past the script it answers 500."""

    def __init__(self, *script: Reply | Handler) -> None:
        self._script = list(script)
        self.requests: list[Received] = []
        self.connections = 0
        self.left = threading.Event()
        """Set when a client went away in the middle of an answer."""
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._stop_r, self._stop_w = socket.socketpair()

    @property
    def url(self) -> str:
        """Base URL without a slash at its end."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def add(self, *script: Reply) -> None:
        """Append to the script."""
        with self._lock:
            self._script.extend(script)

    def __enter__(self) -> "FakeServer":
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_w.close()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()
        self._stop_r.close()

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _wait(self, sock: socket.socket, seconds: float | None = None) -> bool:
        """True when `sock` is readable, False when the time is over or the server stops."""
        ready, _, _ = select.select([sock, self._stop_r], [], [], seconds)
        return sock in ready and self._stop_r not in ready

    def _accept(self) -> None:
        while self._wait(self._listener):
            sock, _ = self._listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections += 1
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            try:
                while (received := self._read(sock)) is not None:
                    with self._lock:
                        self.requests.append(received)
                        reply = self._next(received)
                    if not self._answer(sock, reply):
                        return
            except OSError:
                self.left.set()

    def _next(self, received: Received) -> Reply:
        if not self._script:
            return json_reply({"error": {"message": "fake server: the script is over"}}, status=500)
        step = self._script[0]
        if isinstance(step, Reply):
            return self._script.pop(0)  # type: ignore[return-value]
        return step(received)

    def _read(self, sock: socket.socket) -> Received | None:
        data = b""
        while b"\r\n\r\n" not in data:
            if not self._wait(sock) or not (piece := sock.recv(65536)):
                return None
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        while len(body) < int(headers.get("content-length", "0")):
            if not self._wait(sock) or not (piece := sock.recv(1 << 20)):
                return None
            body += piece
        method, path, _ = first.split(" ", 2)
        return Received(method, path, headers, body)

    def _answer(self, sock: socket.socket, reply: Reply) -> bool:
        """Send a reply; return whether the connection stays open."""
        if not reply.status:
            return False
        squeeze = _compressor(reply.encoding)
        steps = [squeeze(c) if isinstance(c, bytes) else c for c in reply.chunks]
        if reply.encoding:
            steps.append(squeeze(None))
        headers = dict(reply.headers)
        if reply.encoding:
            headers["content-encoding"] = reply.encoding
        if reply.framing == "chunked":
            headers["transfer-encoding"] = "chunked"
        elif reply.framing == "length":
            headers["content-length"] = str(sum(len(c) for c in steps if isinstance(c, bytes)))
        else:
            headers["connection"] = "close"
        lines = [f"HTTP/1.1 {reply.status} Scripted", *(f"{k}: {v}" for k, v in headers.items()), "", ""]
        sock.sendall("\r\n".join(lines).encode("latin-1"))
        for step in steps:
            if isinstance(step, bytes):
                chunked = reply.framing == "chunked"
                if step:
                    sock.sendall(b"%x\r\n%s\r\n" % (len(step), step) if chunked else step)
            elif not self._act(sock, step):
                return False
        if reply.framing == "chunked":
            sock.sendall(b"0\r\n\r\n")
        return reply.framing != "close"

    def _act(self, sock: socket.socket, step: Pause | Stall | Reset | HangUp) -> bool:
        match step:
            case Pause(seconds):
                if self._wait(sock, seconds) and not sock.recv(1, socket.MSG_PEEK):
                    self.left.set()
                    return False
                return True
            case Stall():
                if self._wait(sock):
                    self.left.set()
                return False
            case Reset():
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
            case HangUp():
                return False


def _compressor(encoding: str) -> Callable[[bytes | None], bytes]:
    if not encoding:
        return lambda chunk: chunk or b""
    engine = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)

    def squeeze(chunk: bytes | None) -> bytes:
        return engine.flush() if chunk is None else engine.compress(chunk) + engine.flush(zlib.Z_SYNC_FLUSH)

    return squeeze


def wait_until(condition: Callable[[], bool], *, seconds: float = 5.0) -> bool:
    """Wait until `condition` holds; return whether it did."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True
