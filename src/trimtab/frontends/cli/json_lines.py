"""JSON mode: one event a line on standard output.

Consecutive deltas of one part are joined until 1 KiB or 50 ms; every other event goes out at once, after the deltas before it, so the
order of the feed is kept and an answer costs about three times its bytes, its copies in `message_ended` and `result` included.
"""

from collections.abc import AsyncIterator, Callable

import anyio
import msgspec

from trimtab.agent.events import Event, MessageDelta
from trimtab.types.text import scrub_deep

FLUSH_CHARS = 1024
FLUSH_S = 0.05

_encoder = msgspec.json.Encoder()


def event_line(event: Event) -> bytes:
    """Return one event as a line of JSON, `type` first, newline included; what isn't Unicode (a file's name) as U+FFFD."""
    try:
        return _encoder.encode(event) + b"\n"
    except UnicodeEncodeError:
        return _encoder.encode(scrub_deep(msgspec.to_builtins(event))) + b"\n"


async def write_events(events: AsyncIterator[Event], write: Callable[[bytes], None]) -> None:
    """Write `events` until they end. `write` may block: it runs in a worker thread, a line (or more) at a time."""
    pending: list[MessageDelta] = []
    size = 0

    async def flush(*lines: bytes) -> None:
        nonlocal size
        joined = [event_line(_join(pending))] if pending else []
        pending.clear()
        size = 0
        data = b"".join((*joined, *lines))
        if data:
            await anyio.to_thread.run_sync(write, data)

    deadline = 0.0
    while True:
        event: Event | None = None
        with anyio.move_on_after(max(deadline - anyio.current_time(), 0) if pending else None) as scope:
            event = await anext(events, None)
            if event is None:
                break
        if scope.cancelled_caught or event is None:
            await flush()
        elif isinstance(event, MessageDelta):
            if pending and not _same(pending[-1], event):
                await flush()
            if not pending:
                deadline = anyio.current_time() + FLUSH_S
            pending.append(event)
            size += len(event.text)
            if size >= FLUSH_CHARS:
                await flush()
        else:
            await flush(event_line(event))
    await flush()


def _same(a: MessageDelta, b: MessageDelta) -> bool:
    return (a.message_id, a.part, a.kind) == (b.message_id, b.part, b.kind)


def _join(deltas: list[MessageDelta]) -> MessageDelta:
    last = deltas[-1]
    return last if len(deltas) == 1 else msgspec.structs.replace(last, text="".join(d.text for d in deltas))
