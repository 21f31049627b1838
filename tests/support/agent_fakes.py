"""Fakes at the agent's ports: a provider that plays a script, tools made of a function, a transcript that remembers what was durable."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio

from trimtab.agent import Access, Agent, Feed, MemoryTranscript, SimpleTool, ToolOutput, ToolRun
from trimtab.agent.events import Event
from trimtab.types import ModelInfo, ModelRequest, ToolSpec, Usage
from trimtab.types.errors import StoreError
from trimtab.types.messages import Message, StopReason
from trimtab.types.stream import Ended, PartDelta, PartEnded, PartStarted, StreamEvent, make_call

MODEL = ModelInfo(provider="fake", id="model", api="scripted")
Step: TypeAlias = StreamEvent | Exception | Callable[[], Awaitable[None]]


def says(text: str, *, part: int = 0) -> list[Step]:
    """A text part, streamed in two halves."""
    half = len(text) // 2
    return [PartStarted(part, "text"), PartDelta(part, "text", text[:half]), PartDelta(part, "text", text[half:])]


def calls(name: str, raw: str = "{}", *, call_id: str, part: int = 0) -> list[Step]:
    """A call, streamed whole."""
    return [
        PartStarted(part, "tool_arguments", call_id, name),
        PartDelta(part, "tool_arguments", raw),
        PartEnded(part, make_call(call_id, name, raw)),
    ]


def ends(stop_reason: StopReason = "stop", **more: Any) -> list[Step]:
    """The end of an answer that cost ten tokens in and two out."""
    return [Ended(stop_reason, **({"usage": Usage(input=10, output=2)} | more))]


class Script:
    """A provider that plays one list of steps per request: events, exceptions to raise, functions to await."""

    def __init__(self, *answers: list[Step]) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.closed = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.requests.append(request)
        steps = self.answers.pop(0)
        try:
            for step in steps:
                await anyio.lowlevel.checkpoint()
                if isinstance(step, Exception):
                    raise step
                if callable(step):
                    await step()
                else:
                    yield step
        finally:
            self.closed += 1


class DiskTranscript(MemoryTranscript):
    """A transcript whose appends take a moment, may fail from the nth on, and are counted."""

    def __init__(self, messages: Sequence[Message] = (), *, fails_at: int | None = None) -> None:
        super().__init__(messages)
        self.appends: list[tuple[Message, ...]] = []
        self.durable: set[str] = set()
        self.fails_at = fails_at

    @property
    def failed(self) -> bool:
        """True when the next append would fail."""
        return self.fails_at is not None and len(self.appends) >= self.fails_at

    async def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        await anyio.lowlevel.checkpoint()
        if self.failed:
            raise StoreError("disk full", hint="make room")
        self.appends.append(tuple(messages))
        ids = await super().append(messages)
        self.durable.update(ids)
        return ids

    async def park(self, call_id: str, question: str) -> str:
        await anyio.lowlevel.checkpoint()
        entry_id = await super().park(call_id, question)
        self.durable.add(entry_id)
        return entry_id


class RecordingFeed(Feed):
    """A feed that also keeps every event, and can check something at the moment of each."""

    def __init__(self, check: Callable[[Event], None] = lambda _event: None, *, patience_s: float = 5.0) -> None:
        super().__init__(patience_s=patience_s)
        self.events: list[Event] = []
        self.check = check

    async def publish(self, event: Event) -> None:
        self.check(event)
        self.events.append(event)
        await super().publish(event)

    def types(self) -> list[str]:
        """The event types, in order."""
        return [str(event.__struct_config__.tag) for event in self.events]

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one type."""
        return [event for event in self.events if type(event) is kind]


Handler: TypeAlias = Callable[[Mapping[str, Any], ToolRun], Awaitable[ToolOutput]]


def tool(
    name: str,
    handler: Handler | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    accesses: Callable[[Mapping[str, Any]], Access] = lambda _arguments: Access(),
) -> SimpleTool:
    """A tool; by default it says `NAME done`."""

    async def done(arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        return ToolOutput.text(f"{name} done")

    return SimpleTool(ToolSpec(name, "", dict(parameters or {"type": "object"})), handler or done, accesses=accesses)


def agent_of(script: Script, *tools: SimpleTool, **more: Any) -> tuple[Agent, RecordingFeed]:
    """An agent on a script with a feed that remembers."""
    feed = more.pop("feed", None) or RecordingFeed()
    return Agent(script, model=MODEL, tools=tools, feed=feed, **more), feed
