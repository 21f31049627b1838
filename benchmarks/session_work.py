"""What `sessions.py` measures, each in a process of its own so that its memory is its own: prints seconds.

Run: python -m benchmarks.session_work parse|load|view|append FILE
"""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from trimtab.coding.logs import now
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Text, User

APPENDS = 101


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


WORK: dict[str, Callable[[Path], float]] = {"parse": parse, "load": load, "view": view, "append": append}

if __name__ == "__main__":
    print(WORK[sys.argv[1]](Path(sys.argv[2])))
