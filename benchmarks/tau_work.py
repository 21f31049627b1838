"""What `sessions.py` measures of tau, run by tau's own Python: opening a session with its storage, and what one more message makes it do. Prints seconds.

Tau appends a message and then reads the whole file again, for each message of a turn; so both are timed, as one message.

Run: python -m benchmarks.tau_work open|message FILE
"""

import asyncio
import statistics
import sys
import time
from pathlib import Path

from tau_agent.session.storage import JsonlSessionStorage

MESSAGES = 3


async def opened(path: Path) -> float:
    """Read and validate every entry: CPU seconds."""
    start = time.process_time()
    await JsonlSessionStorage(path).read_all()
    return time.process_time() - start


async def message(path: Path) -> float:
    """Append one entry, fsync included, and read all: the median wall time."""
    storage = JsonlSessionStorage(path)
    last = (await storage.read_all())[-1]
    took = []
    for _ in range(MESSAGES):
        start = time.perf_counter()
        await storage.append(last)
        await storage.read_all()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


if __name__ == "__main__":
    print(asyncio.run({"open": opened, "message": message}[sys.argv[1]](Path(sys.argv[2]))))
