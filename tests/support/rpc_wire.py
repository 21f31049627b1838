"""A client of `trimtab --mode rpc` as small as one can be: lines out, lines in, to a server in a thread of this process or in a process of its own.

with wired(cli, model=script) as wire:          # or: with started(cli, "--model", script) as (wire, process)
    wire.ask("get_state")["sessionId"]
    wire.prompt("hi")              # the records up to agent_settled
"""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from threading import Thread
from typing import Any, TypeAlias

import anyio

from support.cli import Cli
from trimtab.frontends.cli.options import Flags
from trimtab.frontends.cli.start import open_flags
from trimtab.frontends.rpc.framing import LineReader
from trimtab.frontends.rpc.outbox import Outbox
from trimtab.frontends.rpc.serve import converse

Json: TypeAlias = dict[str, Any]
LIMIT_S = 40.0


class Gone(AssertionError):
    """The server has closed its end."""


@contextmanager
def wired(cli: Cli, **flags: Any) -> Iterator["Wire"]:
    """Serve in a thread of this process; at the end the server's input is closed, and it has to go by itself."""
    (there, ours), (mine, here) = os.pipe(), os.pipe()
    wire = Wire(ours, mine)
    codes: list[Any] = []

    def serve() -> None:
        project, given = open_flags(Flags(**flags)), Flags(**flags).choice()
        work = partial(converse, project, given, LineReader(there), Outbox(here), signals=False)
        try:
            codes.append(anyio.run(work))
        finally:
            os.close(here)
            os.close(there)

    with cli._here():
        thread = Thread(target=serve)
        thread.start()
        try:
            yield wire
            wire.leave()
        finally:
            wire.hang_up()
            os.close(mine)
            thread.join(LIMIT_S)
    assert codes == [0]


@contextmanager
def started(cli: Cli, *args: str) -> Iterator[tuple["Wire", "subprocess.Popen[bytes]"]]:
    """Serve in a process of its own, which is killed if it doesn't go by itself."""
    process = cli.start("--mode", "rpc", *args, stdin=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    wire = Wire(os.dup(process.stdin.fileno()), process.stdout.fileno())
    process.stdin.close()
    try:
        yield wire, process
    finally:
        wire.hang_up()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
        process.stderr.close()


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Wait for a process; its exit code, and what it said on standard error."""
    code = process.wait(LIMIT_S)
    assert process.stderr is not None
    return code, process.stderr.read().decode()


@dataclass
class Wire:
    """The client's ends. `seen` are all records so far, `read` how many of them were waited for."""

    to: int
    of: int
    seen: list[Json] = field(default_factory=list)
    read: int = 0
    closed: bool = False
    _rest: bytes = b""
    _number: int = 0

    def hang_up(self) -> None:
        """Close the server's input."""
        if not self.closed:
            self.closed = True
            os.close(self.to)

    def leave(self) -> list[Json]:
        """Hang up, and read what is left."""
        self.hang_up()
        return self.rest()

    def rest(self) -> list[Json]:
        """Read to the end."""
        before = len(self.seen)
        try:
            while True:
                self.next()
        except Gone:
            return self.seen[before:]

    def raw(self, data: bytes) -> None:
        """Write bytes."""
        while data:
            data = data[os.write(self.to, data) :]

    def send(self, kind: str, /, **fields: Any) -> str:
        """Send a command; return its id."""
        self._number += 1
        name = str(fields.pop("id", f"c{self._number}"))
        self.raw(json.dumps({"id": name, "type": kind, **fields}).encode() + b"\n")
        return name

    def next(self) -> Json:
        """The next record. Raises `Gone` at the end."""
        until = time.monotonic() + LIMIT_S
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.of], [], [], max(until - time.monotonic(), 0))
            assert ready, f"nothing more came; so far: {self.seen[-3:]}"
            data = os.read(self.of, 1 << 16)
            if not data:
                assert not self._rest, f"a torn last line: {self._rest!r}"
                raise Gone
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        record: Json = json.loads(line)
        self.seen.append(record)
        return record

    def until(self, wanted: Callable[[Json], bool]) -> list[Json]:
        """The records that weren't waited for yet, up to the wanted one."""
        place = self.read
        while True:
            while place < len(self.seen):
                place += 1
                if wanted(self.seen[place - 1]):
                    found, self.read = self.seen[self.read : place], place
                    return found
            self.next()

    def event(self, kind: str, **fields: Any) -> Json:
        """The next record of that type with these fields."""
        return self.until(lambda r: r["type"] == kind and all(r.get(k) == v for k, v in fields.items()))[-1]

    def response(self, name: str) -> Json:
        """The answer to a command, wherever it came."""
        while True:
            for record in self.seen:
                if record["type"] == "response" and record.get("id") == name:
                    return record
            self.next()

    def ask(self, kind: str, /, **fields: Any) -> Any:
        """Send a command and return the data of its answer."""
        answer = self.response(self.send(kind, **fields))
        assert answer["success"], answer
        return answer.get("data")

    def fail(self, kind: str, /, **fields: Any) -> str:
        """Send a command that is refused; return why."""
        answer = self.response(self.send(kind, **fields))
        assert not answer["success"], answer
        assert set(answer) == {"id", "type", "command", "success", "error"}
        return str(answer["error"])

    def prompt(self, message: str, **fields: Any) -> list[Json]:
        """Say something and return the records up to the end of it."""
        self.read = len(self.seen)
        assert self.ask("prompt", message=message, **fields) == {"disposition": "started"}
        return self.until(lambda r: r["type"] == "agent_settled")

    def reply(self, dialog: Json, **answer: Any) -> None:
        """Answer a dialog."""
        self.raw(json.dumps({"type": "extension_ui_response", "id": dialog["id"], **answer}).encode() + b"\n")


def kinds(records: list[Json]) -> list[str]:
    """The types of records in order, without our own and without answers."""
    return [r["type"] for r in records if not r["type"].startswith("trimtab.") and r["type"] != "response"]


def notices(records: list[Json]) -> list[str]:
    """What the person was told."""
    return [r["message"] for r in records if r["type"] == "extension_ui_request" and r["method"] == "notify"]
