"""Hears one answer of a model: stream events in, feed events and one message out.

A `Draft` is usable at every instant: when the turn is cancelled or the stream dies in the middle, `message` is what arrived so far.
A provider promises not to raise; one that does anyway, or that just stops, has failed, and what it streamed is kept. A usage that can't be true is
told and left out, so that nothing counts, learns or costs by it.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio.lowlevel
from msgspec.structs import replace

from trimtab.agent.events import MessageDelta, MessageStarted, Notice, Retry
from trimtab.agent.ports import Emit, Provider
from trimtab.types.errors import ErrorInfo, ProviderError, StoreError, TrimtabError
from trimtab.types.ids import new_id
from trimtab.types.messages import Assistant
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Assembler, Ended, PartDelta, Retrying, StreamEvent
from trimtab.types.usage import why_impossible

EVENTS_PER_TURN = 128
"""Events heard in a row before watchers and a cancel get their turn, whether or not the provider ever waits."""
Void: TypeAlias = Callable[[Assistant], Awaitable[None]]


class Draft:
    """The answer to `request` as far as it has arrived. `message_id` changes when a retry voids it."""

    def __init__(self, request: ModelRequest, emit: Emit) -> None:
        self.message_id = new_id()
        self._request = request
        self._emit = emit
        self._assembler = Assembler(provider=request.model.provider, model=request.model.id)
        self._announced = False
        self._complete = False
        self._heard = 0
        """Characters."""
        self._failure: ErrorInfo | None = None

    @property
    def empty(self) -> bool:
        """True while nothing has arrived."""
        return self._assembler.empty and not self._complete

    async def hear(self, provider: Provider, *, void: Void, again: Callable[[], bool] = lambda: True) -> None:
        """Consume the stream. `void` records a partial answer that a retry makes worthless; where `again` says no, a retry is the end instead."""
        try:
            async with _closing(provider.stream(self._request)) as events:
                heard = 0
                async for event in events:
                    heard += 1
                    if heard % EVENTS_PER_TURN == 0:
                        await anyio.lowlevel.checkpoint()
                    if type(event) is Retrying:
                        if not again():
                            self._failure = _of_attempt(event)
                            return
                        await self._start_over(event, void)
                        continue
                    await self._take(event)
                    if self._complete:
                        break
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - foreign code: a failed stream is an answer that failed
            # After `Ended` the answer is whole; a fault in closing the connection doesn't take it back.
            self._failure = None if self._complete else _failure(exc)
            return
        if not self._complete:
            text = "The stream ended without saying that the answer is complete."
            self._failure = ErrorInfo(kind="network", message=text, hint=_HINT)

    def message(self) -> Assistant:
        """The answer; one that never ended is an error."""
        if self._failure is not None:
            return self._assembler.message(stop_reason="error", error=self._failure)
        return self._assembler.message()

    def cancelled(self) -> Assistant:
        """The answer so far, marked as cancelled."""
        return self._assembler.message(stop_reason="cancelled")

    async def announce(self) -> None:
        """Say, once, that the model begins to answer."""
        if not self._announced:
            self._announced = True
            await self._emit(MessageStarted(message_id=self.message_id))

    async def _take(self, event: StreamEvent) -> None:
        if type(event) is Ended:
            event = await self._believed(event)
        self._assembler.feed(event)
        if type(event) is PartDelta:
            self._heard += len(event.text)
            await self.announce()
            await self._emit(
                MessageDelta(message_id=self.message_id, part=event.part, kind=event.kind, text=event.text)
            )
        elif type(event) is Ended:
            self._complete = True
        else:
            await self.announce()

    async def _believed(self, end: Ended) -> Ended:
        """The end of the answer, without a usage that can't be true. A script says what it likes: nobody is lied to."""
        model = self._request.model
        if model.api == "scripted":
            return end
        why = end.usage and why_impossible(
            end.usage,
            window=model.context_window,
            most_output=self._request.max_output or model.max_output,
            heard=self._heard,
        )
        if not why:
            return end
        await self._emit(Notice(message=f"{model.ref} reported a usage that can't be ({why}); it counts as none"))
        return replace(end, usage=None)

    async def _start_over(self, event: Retrying, void: Void) -> None:
        if not self._assembler.empty:
            why = _of_attempt(event)
            await void(self._assembler.message(stop_reason="error", error=why, superseded=True))
            self.message_id = new_id()
            self._announced = False
        self._assembler.feed(event)
        await self._emit(Retry(attempt=event.attempt, wait_s=event.wait_s, kind=event.kind, message=event.message))


_HINT = "Send the prompt again; if it happens again, the model's server or its client is at fault."


def _of_attempt(event: Retrying) -> ErrorInfo:
    return ErrorInfo(kind=event.kind, message=event.message, hint=event.hint, retryable=True)


def _failure(exc: Exception) -> ErrorInfo:
    if isinstance(exc, ProviderError):
        return exc.info
    if isinstance(exc, TrimtabError):
        return ErrorInfo(kind="invalid", message=exc.message, hint=exc.hint)
    return ErrorInfo(kind="malformed", message=f"The model's client failed: {type(exc).__name__}: {exc}", hint=_HINT)


@asynccontextmanager
async def _closing(stream: AsyncIterator[StreamEvent]) -> AsyncIterator[AsyncIterator[StreamEvent]]:
    """Close the stream at the end, as far as it can be closed: a plain iterator has nothing to close."""
    try:
        yield stream
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
