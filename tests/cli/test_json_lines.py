"""JSON mode joins deltas and keeps the feed's order."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest

from trimtab.agent.events import Event, MessageDelta, Notice
from trimtab.frontends.cli.json_lines import FLUSH_CHARS, write_events

pytestmark = pytest.mark.anyio


def delta(text: str, *, part: int = 0, kind: str = "text", message_id: str = "m") -> MessageDelta:
    return MessageDelta(message_id=message_id, part=part, kind=kind, text=text)  # type: ignore[arg-type]


async def lines_of(*events: Event | float) -> list[dict[str, object]]:
    """What is written for `events`; a number is a pause in seconds."""

    async def source() -> AsyncIterator[Event]:
        for event in events:
            if isinstance(event, float):
                await anyio.sleep(event)
            else:
                yield event

    class Source:
        def __init__(self) -> None:
            self.send, self.receive = anyio.create_memory_object_stream[Event](1000)

        def __aiter__(self) -> "Source":
            return self

        async def __anext__(self) -> Event:
            try:
                return await self.receive.receive()
            except anyio.EndOfStream:
                raise StopAsyncIteration from None

    out: list[bytes] = []
    stream = Source()
    async with anyio.create_task_group() as group:
        group.start_soon(write_events, stream, out.append)
        async with stream.send:
            async for event in source():
                await stream.send.send(event)
    stream.receive.close()
    return [json.loads(line) for line in b"".join(out).splitlines()]


async def test_deltas_of_one_part_are_joined_and_carry_the_last_number() -> None:
    first, second = delta("a"), delta("b")
    assert [line["text"] for line in await lines_of(first, second)] == ["ab"]


async def test_another_part_another_kind_and_another_message_each_begin_a_line() -> None:
    lines = await lines_of(
        delta("a"), delta("b", part=1), delta("c", part=1, kind="thinking"), delta("d", message_id="n", kind="thinking")
    )
    assert [line["text"] for line in lines] == ["a", "b", "c", "d"]


async def test_an_event_goes_out_after_the_deltas_before_it() -> None:
    lines = await lines_of(delta("a"), Notice(message="n"), delta("b"))
    assert [line["type"] for line in lines] == ["message_delta", "notice", "message_delta"]


async def test_a_kibibyte_is_not_waited_for() -> None:
    lines = await lines_of(delta("x" * FLUSH_CHARS), delta("y"))
    assert [len(str(line["text"])) for line in lines] == [FLUSH_CHARS, 1]


async def test_a_pause_flushes_what_waits() -> None:
    lines = await lines_of(delta("a"), 0.2, delta("b"))
    assert [line["text"] for line in lines] == ["a", "b"]


async def test_each_line_begins_with_its_type() -> None:
    out: list[bytes] = []

    class One:
        def __init__(self) -> None:
            self.left = [Notice(message="n", seq=1, time="t")]

        def __aiter__(self) -> "One":
            return self

        async def __anext__(self) -> Event:
            if not self.left:
                raise StopAsyncIteration
            return self.left.pop()

    await write_events(One(), out.append)
    assert out == [b'{"type":"notice","seq":1,"time":"t","message":"n"}\n']
