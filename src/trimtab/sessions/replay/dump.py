"""The dump: a line per step, saying what of each result stood in its request.

The line is of the request as it went out, before the calls that answered it ran, so a step's own calls are never among its items.
"""

from collections.abc import Iterator

import msgspec

from trimtab.sessions.replay.run import Run


class DumpedItem(msgspec.Struct, frozen=True):
    """A result in a request. `state`: full, folded, summary, stub or gone; `tokens`: what it took there."""

    call_id: str
    state: str
    tokens: int


class DumpedStep(msgspec.Struct, frozen=True):
    """One request. `calls`: ids of the calls that answered it."""

    file: str
    step: int
    calls: tuple[str, ...]
    prompt_tokens: int
    cached_tokens: int
    items: tuple[DumpedItem, ...]


def dumped(file: str, run: Run) -> Iterator[bytes]:
    """Yield a line of JSON for each step."""
    encode = msgspec.json.Encoder().encode
    for step in run.steps:
        items = tuple(DumpedItem(item.call_id, item.state, item.tokens) for item in step.items)
        yield encode(DumpedStep(file, step.step, step.calls, step.prompt, step.cached, items)) + b"\n"
