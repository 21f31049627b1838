"""A Chat Completions server on loopback, in a process of its own, whose answers follow the model's name.

`words-N` answers with N deltas of four characters; `sleepers` first calls `bash` three times with `sleep 2`, then says that it is done. `GET /sizes`
lists the bytes of the request bodies so far. The parent learns the port from the first line of standard output.

Run: python -m benchmarks.fake_server
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

EVENTS_A_WRITE = 50
"""Deltas in one network write: what a fast server's buffer holds."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int

    @property
    def url(self) -> str:
        """What a client takes as `base_url`."""
        return f"http://127.0.0.1:{self.port}/v1"

    def sizes(self) -> list[int]:
        """Bytes of each request body so far."""
        connection = HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/sizes")
        sizes: list[int] = json.loads(connection.getresponse().read())
        connection.close()
        return sizes


@contextmanager
def fake_server() -> Iterator[Server]:
    """Run a server for the length of a `with`."""
    process = subprocess.Popen([sys.executable, "-m", "benchmarks.fake_server"], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield Server(int(process.stdout.readline()))
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def answer(request: dict[str, Any]) -> tuple[bytes, ...]:
    """The writes of one answer."""
    name, _, count = str(request["model"]).partition("-")
    if name == "words":
        return _words(int(count))
    done = any(m.get("role") == "tool" for m in request["messages"])
    return _words(1) if done else _sleepers()


@cache
def _words(count: int) -> tuple[bytes, ...]:
    events = [_event({"role": "assistant", "content": ""}), *(_event({"content": "word"}) for _ in range(count))]
    events += [_event({}, finish="stop"), _usage(count), b"data: [DONE]\n\n"]
    return tuple(b"".join(events[n : n + EVENTS_A_WRITE]) for n in range(0, len(events), EVENTS_A_WRITE))


@cache
def _sleepers() -> tuple[bytes, ...]:
    arguments = json.dumps({"command": "sleep 2", "description": "wait"})
    calls = [
        {"index": n, "id": f"call_{n}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        for n in range(3)
    ]
    return (_event({"tool_calls": calls}), _event({}, finish="tool_calls"), _usage(1), b"data: [DONE]\n\n")


def _event(delta: dict[str, Any], *, finish: str | None = None) -> bytes:
    choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
    return _sse({"choices": choices})


def _usage(output: int) -> bytes:
    return _sse(
        {"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": output, "total_tokens": 1000 + output}}
    )


def _sse(more: dict[str, Any]) -> bytes:
    envelope = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**envelope, **more}).encode() + b"\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sizes: list[int] = []  # noqa: RUF012 - one list for all connections

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.sizes.append(len(body))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for chunk in answer(json.loads(body)):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self) -> None:
        body = json.dumps(self.sizes).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that leaves is nothing to print a traceback for."""


def main() -> None:
    """Serve until killed."""
    server = _Server(("127.0.0.1", 0), _Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
