"""What `engine.py` measures, each in a process of its own: prints seconds (or MB per second).

Run: python -m benchmarks.engine_work step-COUNT|edit-COUNT|parse-COUNT|fold-COUNT|count
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator

from trimtab.context.actions import Action
from trimtab.context.archive import Archive
from trimtab.context.counting.counter import Counter
from trimtab.context.embed.log_in_memory import MemoryLog, drive
from trimtab.context.engine import Engine
from trimtab.context.window.fold import fold
from trimtab.types.codec import decode_line
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, user
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest, Price

LINE = "def handle(request):  # a line of code such as tools return, sixty\n"
TIMES = 51
MODEL = ModelInfo(
    "p",
    "m",
    "anthropic",
    context_window=100_000_000,
    max_output=2_000,
    prices=(Price(3, 15, 0.3, 3.75),),
    cache=CacheRules("explicit", 1024, 1, 20, 4, 300),
)


def step(items: int) -> float:
    """An answer with a call, its result, and the next request, far below the soft threshold: the median of many."""
    engine, log, request = _session(items)
    took = []
    for number in range(TIMES):
        answer, result = _step(items + number)
        start = time.perf_counter()
        engine.answered(answer)
        log.append([answer, engine.admit(result)])
        drive(engine.prepare(log.view, request), log)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def edit(items: int) -> float:
    """One wish of a person: a result that stands somewhere is hidden, planned, checked and recorded."""
    engine, log, request = _session(items)
    took = []
    for number in range(TIMES):
        call_id = f"c{items // 4 + 7 * number}"
        start = time.perf_counter()
        outcome = drive(engine.act(log.view, request, [Action("elide", (call_id,))], author="user"), log)
        took.append(time.perf_counter() - start)
        if not outcome.done:
            raise RuntimeError(outcome.refused)
        drive(engine.prepare(log.view, request), log)
    return statistics.median(took)


def after_edit(items: int) -> float:
    """The request behind such an edit."""
    engine, log, request = _session(items)
    took = []
    for number in range(TIMES):
        drive(engine.act(log.view, request, [Action("elide", (f"c{items // 4 + 7 * number}",))], author="user"), log)
        start = time.perf_counter()
        drive(engine.prepare(log.view, request), log)
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def parse(entries: int) -> float:
    """The lines of a session as Python values."""
    raws = _lines(entries)
    start = time.process_time()
    values = [json.loads(raw) for raw in raws]
    return (time.process_time() - start) if values else 0.0


def whole_fold(entries: int) -> float:
    """The lines of a session as a tree, and its view from the root."""
    raws = _lines(entries)
    start = time.process_time()
    archive = Archive()
    for number, raw in enumerate(raws, 1):
        entry = decode_line(raw)
        if entry is not None:
            archive.add(entry, line=number)
    fold(archive.path(), whole=lambda message: message).view.messages()
    return time.process_time() - start


def count(_: int) -> float:
    """MB of text (10^6 bytes) that are counted in a second."""
    counter = Counter(MODEL)
    texts = [LINE * 200 + str(n) for n in range(200)]
    start = time.process_time()
    for text in texts:
        counter.text(text)
    return sum(map(len, texts)) / 1e6 / (time.process_time() - start)


def _session(items: int) -> tuple[Engine, MemoryLog, ModelRequest]:
    engine, log = Engine(MODEL, session_id="s"), MemoryLog()
    request = ModelRequest(MODEL, (), system="You are helpful.")
    log.append([user("do it"), *(m for n in range(items // 2) for m in _step(n))])
    drive(engine.prepare(log.view, request), log)
    return engine, log, request


def _step(number: int) -> tuple[Assistant, ToolResult]:
    arguments = {"path": f"src/module_{number}.py"}
    call = ToolCall(f"c{number}", "read", arguments, json.dumps(arguments))
    answer = Assistant((Text(LINE * 4), call), "tool_use", provider="p", model="m")
    return answer, ToolResult(f"c{number}", "read", (Text(LINE * 10 + str(number)),), is_error=False)


def _lines(entries: int) -> list[bytes]:
    log = MemoryLog()
    log.append([user("do it"), *_messages(entries - 1)])
    return [entry.raw for entry in log.archive]


def _messages(count: int) -> Iterator[Message]:
    for number in range(count // 2):
        yield from _step(number)


WORK = {"step": step, "edit": edit, "after_edit": after_edit, "parse": parse, "fold": whole_fold, "count": count}

if __name__ == "__main__":
    name, _, size = sys.argv[1].partition("-")
    print(WORK[name](int(size or 0)))
