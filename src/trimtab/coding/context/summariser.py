"""The model that writes summaries: asked like any other, without tools, and believed by nobody here.

What comes back is handed on as it is; the engine judges it.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Provider
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.types.errors import TrimtabError
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler

TIMEOUT_S = 180.0
"""How long a summary may take, in seconds, before the next way is taken."""


Asked: TypeAlias = tuple[Provider, ModelInfo]


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

    async def _say(self, asked: Asked, ask: Summarize) -> Answer:
        provider, model = asked
        began = anyio.current_time()
        assembler = Assembler(provider=model.provider, model=model.id)
        try:
            with anyio.fail_after(self.timeout_s):
                async for event in provider.stream(_request(ask, model)):
                    assembler.feed(event)
        except TimeoutError:
            return Failed(f"{model.ref} wrote no summary within {self.timeout_s:g} s")
        except Exception as problem:  # noqa: BLE001 - foreign code: a client that fails is a summary that failed
            return Failed(f"{model.ref}: {type(problem).__name__}: {problem}")
        answer = assembler.message()
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


def _request(ask: Summarize, model: ModelInfo) -> ModelRequest:
    limit = min(ask.max_output, model.max_output)
    if ask.mode == "in_place" and ask.request is not None:
        return replace(ask.request, messages=(*ask.request.messages, *ask.messages), max_output=limit)
    return ModelRequest(model=model, messages=ask.messages, system=ask.system, max_output=limit)
