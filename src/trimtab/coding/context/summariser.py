"""The model that writes summaries: asked like any other and believed by nobody here.

    ask ──▶ small model, else the session's own ──stream──▶ Summary | Failed
              │ silent for `quiet_s`, or not done after `LONGEST` times that: the next way is taken
              └─ what each took, whatever became of it ──▶ Spending

What comes back is handed on as it is; the engine judges it. But nobody waits for ever, or takes in more than a summary can be: a server that
goes on and on is cut off, and one that was waited for in vain is not asked a second way for the same request. A usage that can't be true is told and counts as not reported.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Provider
from trimtab.coding.context.spending import Spending
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.types.errors import TrimtabError
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest
from trimtab.types.stream import Assembler, PartDelta, Retrying, StreamEvent
from trimtab.types.usage import Usage, why_impossible

QUIET_S = 60.0
"""How long a model that writes a summary may say nothing, in seconds, before the next way is taken: `context.summary_wait_s`."""
LONGEST = 3
"""So many times that, one that goes on saying something may take."""
_LEAST_HEARD = 65_536
_PER_TOKEN = 16
"""Characters that are taken in: so many for each token that was asked for, and never fewer than the least. No tokenizer comes near that."""


Asked: TypeAlias = tuple[Provider, ModelInfo]


@dataclass(slots=True)
class Summarisers:
    """Who is asked, in this order: `instead` (a model that a session is about to leave), `small` (one of its own, opened when first needed), `current`.

    `notes` are for a person; `quiet_s`: see the module.
    """

    current: Callable[[], Asked]
    small: Callable[[], Awaitable[Asked]] | None = None
    others: tuple[Callable[[], Awaitable[Asked]], ...] = ()
    """Those that are asked, one after the other, when `small` fails."""
    quiet_s: float = QUIET_S
    instead: Asked | None = None
    notes: list[str] = field(default_factory=list)
    spending: Spending = field(default_factory=Spending)
    _silent: set[str] = field(default_factory=set)
    """Models that were waited for in vain since the last `begin`."""

    def begin(self) -> None:
        """Another request is made: who said nothing for the last one may be asked again."""
        self._silent.clear()

    async def ask(self, ask: Summarize) -> Answer:
        """Return what the model said, or why it said nothing. A model of its own that fails gives way to the session's."""
        if self.instead is not None:
            return await self._say(self.instead, ask)
        if self.small is None or ask.mode == "in_place":
            return await self._say(self.current(), ask)
        openers = (self.small, *self.others)
        for opener in openers:
            try:
                answer = await self._say(await opener(), ask)
            except TrimtabError as problem:
                self._without(opener)
                answer = Failed(problem.message)
            if not isinstance(answer, Failed):
                return answer
            left = "the session's own" if opener is openers[-1] else "the next of roles.small"
            self.notes.append(f"the model for summaries failed ({answer.reason}); {left} is asked")
        return await self._say(self.current(), ask)

    def _without(self, opener: Callable[[], Awaitable[Asked]]) -> None:
        """Never ask one again that couldn't even be opened."""
        left = [one for one in (self.small, *self.others) if one is not None and one is not opener]
        self.small, self.others = (left[0], tuple(left[1:])) if left else (None, ())

    def take_notes(self) -> tuple[str, ...]:
        """What a person should be told, once."""
        notes = tuple(self.notes)
        self.notes.clear()
        return notes

    def first(self, ask: Summarize) -> str:
        """Who is asked first, in words for a person."""
        if self.instead is not None:
            return self.instead[1].ref
        return self.current()[1].ref if self.small is None or ask.mode == "in_place" else "the model for summaries"

    async def _say(self, asked: Asked, ask: Summarize) -> Answer:
        provider, model = asked
        if model.ref in self._silent:
            return Failed(f"{model.ref} said nothing a moment ago")
        began = anyio.current_time()
        request = _request(ask, model)
        hearing = _Hearing(Assembler(provider=model.provider, model=model.id), _most_heard(request))
        patience = _Patience(self.quiet_s, began)
        try:
            with patience.scope:
                await hearing.take_in(provider.stream(request), patience)
        except Exception as problem:  # noqa: BLE001 - foreign code: a client that fails is a summary that failed
            return Failed(f"{model.ref}: {type(problem).__name__}: {problem}")
        if patience.scope.cancelled_caught:
            self._silent.add(model.ref)
            return Failed(f"{model.ref} {patience.over(anyio.current_time())}")
        answer = hearing.assembler.message()
        usage = self._believed(answer.usage, request, hearing.heard)
        if answer.error is None or usage is not None:
            self.spending.book(usage, model)
        if hearing.heard > hearing.most:
            return Failed(f"{model.ref} sent more than {hearing.most:,} characters and was cut off")
        if answer.error is not None:
            return Failed(f"{model.ref}: {answer.error.message}")
        return Summary(
            text=answer.text,
            finished=answer.stop_reason == "stop",
            calls=len(answer.tool_calls),
            usage=usage,
            model=model.ref,
            ms=round((anyio.current_time() - began) * 1000),
        )

    def _believed(self, usage: Usage | None, request: ModelRequest, heard: int) -> Usage | None:
        """The usage, unless it can't be true."""
        model, most = request.model, request.max_output or request.model.max_output
        why = usage and why_impossible(usage, window=model.context_window, most_output=most, heard=heard)
        if not why:
            return usage
        self.notes.append(f"{model.ref} reported a usage for a summary that can't be ({why}); it counts as none")
        return None


class _Patience:
    """How long is waited for one answer. Whatever arrives gives it more time, up to a limit."""

    def __init__(self, quiet_s: float, began: float) -> None:
        self._quiet_s = quiet_s
        self._end = began + LONGEST * quiet_s
        self.scope = anyio.CancelScope(deadline=began + quiet_s)

    def heard(self) -> None:
        """Something arrived."""
        self.scope.deadline = min(self._end, anyio.current_time() + self._quiet_s)

    def over(self, now: float) -> str:
        """What the model did wrong, once there is no patience left."""
        if now >= self._end:
            return f"wrote no whole summary within {LONGEST * self._quiet_s:g} s"
        return f"said nothing for {self._quiet_s:g} s"


@dataclass(slots=True)
class _Hearing:
    """One answer as it comes in, up to `most` characters: the rest of a longer one is not waited for."""

    assembler: Assembler
    most: int
    heard: int = 0

    async def take_in(self, stream: AsyncIterator[StreamEvent], patience: _Patience) -> None:
        """Hear it to its end."""
        try:
            async for event in stream:
                if not isinstance(event, Retrying):
                    patience.heard()
                if isinstance(event, PartDelta):
                    self.heard += len(event.text)
                if self.heard > self.most:
                    return
                self.assembler.feed(event)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()


def _most_heard(request: ModelRequest) -> int:
    return max(_LEAST_HEARD, _PER_TOKEN * (request.max_output or 0))


def _request(ask: Summarize, model: ModelInfo) -> ModelRequest:
    limit = min(ask.max_output, model.max_output)
    if ask.mode == "in_place" and ask.request is not None:
        return replace(ask.request, messages=(*ask.request.messages, *ask.messages), max_output=limit)
    # Nothing of it is ever asked again, so nothing of it is worth writing to a cache.
    uncached = replace(model, cache=CacheRules())
    return ModelRequest(model=uncached, messages=ask.messages, system=ask.system, max_output=limit)
