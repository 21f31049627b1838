"""What `sessions.py` measures, each in a process of its own so that its memory is its own: prints seconds.

Run: python -m benchmarks.session_work parse|load|view|first|small|turn|append|write-COUNT FILE
"""

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.coding.logs import now
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User

if TYPE_CHECKING:
    from trimtab.coding.session import Session

APPENDS = 101
TURNS = 30
LINE = "def handle(request):  # a line of code such as tools return, sixty\n"


def parse(path: Path) -> float:
    """Read the file and turn each line into Python values."""
    start = time.process_time()
    values = [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return (time.process_time() - start) if values else 0.0


def load(path: Path) -> float:
    """Open the session."""
    start = time.process_time()
    log = SessionLog.open(path, now=now)
    seconds = time.process_time() - start
    log.close()
    return seconds


def view(path: Path) -> float:
    """Open the session and make the messages of the next request."""
    start = time.process_time()
    log = SessionLog.open(path, now=now)
    log.view()
    seconds = time.process_time() - start
    log.close()
    return seconds


def first(path: Path, *, window: int = 100_000_000) -> float:
    """Open a whole session, tools and all, and make its first request, in a window that holds it."""

    async def request(session: "Session") -> None:
        await session.context.transcript.prompt(session.context.request())

    return _in_session(path, request, window=window)


def small(path: Path) -> float:
    """The same in a window of 32,000 tokens, which takes a compaction: its edits are written into the file."""
    return first(path, window=32_000)


def turn(path: Path) -> float:
    """A prompt and its answer, in a window of 32,000 tokens: the median of many, behind those that load what counts."""
    took: list[float] = []

    async def turns(session: "Session") -> None:
        for n in range(TURNS + 2):
            start = time.process_time()
            await session.prompt(f"hi {n}")
            took.append(time.process_time() - start)

    _in_session(path, turns, window=32_000)
    return statistics.median(took[2:])


def _in_session(path: Path, work: "Callable[[Session], Awaitable[None]]", *, window: int) -> float:
    """Open a session and do some work in it."""
    import anyio

    from trimtab.coding.choose import AtFile
    from trimtab.coding.opening import open_session
    from trimtab.coding.project import open_project
    from trimtab.providers.scripted import ScriptedProvider

    row = {"id": "words-1", "context_window": window, "max_output": 1_000}
    flags = {"model": "local/words-1", "providers": {"local": {"base_url": "http://127.0.0.1:9/v1", "models": [row]}}}
    project = open_project(path.parent, overrides=flags, env={"TRIMTAB_HOME": str(path.parent / "home")})
    answers = ScriptedProvider([{"text": "ok"}] * (TURNS + 2))

    async def run() -> float:
        start = time.process_time()
        async with open_session(project, AtFile(path), provider=answers) as session:
            await work(session)
            return time.process_time() - start

    return anyio.run(run)


def append(path: Path) -> float:
    """One more message, fsync included: the median wall time of many."""
    log = SessionLog.open(path, now=now)
    log.view()
    took = []
    for n in range(APPENDS):
        start = time.perf_counter()
        log.append_messages([User((Text(f"message {n}"),))])
        took.append(time.perf_counter() - start)
    log.close()
    return statistics.median(took)


def write(path: Path, entries: int) -> float:
    """Make a session file with so many messages."""
    start = time.perf_counter()
    log = SessionLog.create(path, str(path.parent), now=now)
    batch = []
    for message in _messages(entries):
        batch.append(message)
        if len(batch) == 1000:
            log.append_messages(batch)
            batch = []
    log.append_messages(batch)
    log.close()
    return time.perf_counter() - start


def _messages(count: int) -> Iterator[Message]:
    """Prompts, each followed by two calls with their results."""
    for n in range(count):
        if n % 5 == 0:
            yield User((Text(f"prompt {n}: " + LINE * 10),))
        elif n % 5 in (1, 3):
            arguments = f'{{"path": "src/module_{n}.py"}}'
            yield Assistant(
                (Text(LINE * 9), ToolCall(f"call_{n}", "read", {"path": f"src/module_{n}.py"}, arguments)),
                stop_reason="tool_use",
                provider="local",
                model="words-1",
            )
        else:
            yield ToolResult(f"call_{n - 1}", "read", (Text(LINE * 11),), is_error=False)


WORK: dict[str, Callable[[Path], float]] = {
    "parse": parse,
    "load": load,
    "view": view,
    "first": first,
    "small": small,
    "turn": turn,
    "append": append,
}

if __name__ == "__main__":
    name, _, count = sys.argv[1].partition("-")
    print(write(Path(sys.argv[2]), int(count)) if name == "write" else WORK[name](Path(sys.argv[2])))
