"""The model that writes summaries: asked like any other, without tools, and believed by nobody here.

What comes back is handed on as it is; the engine judges it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Provider
from trimtab.context.asks import Answer, Failed, Summarize, Summary
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler

TIMEOUT_S = 180.0
"""How long a summary may take, in seconds, before the next way is taken."""


@dataclass(frozen=True, slots=True)
class Summarisers:
    """Who is asked: `small` (a model of its own) for serialised conversations, else the session's model."""

    current: Callable[[], tuple[Provider, ModelInfo]]
    small: tuple[Provider, ModelInfo] | None = None
    timeout_s: float = TIMEOUT_S

    async def ask(self, ask: Summarize) -> Answer:
        """Return what the model said, or why it said nothing."""
        provider, model = self.small if self.small is not None and ask.mode != "in_place" else self.current()
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
