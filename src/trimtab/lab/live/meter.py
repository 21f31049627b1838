"""The meter: what each request costs, by our own count and model of the cache, whoever answers it.

    request ──counted, message by message──▶ shape ──till──▶ read, written, fresh   ┐
    answer  ──counted────────────────────────────────────────▶ output               ├─▶ Paid
    a request for a summary: behind the conversation through the same cache, of a transcript all fresh ┘

So tiers can be compared: T0 and T1 are billed by the same till. What an endpoint reports is kept beside it. The scripted agent reports what is counted here, and the
engine learns from that as it learns from any provider.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import msgspec

from trimtab.agent.ports import Provider
from trimtab.coding.models import close_provider
from trimtab.context.counting.counter import Counter
from trimtab.context.economics.shapes import RequestShape, Segment, key_of, shape_of
from trimtab.lab.live.agent import wants_summary
from trimtab.sessions.replay.till import Till, charged
from trimtab.types.codec import encode_message
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelInfo, ModelRequest, Price, cost_usd
from trimtab.types.stream import Assembler, Ended, StreamEvent
from trimtab.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Paid:
    """One request that was answered. `usage` is our count, `reported` the provider's; `shape` is the request as a cache sees it, `fixed` the tokens in front of its messages."""

    usage: Usage
    shape: RequestShape
    fixed: int
    summary: bool = False
    reported: Usage | None = None


@dataclass(slots=True)
class Meter:
    """Counts the requests of one session for `model`, at whose prices and cache rules they are paid."""

    model: ModelInfo
    counter: Counter
    paid: list[Paid] = field(default_factory=list)
    _till: Till = field(init=False)
    _known: dict[int, tuple[Message, Segment]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with nothing in the cache."""
        self._till = Till(self.model)

    def spent(self, prices: tuple[Price, ...]) -> float:
        """What was really spent so far at the prices of the model that answers; at ours where those, or a report, aren't known."""
        return sum(
            cost_usd(one.reported or one.usage, prices) or cost_usd(one.usage, self.model.prices) or 0.0
            for one in self.paid
        )

    def take(self, request: ModelRequest, answered: Assistant, *, reported: Usage | None = None) -> Usage:
        """Bill a request with its answer, and return that. Of an answer, the text counts, whatever was reported."""
        summary = wants_summary(request)
        shape = self._shape(request)
        output = self.counter.message(msgspec.structs.replace(answered, usage=None))
        if summary and not request.tools:
            usage = Usage(shape.total, output)  # a transcript: nobody sends it twice
        else:
            usage = charged(self._till.take(shape, now=None), output)
        self.paid.append(Paid(usage, shape, shape.tokens_before(1), summary, reported))
        return usage

    def _shape(self, request: ModelRequest) -> RequestShape:
        tools = [msgspec.to_builtins(tool) for tool in request.tools]
        fixed = self.counter.tokens(self.counter.fixed_size(request.system, request.tools))
        front = Segment(key_of(msgspec.json.encode([request.system, tools])), fixed, 2)
        shape = shape_of([front, *map(self._segment, request.messages)], model=self.model.ref, fixed=1)
        marks = (1, *(mark + 2 for mark in request.cache_marks)) if request.cache_marks else ()
        return shape.extended((), marks=marks)

    def _segment(self, message: Message) -> Segment:
        known = self._known.get(id(message))
        if known is None or known[0] is not message:
            markable = not isinstance(message, Assistant)
            made = Segment(
                key_of(encode_message(message)), self.counter.message(message), max(1, len(message.parts)), markable
            )
            known = self._known[id(message)] = message, made
        return known[1]


@dataclass(frozen=True, slots=True)
class Metered:
    """A provider with a meter. `reports`: it says what our meter says, for one that has nothing to report. `most_usd`: no request is sent once so much is spent at `prices`."""

    inner: Provider
    meter: Meter
    reports: bool = False
    most_usd: float | None = None
    prices: tuple[Price, ...] = ()

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Ask, listen, count."""
        if self.most_usd is not None and self.meter.spent(self.prices) >= self.most_usd:
            why = ErrorInfo("quota", f"${self.most_usd:g} are spent", hint="allow the evaluation more")
            yield Ended("error", error=why)
            return
        assembler, open_ = Assembler(provider=request.model.provider, model=request.model.id), True
        try:
            async for event in self.inner.stream(request):
                assembler.feed(event)
                if isinstance(event, Ended):
                    open_ = False
                    event = self._ended(request, event, assembler)
                yield event
        finally:
            if open_ and not assembler.empty:  # given up in the middle: what came by then is paid all the same
                self.meter.take(request, assembler.message())

    async def aclose(self) -> None:
        """Let go of what the provider holds open."""
        await close_provider(self.inner)

    def _ended(self, request: ModelRequest, event: Ended, assembler: Assembler) -> Ended:
        if event.error is not None and assembler.empty:
            return event
        usage = self.meter.take(request, assembler.message(), reported=event.usage)
        return msgspec.structs.replace(event, usage=usage) if self.reports else event
