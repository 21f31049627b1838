"""A session for tests of the engine: a log in memory, an outside that answers as it is told to, and a count of what was asked.

Outside(record=…, summarize=…, consult=…, keep=…) ──answers──▶ run(plan, log, outside)
Session ──say, work, prepare──▶ what an agent does between two requests
"""

import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any, TypeVar

from trimtab.context.archive import Archive
from trimtab.context.asks import (
    Answer,
    Ask,
    Consent,
    Consented,
    Consult,
    Failed,
    Keep,
    Kept,
    Record,
    Recorded,
    Summarize,
)
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.context.prepared import Prepared
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.window.fold import fold
from trimtab.context.window.view import View
from trimtab.types.codec import decode_line
from trimtab.types.entries import CustomEntry, EditEntry
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Part, Text, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

T = TypeVar("T")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
MOST_ASKS = 200
"""No step asks as often as this."""


@dataclass(slots=True)
class Outside:
    """Whoever drives an engine. Each field answers one kind of ask; None: the way a healthy store does, and nobody else is there."""

    record: Callable[[Record], Answer | None] | None = None
    summarize: Callable[[Summarize], Answer] | None = None
    consult: Callable[[Consult], Answer] | None = None
    keep: Callable[[Keep], Answer] | None = None
    asked: list[Ask] = field(default_factory=list)

    def answer(self, ask: Ask, log: MemoryLog) -> Answer:
        """Answer one ask."""
        self.asked.append(ask)
        assert len(self.asked) < MOST_ASKS, "the engine asks without end"
        match ask:
            case Record():
                said = self.record(ask) if self.record else None
                return Recorded(log.record(ask.values)) if said is None else said
            case Summarize():
                return self.summarize(ask) if self.summarize else Failed("no model is reachable")
            case Consent():
                return Consented()
            case Consult():
                return self.consult(ask) if self.consult else Failed("no policy is reachable")
            case Keep():
                return self.keep(ask) if self.keep else Kept({name: f"/kept/{name}.txt" for name in ask.texts})


def run(plan: Generator[Ask, Answer, T], log: MemoryLog, outside: Outside | None = None) -> T:
    """Drive a plan of the engine to its end."""
    outside = outside or Outside()
    answer: Answer | None = None
    while True:
        try:
            ask = next(plan) if answer is None else plan.send(answer)
        except StopIteration as stop:
            value: T = stop.value
            return value
        answer = outside.answer(ask, log)


def model(window: int = 20_000, *, api: Any = "anthropic", max_output: int = 2_000, **more: Any) -> ModelInfo:
    """A model with such a window and no prices."""
    return ModelInfo("p", "m", api, context_window=window, max_output=max_output, **more)


def lines(tokens: int, *, seed: int = 0) -> str:
    """A text of about so many tokens, of lines as tools return them; another `seed` gives other names."""
    made = (f"src/mod_{seed}_{n}.py:{n * 7 % 400}: value_{n} = compute({n * 31 % 997})" for n in count())
    out: list[str] = []
    size = 0
    for line in made:
        if size >= tokens:
            return "\n".join(out)
        out.append(line)
        size += 24
    raise AssertionError


@dataclass(slots=True)
class Session:
    """One session of an engine: what an agent would do around it."""

    engine: Engine
    system: str = "You are helpful."
    tools: tuple[ToolSpec, ...] = ()
    log: MemoryLog = field(default_factory=MemoryLog)
    outside: Outside = field(default_factory=Outside)
    calls: int = 0

    @property
    def view(self) -> View:
        """What a model sees now."""
        return self.log.view

    @property
    def request(self) -> ModelRequest:
        """The request without its messages."""
        return ModelRequest(self.engine.model, (), system=self.system, tools=self.tools)

    def say(self, text: str, **more: Any) -> str:
        """A prompt; returns its id."""
        return self.log.append([user(text, **more)])[0]

    def answer(self, *parts: Part, usage: Usage | None = None) -> Assistant:
        """An answer of the model."""
        calls = any(isinstance(part, ToolCall) for part in parts)
        made = Assistant(parts, "tool_use" if calls else "stop", usage=usage, provider="p", model="m")
        self.engine.answered(made)
        self.log.append([made])
        return made

    def work(
        self, *texts: str | ToolResult, name: str = "bash", arguments: dict[str, Any] | None = None, error: bool = False
    ) -> list[str]:
        """One step: an answer with a call for each text, and its results. Returns the ids of the calls."""
        made: list[ToolCall] = []
        for _ in texts:
            self.calls += 1
            given = {"command": f"run {self.calls}"} if arguments is None else arguments
            made.append(call_of(f"c{self.calls}", name, given))
        self.answer(Text("looking"), *made)
        for one, text in zip(made, texts, strict=True):
            result = text if isinstance(text, ToolResult) else ToolResult(one.id, name, (Text(text),), is_error=error)
            self.log.append([self.engine.admit(result)])
        return [one.id for one in made]

    def prepare(self, *, after: ErrorInfo | None = None) -> Prepared:
        """The next request."""
        return run(self.engine.prepare(self.view, self.request, after=after), self.log, self.outside)

    def act(self, *actions: Any, author: str = "user") -> Any:
        """A wish of a person or of the model."""
        return run(self.engine.act(self.view, self.request, actions, author=author), self.log, self.outside)

    def revert(self, target: str) -> View | str:
        """Take an edit back."""
        return run(self.engine.revert(self.view, self.request, target), self.log, self.outside)

    @property
    def edits(self) -> list[EditEntry]:
        """The edits of the log, in order."""
        return [e.value for e in self.log.archive.path() if isinstance(e.value, EditEntry)]

    @property
    def remarks(self) -> list[dict[str, Any]]:
        """What the engine said in the log about itself."""
        values = [e.value for e in self.log.archive.path()]
        return [v.data for v in values if isinstance(v, CustomEntry) and v.kind == "context"]


def host_of(session: Session) -> EngineHost:
    """What the context tools of the session work with."""
    return EngineHost(
        session.engine,
        view=lambda: session.view,
        request=lambda: session.request,
        drive=lambda plan: run(plan, session.log, session.outside),
        memos=MemoDict(now=lambda: NOW),
        memories=Memories(None, now=lambda: NOW, redact=lambda text: text),
    )


def call_of(call_id: str, name: str, arguments: dict[str, Any]) -> ToolCall:
    """A call with its arguments in both forms."""
    return ToolCall(call_id, name, arguments, json.dumps(arguments))


def folded_again(log: MemoryLog) -> View:
    """The view of the log's raw lines, decoded and folded from the beginning."""
    archive = Archive()
    for number, entry in enumerate(log.archive, 1):
        again = decode_line(entry.raw)
        assert again is not None
        archive.add(again, line=number)
    return fold(archive.path(), whole=lambda message: message).view


def shown_texts(messages: Sequence[Message]) -> str:
    """Everything that these messages say, arguments included."""
    parts = [part for message in messages for part in message.parts]
    return "\n".join(p.text if isinstance(p, Text) else p.raw for p in parts if isinstance(p, Text | ToolCall))
