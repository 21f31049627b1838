"""What `engine.py` measures, each in a process of its own: prints seconds (or MB per second).

Run: python -m benchmarks.engine_work step-COUNT|edit-COUNT|parse-COUNT|fold-COUNT|count
"""

import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

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
    session, took = _session(items), []
    for number in range(TIMES):
        answer, result = _step(items + number)
        start = time.perf_counter()
        session.answer(answer, result)
        session.prepare()
        took.append(time.perf_counter() - start)
    return statistics.median(took)


def edit(items: int) -> float:
    """One wish of a person: a result that stands somewhere is hidden, planned, checked and recorded."""
    took = []
    for session, call_id in _to_hide(items):
        start = time.perf_counter()
        session.hide(call_id)
        took.append(time.perf_counter() - start)
        session.prepare()
        session.answer(*_step(items + len(took)))
    return statistics.median(took)


def after_edit(items: int) -> float:
    """The request behind such an edit."""
    took = []
    for session, call_id in _to_hide(items):
        session.hide(call_id)
        start = time.perf_counter()
        session.prepare()
        took.append(time.perf_counter() - start)
        session.answer(*_step(items + len(took)))
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


@dataclass(frozen=True, slots=True)
class _Session:
    """A conversation, and what manages it."""

    engine: Engine
    log: MemoryLog
    request: ModelRequest

    def prepare(self) -> None:
        """The next request."""
        drive(self.engine.prepare(self.log.view, self.request), self.log)

    def answer(self, answer: Assistant, result: ToolResult) -> None:
        """The request was answered with a call, and the call by its tool."""
        self.engine.answered(answer)
        self.log.append([answer, self.engine.admit(result)])

    def learn(self) -> None:
        """Take in what the answer reported; a step does so, whoever edits afterwards doesn't pay for it."""
        self.engine.look(self.log.view, self.request)

    def hide(self, call_id: str) -> None:
        """A person's wish. Raises `RuntimeError` when nothing comes of it."""
        wish = Action("elide", (call_id,))
        outcome = drive(self.engine.act(self.log.view, self.request, [wish], author="user"), self.log)
        if not outcome.done:
            raise RuntimeError(outcome.refused)


def _session(items: int) -> _Session:
    session = _Session(Engine(MODEL, session_id="s"), MemoryLog(), ModelRequest(MODEL, (), system="You are helpful."))
    session.log.append([user("do it"), *(m for n in range(items // 2 - 1) for m in _step(n))])
    session.prepare()
    session.answer(*_step(items // 2 - 1))
    session.prepare()
    return session


def _to_hide(items: int) -> Iterator[tuple[_Session, str]]:
    """So many results to hide, each once, the first of them a good way from the end; a short session gives few, so another one follows."""
    left = TIMES
    while left > 0:
        session = _session(items)
        for number in range(items // 4, min(items // 2, items // 4 + left)):
            left -= 1
            session.learn()
            yield session, f"c{number}"


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
