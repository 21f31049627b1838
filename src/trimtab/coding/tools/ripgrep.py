"""Ask ripgrep, or our own walker where there is none, and read its answer while it comes.

    Question ──▶ argv of rg, or of `python -m …walker` (which prints the same) ──▶ records, one by one, to `take`

Both are processes, so a search can be stopped at any moment. The one rule: what is searched doesn't depend on a person's
settings: no configuration file, no global ignore file; hidden files are searched, `.git` is not, ignore files are obeyed.
"""

import base64
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import anyio
import msgspec
from anyio.abc import ByteReceiveStream, Process

TIMEOUT_S = 30.0
_ERROR_BYTES = 16_000
_RECORD_BYTES = 32 << 20
_COMMON = ("--no-config", "--hidden", "--glob=!.git", "--no-require-git", "--no-ignore-global", "--sort=path")
FILES_OF = ("--files", "--null", *_COMMON[:-1])
"""What asks `rg` for all files of a folder, in no order."""


class Bytes(msgspec.Struct, frozen=True):
    """Text, or base64 of bytes that aren't UTF-8: how ripgrep writes both in JSON."""

    text: str = ""
    encoded: str | None = msgspec.field(default=None, name="bytes")

    def value(self) -> bytes:
        """The bytes themselves."""
        return self.text.encode() if self.encoded is None else base64.b64decode(self.encoded)


class Span(msgspec.Struct, frozen=True):
    """Where in a line a match is, in bytes."""

    start: int
    end: int


class LineData(msgspec.Struct, frozen=True):
    """One line of a file."""

    path: Bytes
    lines: Bytes
    line_number: int
    submatches: tuple[Span, ...] = ()


class EndData(msgspec.Struct, frozen=True):
    """The end of a file. `binary_offset` is set when it turned out to be binary."""

    path: Bytes
    binary_offset: int | None = None


class Match(msgspec.Struct, frozen=True, tag_field="type", tag="match"):
    """A line that matches."""

    data: LineData


class Near(msgspec.Struct, frozen=True, tag_field="type", tag="context"):
    """A line near one that matches."""

    data: LineData


class End(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """All matches of a file were given."""

    data: EndData


class Begin(msgspec.Struct, frozen=True, tag_field="type", tag="begin"):
    """A file with a match begins."""


class Summary(msgspec.Struct, frozen=True, tag_field="type", tag="summary"):
    """The last record."""


Record: TypeAlias = Match | Near | End | Begin | Summary
_decoder: msgspec.json.Decoder[Record] = msgspec.json.Decoder(Record)


class Question(msgspec.Struct, frozen=True, omit_defaults=True):
    """What to look for under `path`. Without a pattern: which files there are."""

    path: str
    pattern: str | None = None
    literal: bool = False
    ignore_case: bool = False
    context: int = 0
    max_count: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """How the search ended. `errors` is what it complained about; `dropped` records were too large to take.

    `failed` is an end that isn't ripgrep's way to end; it ends with 2 also when just a folder was unreadable.
    """

    errors: str = ""
    failed: bool = False
    timed_out: bool = False
    dropped: int = 0


def find_rg(path: str | None = None) -> str | None:
    """Return the `rg` that was installed with us, else the one on `path`, else None."""
    return shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg", path=path)


@dataclass(frozen=True, slots=True)
class Engine:
    """What searches: ripgrep at `rg`, else the walker; from the folder `cwd`, for at most `timeout_s` seconds."""

    rg: str | None
    cwd: Path
    timeout_s: float = TIMEOUT_S


async def search(question: Question, take: Callable[[Record], bool], engine: Engine) -> Answer:
    """Give every record of the answer to `take` until it returns False."""
    return await _ask(question, lambda line: take(_decoder.decode(line)), b"\n", engine)


async def list_files(question: Question, take: Callable[[str], bool], engine: Engine) -> Answer:
    """Give the path of every file, in path order, to `take` until it returns False."""
    return await _ask(question, lambda name: take(os.fsdecode(name)), b"\0", engine)


def _argv(question: Question, rg: str | None) -> tuple[str, ...]:
    if rg is None:
        walker = f"{__package__}.walker"
        return (sys.executable, "-P", "-m", walker, os.fsdecode(msgspec.json.encode(_portable(question))))
    if question.pattern is None:
        return (rg, *_COMMON, "--files", "--null", "--", question.path)
    flags = ["--json", "--binary", "--crlf", f"--context={question.context}"]
    flags += ["--fixed-strings"] * question.literal + ["--ignore-case"] * question.ignore_case
    flags += [f"--max-count={question.max_count}"] * bool(question.max_count)
    return (rg, *_COMMON, *flags, "-e", question.pattern, "--", question.path)


def _portable(question: Question) -> Question:
    """JSON has no bytes: an odd path travels in the spelling of the file system's error handler, in Latin-1."""
    return msgspec.structs.replace(question, path=os.fsencode(question.path).decode("latin-1"))


async def _ask(question: Question, take: Callable[[bytes], bool], separator: bytes, engine: Engine) -> Answer:
    complaints = bytearray()
    dropped, ended = 0, False
    async with _started(_argv(question, engine.rg), engine.cwd) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        async with anyio.create_task_group() as group:
            group.start_soon(_collect, process.stderr, complaints)
            with anyio.move_on_after(engine.timeout_s) as limit:
                dropped, ended = await _records(process.stdout, take, separator)
            if ended:
                await process.wait()
            else:
                group.cancel_scope.cancel()
    code = process.returncode
    failed = ended and code not in (0, 1, 2)
    return Answer(complaints.decode("utf-8", "replace").strip(), failed, limit.cancelled_caught, dropped)


async def _records(stream: ByteReceiveStream, take: Callable[[bytes], bool], separator: bytes) -> tuple[int, bool]:
    """Split the stream; return how many records were dropped and whether the end was reached."""
    rest, dropped, skipping = bytearray(), 0, False
    async for chunk in stream:
        rest += chunk
        if separator in chunk:
            *whole, rest = rest.split(separator)
            for record in whole[skipping:]:
                if not take(bytes(record)):
                    return dropped, False
            skipping = False
        if len(rest) > _RECORD_BYTES or skipping:
            dropped += not skipping
            rest, skipping = bytearray(), True
    return dropped, True


async def _collect(stream: ByteReceiveStream, into: bytearray) -> None:
    async for chunk in stream:
        into += chunk[: max(0, _ERROR_BYTES - len(into))]


@asynccontextmanager
async def _started(argv: tuple[str, ...], cwd: Path) -> AsyncIterator[Process]:
    """A process that is dead when the block is left."""
    environment = {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    process = await anyio.open_process(argv, stdin=subprocess.DEVNULL, cwd=cwd, env=environment, start_new_session=True)
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.aclose()
