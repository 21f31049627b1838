"""A context tool in an answer that may not change: its arguments stay as they were signed, and no text stands twice."""

import json

import pytest

from support.engine_session import Session, host_of, lines, model, shown_texts
from trimtab.context.engine import Engine
from trimtab.context.tools.profiles import context_tools
from trimtab.types.edits import Elide, Offload
from trimtab.types.messages import Text, Thinking, ToolCall, ToolResult

SUMMARY = (
    "The module computes the discount wrongly, by ten; the right number is one hundred, and it stands in receipt.py at line 12, function"
    " total; tests cover it in test_receipt.py, and the sales log has rows that were charged nothing because of it."
)


def session() -> Session:
    made = Session(Engine(model(60_000), session_id="s"))
    made.say("look why the receipt is wrong")
    made.prepare()
    made.work(lines(2_000), lines(1_500, seed=1))
    made.prepare()
    return made


def use(session: Session, name: str, *, signed: bool, **arguments: object) -> str:
    """The model calls a context tool; returns what it shows afterwards."""
    host = host_of(session)
    tools = {tool.spec.name: tool for tool in context_tools("pilot", host, refuse=host.refuse)}
    thought = (Thinking("hm", signature="sig"),) if signed else ()
    session.answer(*thought, ToolCall("x1", name, arguments, json.dumps(arguments)))
    reply = tools[name].handle(arguments)
    assert not reply.is_error
    session.log.append([ToolResult("x1", name, (Text(reply.text),), is_error=False)])
    return shown_texts(session.prepare().request.messages)


@pytest.mark.parametrize("signed", [False, True])
def test_the_summary_of_an_archive_stands_once(signed: bool) -> None:
    made = session()
    shown = use(made, "archive", signed=signed, action="archive", ids=["c1", "c2"], summary=SUMMARY)
    assert shown.count("computes the discount wrongly") == 1
    assert shown.count("see call x1") == (2 if signed else 0)
    assert [type(entry.edit) for entry in made.edits] == ([Elide] if signed else [Elide, Offload])


def test_an_archive_that_waits_beside_another_points_to_its_own_call() -> None:
    made = session()
    host = host_of(made)
    archive = {tool.spec.name: tool for tool in context_tools("pilot", host, refuse=host.refuse)}["archive"]
    calls = [{"action": "archive", "ids": [f"c{n}"], "summary": f"{n}: {SUMMARY}"} for n in (1, 2)]
    parts = [ToolCall(f"x{n}", "archive", call, json.dumps(call)) for n, call in enumerate(calls, 1)]
    made.answer(Thinking("hm", signature="sig"), *parts)
    for call in calls:
        archive.handle(call)
    shown = shown_texts(made.view.messages())
    assert shown.index("see call x1") < shown.index("see call x2")


@pytest.mark.parametrize("name", ["archive", "memo"])
def test_what_may_not_change_is_not_tried(name: str) -> None:
    made = session()
    arguments = {"archive": {"action": "archive", "ids": ["c1"], "summary": SUMMARY}, "memo": {"action": "write", "key": "bug", "content": SUMMARY}}[name]  # fmt: skip
    shown = use(made, name, signed=True, **arguments)
    assert SUMMARY in shown
    assert made.remarks == []
    assert not any(isinstance(entry.edit, Offload) for entry in made.edits)
