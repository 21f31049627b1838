"""Ports: everything the loop needs from outside, owned by the loop.

Providers, tools, transcripts and hooks satisfy these by shape; none of them imports this module's siblings, and the loop imports
none of them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from trimtab.agent.events import Error, Event, TurnReason
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message, Part, Text, ToolCall, User
from trimtab.types.models import ModelInfo, ModelRequest, add_costs
from trimtab.types.stream import StreamEvent
from trimtab.types.tools import Cut, ToolSpec
from trimtab.types.usage import Usage

Emit: TypeAlias = Callable[[Event], Awaitable[None]]


class Provider(Protocol):
    """A model one can ask. The stream never raises: failure is its last event (`Ended` with an error)."""

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Send one request and yield what comes back. Closing the iterator closes the connection."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request as it is to be sent. `tokens` counts all it holds, system prompt and tools too; None when nobody counted.

    `news` is what a watcher should hear about how it was made: edits of the context, the budget, notices.
    """

    request: ModelRequest
    tokens: int | None = None
    news: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Spent:
    """What requests beside the conversation took: those for summaries. `usd` is None when a price isn't known."""

    usage: Usage = field(default_factory=Usage)
    usd: float | None = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.usage + other.usage, add_costs(self.usd, other.usd))


@dataclass(frozen=True, slots=True)
class Seat:
    """Who answers: what reaches a model, the model, and how much it thinks."""

    provider: Provider
    model: ModelInfo
    thinking: str | None = None


class Relief(Protocol):
    """Asked when a request failed before anything of an answer came: somebody else may take it."""

    async def instead(self, seat: Seat, failure: ErrorInfo, *, tried: Collection[str], emit: Emit) -> Seat | None:
        """Who answers in place of `seat` from this request on, or None: then the failure stands. `tried` are the models (`PROVIDER/ID`) that failed in this step.

        A seat that is returned is one of which the transcript knows: the request is made anew for it.
        """
        ...


class Transcript(Protocol):
    """The conversation: where messages go, and what the next request shows."""

    async def append(self, messages: Sequence[Message]) -> tuple[str, ...]:
        """Record messages; they are durable when this returns their entry ids. Raises `StoreError`."""
        ...

    async def park(self, call_id: str, question: str) -> str:
        """Record durably that `call_id` waits for a person; return the entry id."""
        ...

    def view(self) -> tuple[Message, ...]:
        """The conversation as it stands: every call answered, in order."""
        ...

    async def prompt(self, request: ModelRequest) -> Prompt:
        """Return `request`, which comes without messages, as it is to be sent: with them, and with no more room for output than is left.

        It may keep the system prompt and the tools of the request before, for the provider's cache; a call of one that is off is refused then.
        Called once before every request, while nothing else is recorded. May take its time (a summary) and record what it changed.
        Raises `ContextFloor`, `BudgetExceeded` or `StoreError`, which end the turn by name.
        """
        ...

    async def reduce(self, request: ModelRequest, refusal: ErrorInfo) -> Prompt | None:
        """Return a smaller request than the last one, which the server refused as too large; None when it can't be made smaller.

        Raises as `prompt` does.
        """
        ...

    def unsettled(self) -> Spent:
        """What making requests smaller took since `settle_up` was asked last; limits are kept by it in the middle of a turn."""
        ...

    async def settle_up(self) -> Spent:
        """What making requests smaller took since this was asked last; asked at the end of each turn, whatever ended it. Never raises."""
        ...


Everything: TypeAlias = Literal["*"]


@dataclass(frozen=True, slots=True)
class Access:
    """What a call touches, so that calls of one step may run side by side.

    Paths are compared as written here, so tools resolve them first; "*" is every path. Two calls conflict when one writes what
    the other reads or writes; a conflicting call waits for the earlier one.
    """

    reads: frozenset[str] | Everything = frozenset()
    writes: frozenset[str] | Everything = frozenset()


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool gives back."""

    parts: tuple[Part, ...]
    is_error: bool = False
    details: dict[str, Any] | None = None
    cut: Cut | None = None

    @staticmethod
    def text(
        text: str, *, is_error: bool = False, details: dict[str, Any] | None = None, cut: Cut | None = None
    ) -> "ToolOutput":
        """An output with one text part."""
        return ToolOutput((Text(text),), is_error=is_error, details=details, cut=cut)


class Deferred(Exception):
    """Raised by a tool or hook: a person must answer this call. The turn parks; the answer arrives by call id."""

    def __init__(self, question: str) -> None:
        super().__init__(question)
        self.question = question


@dataclass(frozen=True, slots=True)
class ToolRun:
    """What a running tool may use. `update` shows live text to watchers and never blocks for long."""

    call_id: str
    update: Callable[[str], Awaitable[None]]


class Tool(Protocol):
    """One tool. `snippet` (one line) and `guidelines` enter the system prompt only while the tool is on."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema."""
        ...

    @property
    def snippet(self) -> str:
        """One line for the system prompt; may be empty."""
        ...

    @property
    def guidelines(self) -> tuple[str, ...]:
        """Sentences for the system prompt."""
        ...

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """What a call with these (already validated) arguments touches. Pure and cheap; must not raise."""
        ...

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Do it. Failure that the model should read is `ToolOutput(is_error=True)`; raising is the same with less care.

        Cancellation must leave no process behind. Raises `Deferred` when a person must answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Proceed:
    """Run the call, with other arguments when `call` is given."""

    call: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """Don't run the call: this is its result (a veto is an answer with `is_error`)."""

    output: ToolOutput


_LET_PAST: ContextVar[Callable[[], None] | None] = ContextVar("let_past", default=None)


def meanwhile() -> None:
    """Say, from within `before_tool`, that this call waits for a person: the calls behind it in the same answer are looked at, and run, meanwhile.

    Those that touch the same things wait nonetheless. The hook may not change its call any more.
    """
    if (let_past := _LET_PAST.get()) is not None:
        let_past()


def set_meanwhile(let_past: Callable[[], None]) -> None:
    """Let `meanwhile` call `let_past` in this task: for whoever runs hooks."""
    _LET_PAST.set(let_past)


class Hooks(Protocol):
    """May veto, change or answer a call before it runs, and change its output after. A hook that raises vetoes the call."""

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Let `call` run, change it, or answer it. Raises `Deferred` when a person must answer."""
        ...

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Return what is recorded as the result of `call`."""
        ...


@dataclass(frozen=True, slots=True)
class NoHooks:
    """Lets everything pass."""

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Let it run."""
        return Proceed()

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Change nothing."""
        return output


@dataclass(frozen=True, slots=True)
class SimpleTool:
    """A tool made of plain values and one function; enough for most."""

    spec: ToolSpec
    handler: Callable[[Mapping[str, Any], ToolRun], Awaitable[ToolOutput]]
    snippet: str = ""
    guidelines: tuple[str, ...] = ()
    accesses: Callable[[Mapping[str, Any]], Access] = field(default=lambda _arguments: Access())

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """What `accesses` says."""
        return self.accesses(arguments)

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """What `handler` does."""
        return await self.handler(arguments, run)


@dataclass(frozen=True, slots=True)
class Closing:
    """What follows when the model says that it is done: it is told `messages` and goes on, or the turn ends for `reason`, with `error` where there is something to say."""

    messages: tuple[User, ...] = ()
    reason: TurnReason = "stop"
    error: Error | None = None


class Closer(Protocol):
    """Asked before a turn ends well: checks what was done, and may send the model back to work."""

    async def begin(self) -> None:
        """A turn begins."""
        ...

    async def resume(self) -> None:
        """A turn goes on that waited for a person's answer."""
        ...

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """Say what follows from an answer without calls. May take its time and tell of it through `emit`; a cancel may come at any point."""
        ...
