"""The model that writes summaries: asked like any other and believed by nobody here.

What comes back is handed on as it is; the engine judges it. But nobody waits for ever, or takes in more than a summary can be: a server that
goes on and on is cut off. What every request cost is added up, whatever became of its answer.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Provider
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.types.errors import TrimtabError
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest, add_costs, cost_usd
from trimtab.types.stream import Assembler, PartDelta, StreamEvent
from trimtab.types.usage import Usage

TIMEOUT_S = 180.0
"""How long a summary may take, in seconds, before the next way is taken."""
_LEAST_HEARD = 65_536
_PER_TOKEN = 16
"""Characters that are taken in: so many for each token that was asked for, and never fewer than the least. No tokenizer comes near that."""


Asked: TypeAlias = tuple[Provider, ModelInfo]


@dataclass(frozen=True, slots=True)
class Spent:
    """What requests for summaries took; `usd` is None when a price isn't known."""

    usage: Usage = field(default_factory=Usage)
    usd: float | None = 0.0


@dataclass(slots=True)
class Summarisers:
    """Who is asked, in this order: `instead` (a model that a session is about to leave), `small` (one of its own, opened when first needed), `current`.

    `notes` are for a person.
    """

    current: Callable[[], Asked]
    small: Callable[[], Awaitable[Asked]] | None = None
    timeout_s: float = TIMEOUT_S
    instead: Asked | None = None
    notes: list[str] = field(default_factory=list)
    _spent: Spent = field(default_factory=Spent)

    async def ask(self, ask: Summarize) -> Answer:
        """Return what the model said, or why it said nothing. A model of its own that fails gives way to the session's."""
        if self.instead is not None:
            return await self._say(self.instead, ask)
        if self.small is None or ask.mode == "in_place":
            return await self._say(self.current(), ask)
        try:
            answer = await self._say(await self.small(), ask)
        except TrimtabError as problem:
            self.small = None
            answer = Failed(problem.message)
        if isinstance(answer, Failed):
            self.notes.append(f"the model for summaries failed ({answer.reason}); the session's own is asked")
            return await self._say(self.current(), ask)
        return answer

    def take_notes(self) -> tuple[str, ...]:
        """What a person should be told, once."""
        notes = tuple(self.notes)
        self.notes.clear()
        return notes

    def take_spent(self) -> Spent:
        """What was spent since this was asked last."""
        spent, self._spent = self._spent, Spent()
        return spent

    async def _say(self, asked: Asked, ask: Summarize) -> Answer:
        provider, model = asked
        began = anyio.current_time()
        assembler = Assembler(provider=model.provider, model=model.id)
        request = _request(ask, model)
        try:
            with anyio.fail_after(self.timeout_s):
                whole = await _heard(provider.stream(request), assembler, most=_most_heard(request))
        except TimeoutError:
            return Failed(f"{model.ref} wrote no summary within {self.timeout_s:g} s")
        except Exception as problem:  # noqa: BLE001 - foreign code: a client that fails is a summary that failed
            return Failed(f"{model.ref}: {type(problem).__name__}: {problem}")
        answer = assembler.message()
        if answer.error is None or answer.usage is not None:
            self._book(answer.usage, model)
        if not whole:
            return Failed(f"{model.ref} sent more than {_most_heard(request):,} characters and was cut off")
        if answer.error is not None:
            return Failed(f"{model.ref}: {answer.error.message}")
        return Summary(
            text=answer.text,
            finished=answer.stop_reason == "stop",
            calls=len(answer.tool_calls),
            usage=answer.usage,
            model=model.ref,
            ms=round((anyio.current_time() - began) * 1000),
        )

    def _book(self, usage: Usage | None, model: ModelInfo) -> None:
        usd = None if usage is None else cost_usd(usage, model.prices)
        self._spent = Spent(self._spent.usage + (usage or Usage()), add_costs(self._spent.usd, usd))


async def _heard(stream: AsyncIterator[StreamEvent], assembler: Assembler, *, most: int) -> bool:
    """Take in an answer; False when it had more than `most` characters, and the rest was not waited for."""
    heard = 0
    try:
        async for event in stream:
            if isinstance(event, PartDelta):
                heard += len(event.text)
            if heard > most:
                return False
            assembler.feed(event)
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
    return True


def _most_heard(request: ModelRequest) -> int:
    return max(_LEAST_HEARD, _PER_TOKEN * (request.max_output or 0))


def _request(ask: Summarize, model: ModelInfo) -> ModelRequest:
    limit = min(ask.max_output, model.max_output)
    if ask.mode == "in_place" and ask.request is not None:
        return replace(ask.request, messages=(*ask.request.messages, *ask.messages), max_output=limit)
    # Nothing of it is ever asked again, so nothing of it is worth writing to a cache.
    uncached = replace(model, cache=CacheRules())
    return ModelRequest(model=uncached, messages=ask.messages, system=ask.system, max_output=limit)
