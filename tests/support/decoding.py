"""Runs a decoder over events written as plain values."""

import json
from collections.abc import Iterable
from typing import Any

from trimtab.providers.wire import Decoder, WireFailure
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import Assistant
from trimtab.types.stream import Assembler, Ended, StreamEvent

ODD_VALUES: list[Any] = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "x",
    "\ud800",
    '{"a": "\\ud800"}',
    [],
    [None, 1],
    {},
    {"type": 1},
    {"a": [{"text": None}]},
]
"""JSON values that no server should send in most places."""


def stream(decoder: Decoder, *events: Any) -> list[StreamEvent]:
    """Feed events (bytes as they are, other values as JSON), finish, return all that came out."""
    out: list[StreamEvent] = []
    for event in events:
        data = event if isinstance(event, bytes) else json.dumps(event, ensure_ascii=False).encode()
        out.extend(decoder.feed("", data))
    out.extend(decoder.finish())
    return out


def message(decoder: Decoder, *events: Any) -> Assistant:
    """The message that the events make; exactly one `Ended`, at the end."""
    return fold(stream(decoder, *events))


def fold(events: Iterable[StreamEvent]) -> Assistant:
    """Fold stream events; asserts that one `Ended` comes last."""
    events = list(events)
    assert [type(e) is Ended for e in events] == [False] * (len(events) - 1) + [True]
    assembler = Assembler(provider="p", model="m")
    for event in events:
        assembler.feed(event)
    return assembler.message()


def failure(decoder: Decoder, *events: Any) -> ErrorInfo:
    """The failure that the events end in."""
    info = failure_or_none(decoder, *events)
    assert info is not None, "the stream did not fail"
    return info


def failure_or_none(decoder: Decoder, *events: Any) -> ErrorInfo | None:
    """The failure that the events end in, if they do."""
    try:
        stream(decoder, *events)
    except WireFailure as exc:
        return exc.info
    return None
