"""What one more message costs behind a long past: counted in lines that run, since a clock says more about the machine."""

import sys
from datetime import UTC, datetime
from itertools import count
from types import FrameType
from typing import Any

import pytest

from support.engine_session import model
from trimtab.context.engine import Engine
from trimtab.context.stores.log import SessionLog
from trimtab.types.edits import Compact
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, user
from trimtab.types.models import ModelRequest

MODEL = model(20_000)
WARM = 4
"""Turns before the one that is counted: the first loads what counts."""


def past(messages: int, *, compacted: bool) -> SessionLog:
    log = SessionLog.in_memory("/project", now=lambda: datetime(2026, 1, 1, tzinfo=UTC))
    said: list[Message] = []
    for n in range(messages // 3):
        call = ToolCall(f"call-{n}", "read", {"path": f"a{n}.py"}, f'{{"path": "a{n}.py"}}')
        said += [user(f"look at {n}"), Assistant((call,), "tool_use", provider="p", model="m")]
        said.append(ToolResult(f"call-{n}", "read", (Text(f"line {n}"),), is_error=False))
    ids = log.append_messages(said)
    if compacted:
        edit = Compact(targets=ids[:-6], summary="What came before.")
        log.append([EditEntry(id="", parent=None, time="", edit=edit, author="user")])
    return log


def lines_of_one_more(log: SessionLog) -> int:
    """How many lines run for a prompt, its request and the answer, once others have been."""
    engine, ids, ran = Engine(MODEL, session_id="s"), count(), 0

    def turn() -> None:
        log.append_messages([user(f"go on {next(ids)}")])
        plan = engine.prepare(log.snapshot(), ModelRequest(MODEL, (), system="Be short."))
        with pytest.raises(StopIteration):
            next(plan)
        answer = Assistant((Text("done"),), "stop", provider="p", model="m")
        engine.answered(answer)
        log.append_messages([answer])
        assert (log.archive.model, log.archive.thinking) == (None, None)

    def note(_frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal ran
        ran += event == "line"
        return note

    for _ in range(WARM):
        turn()
    before = sys.gettrace()
    sys.settrace(note)
    try:
        turn()
    finally:
        sys.settrace(before)
    return ran


def test_behind_a_compaction_one_more_message_costs_the_same_however_long_the_past_is():
    short, long = (lines_of_one_more(past(size, compacted=True)) for size in (60, 1_500))
    assert long <= 1.2 * short


def test_without_an_edit_one_more_message_costs_the_same_however_long_the_past_is():
    short, long = (lines_of_one_more(past(size, compacted=False)) for size in (60, 300))
    assert long <= 1.2 * short
