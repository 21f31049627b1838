"""One request beside the conversation: a review, a name for the session. Nothing of it enters the window; what it took is booked with the session.

system, text ──▶ the model ──stream, within a time──▶ text, or a TrimtabError that says why there is none
                                  └─ usage ──▶ the session's spending
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeAlias

import anyio
from msgspec.structs import replace

from trimtab.agent.ports import Provider
from trimtab.types.errors import ErrorInfo, ProviderError
from trimtab.types.messages import Image, Text, User
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest
from trimtab.types.stream import Assembler, PartDelta, StreamEvent
from trimtab.types.usage import Usage, why_impossible

Book: TypeAlias = Callable[[Usage | None, ModelInfo], None]
"""Takes what a request took; None when the server didn't say."""
_CHARS_PER_TOKEN = 16
"""More than any tokenizer gives: a server that goes on and on is cut off there."""


async def ask_beside(
    provider: Provider,
    model: ModelInfo,
    *,
    system: str,
    text: str,
    max_output: int,
    within_s: float,
    book: Book,
    pictures: Sequence[Image] = (),
) -> str:
    """Ask once and return the text of the answer; `max_output` in tokens. Raises `ProviderError` when there is none, or not in `within_s` seconds."""
    output = min(max_output, model.max_output)
    uncached = replace(
        model, cache=CacheRules()
    )  # nothing of it is asked again, so nothing of it is worth writing to a cache
    asked = User((*pictures, Text(text)), origin="command")
    request = ModelRequest(uncached, (asked,), system=system, max_output=output)
    assembler = Assembler(provider=model.provider, model=model.id)
    heard = 0
    with anyio.move_on_after(within_s) as patience:
        heard = await _take_in(provider.stream(request), assembler, most=output * _CHARS_PER_TOKEN)
    if patience.cancelled_caught:
        raise ProviderError(ErrorInfo("network", f"{model.ref} didn't answer within {within_s:g} s"))
    answer = assembler.message()
    usage = answer.usage
    if usage is not None and why_impossible(usage, window=model.context_window, most_output=output, heard=heard):
        usage = None
    book(usage, model)
    if answer.error is not None:
        raise ProviderError(answer.error)
    return answer.text


async def _take_in(stream: AsyncIterator[StreamEvent], assembler: Assembler, *, most: int) -> int:
    """Feed the assembler; return how many characters were heard."""
    heard = 0
    try:
        async for event in stream:
            assembler.feed(event)
            heard += len(event.text) if isinstance(event, PartDelta) else 0
            if heard > most:
                break
    finally:
        if (close := getattr(stream, "aclose", None)) is not None:
            with anyio.CancelScope(shield=True):
                await close()
    return heard
