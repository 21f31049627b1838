"""Providers of extensions as the loop has them: what they stream is checked piece by piece, and what they raise is their last word.

inner.stream ──event──▶ of a known kind, with what it says it has? ──▶ on        anything else, and whatever is raised ──▶ Ended, with the error in words
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args

import anyio
import msgspec

from trimtab.agent.ports import Provider
from trimtab.coding.extensions.foreign import HookFailed, is_cancelled, said
from trimtab.types.errors import ErrorInfo
from trimtab.types.models import ModelRequest
from trimtab.types.stream import Ended, StreamEvent

_EVENTS: tuple[type, ...] = get_args(StreamEvent)
_HINT = "Repair the extension, or choose another model: /model lists them."


@dataclass(frozen=True, slots=True)
class ExtensionProvider:
    """The provider of the extension `name`."""

    name: str
    inner: Provider

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """What the inner one streams. Raises nothing but a cancel."""
        events: Any = None
        try:
            events = self.inner.stream(request)
            async for event in events:
                yield _sound(event)
                if type(event) is Ended:
                    return
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # noqa: BLE001 - foreign code: what it raises is its last word
            yield self._failed(problem)
        except anyio.get_cancelled_exc_class() as problem:
            if is_cancelled():
                raise
            yield self._failed(problem)
        finally:
            if (close := getattr(events, "aclose", None)) is not None:
                with suppress(Exception):
                    await close()

    def _failed(self, problem: BaseException) -> Ended:
        text = str(problem) if isinstance(problem, HookFailed) else said(problem)
        message = f"the provider of extension {self.name} failed: {text}"
        return Ended("error", error=ErrorInfo(kind="malformed", message=message, hint=_HINT))


def _sound(event: object) -> StreamEvent:
    """The event, its fields checked. Raises `HookFailed` for one that no message could be made of."""
    if type(event) not in _EVENTS:
        raise HookFailed(f"it streamed a {type(event).__name__}, which is no event of a stream")
    kind: Any = type(event)
    try:
        sound: StreamEvent = msgspec.convert(msgspec.to_builtins(event), kind)
    except (TypeError, ValueError, RecursionError) as problem:
        raise HookFailed(f"its {kind.__name__} makes no sense: {said(problem)}") from problem
    return sound
