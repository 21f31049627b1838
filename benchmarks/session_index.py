"""What it costs to find a session among many: a list and a search of 1,000 and 10,000 sessions of 20 entries, beside reading every file; by CPU, of which all of it is one thread.

Alone: `PYTHONPATH=src:. python -m benchmarks.session_index [NUMBER…]`.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import TypeVar

from benchmarks.table import Row
from trimtab.context.stores.folder import SessionFolder
from trimtab.sessions.index.index import SessionIndex
from trimtab.sessions.index.query import parse
from trimtab.types.codec import encode_entry
from trimtab.types.entries import FORMAT, Header, MessageEntry
from trimtab.types.messages import Assistant, Text, user
from trimtab.types.usage import Usage

NUMBERS = (1_000, 10_000)
ENTRIES = 20
_TEXT_WORDS = 40
_CWD = "/project"
_TIME = "2026-01-01T00:00:00.000Z"
_RUNS = 5
_GOAL_S = 1.0
"""Seconds in which a list is there at once."""
T = TypeVar("T")


def session_index_rows(numbers: Sequence[int] = NUMBERS) -> Iterator[Row]:
    """List and search, the first time and later."""
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="trimtab-bench-") as name:
            root = Path(name)
            folder = SessionFolder(root / "sessions", root / "bodies", now=lambda: datetime.now(UTC))
            words = _write(folder, number)
            yield from _rows(folder, SessionIndex(root / "index.sqlite", folder), words, number)


def _rows(folder: SessionFolder, index: SessionIndex, words: Sequence[str], number: int) -> Iterator[Row]:
    what = f"{number:,} sessions"
    scanned, scan = _timed(lambda: folder.listing(_CWD), 1)
    first, _ = _timed(lambda: index.listing(_CWD), 1)
    later, found = _timed(lambda: index.listing(_CWD), _RUNS)
    assert found == scan
    yield Row(f"list {what}, reading each", f"{scanned:.2f} s CPU")
    yield Row(f"list {what}, the first time", f"{first:.2f} s CPU")
    yield Row(f"list {what}", f"{later * 1000:.0f} ms CPU", f"<= {_GOAL_S:g} s", later <= _GOAL_S)
    first, _ = _timed(lambda: index.search(parse(words[0]), _CWD), 1)
    rare, hits = _timed(lambda: index.search(parse(f"{words[1]} {words[2]}"), _CWD), _RUNS)
    wide, _ = _timed(lambda: index.search(parse(f"{words[3][:2]}*"), _CWD), _RUNS)
    size = index.path.stat().st_size / 1e6
    text = sum(file.stat().st_size for file in folder.paths(_CWD)) / 1e6
    yield Row(f"search {what}, the first time", f"{first:.1f} s CPU for {text:.0f} MB of files, {size:.0f} MB of index")
    yield Row(f"search {what}, two words", f"{rare * 1000:.0f} ms CPU, {len(hits.hits)} places")
    yield Row(f"search {what}, the beginning of many words", f"{wide * 1000:.0f} ms CPU")


def _write(folder: SessionFolder, number: int) -> Sequence[str]:
    """Make the sessions; return the words that they are made of."""
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 9))) for _ in range(8_000)]
    place = folder.folder_of(_CWD)
    place.mkdir(parents=True)
    for session in range(number):
        session_id = f"{session:016x}"
        lines = [encode_entry(Header(session_id, _CWD, _TIME, FORMAT))]
        for entry in range(ENTRIES):
            text = " ".join(chance.choices(words, k=_TEXT_WORDS))
            usage = Usage(1_000 + entry, 50, cache_read=10 * entry)
            answer = Assistant((Text(text),), "stop", usage=usage, model="claude-sonnet-4-5", provider="anthropic")
            message = answer if entry % 2 else user(text)
            parent = f"{session_id}-{entry - 1}" if entry else None
            lines.append(
                encode_entry(MessageEntry(id=f"{session_id}-{entry}", parent=parent, time=_TIME, message=message))
            )
        (place / f"20260101T000000Z_{session_id}.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    return words


def _timed(work: Callable[[], T], runs: int) -> tuple[float, T]:
    """The median of the seconds of CPU that it took, and what it gave."""
    taken: list[float] = []
    for _ in range(runs):
        begun = time.process_time()
        result = work()
        taken.append(time.process_time() - begun)
    return median(taken), result


if __name__ == "__main__":
    for row in session_index_rows([int(word) for word in sys.argv[1:]] or NUMBERS):
        print(f"{row.what}: {row.measured}", flush=True)
