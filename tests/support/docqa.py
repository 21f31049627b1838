"""Readers of documents: a document small enough to check by hand, and calls as a model makes them."""

import json
import zlib
from typing import Any

from trimtab.lab.docqa.desk import Desk, Rules
from trimtab.lab.docqa.query import Query
from trimtab.lab.docqa.scripted_reader import MODEL, ScriptedReader
from trimtab.lab.tasks.task import Question
from trimtab.types.messages import Assistant, Text, ToolResult, User
from trimtab.types.models import ModelRequest
from trimtab.types.stream import make_call

FILLER = "The gauges were read twice and the minutes say so. " * 12
FACT = "The weir at Otter Ford lets 412 l/s through."
DOCUMENT = "\n\n".join(
    [
        f"# Surveys\n\n{FILLER}",
        f"# Weirs\n\n{FACT} {FILLER}",
        f"# Bridges\n\nThe footbridge at Otter Ford was painted. {FILLER}",
        f"# Accounts\n\n{FILLER}",
    ]
)
QUERY = Query(
    "otter/1",
    "toy",
    7,
    DOCUMENT,
    Question("How much does the weir at Otter Ford let through?", 1, ("412 l/s",), (0,), ("999 l/s",)),
    (FACT,),
)
RULES = Rules(chunk_tokens=160, back_tokens=30, window=16_000, turns=20, grace=2)


def new_desk(rules: Rules = RULES, **options: Any) -> Desk:
    return Desk(QUERY, rules, MODEL, **options)


def call(name: str, **arguments: Any) -> Assistant:
    return Assistant((make_call("any", name, json.dumps(arguments)),), "tool_use")


def plain(text: str) -> Assistant:
    return Assistant((Text(text),), "stop")


def give(desk: Desk, *answers: Assistant) -> str:
    """Give answers, one after the other, and return what the last one's call was answered."""
    for answer in answers:
        assert desk.request() is not None
        desk.answer(answer)
    return result_of(desk)


def result_of(desk: Desk) -> str:
    """The newest result, as it was recorded."""
    results = [s.base for s in desk.window.log.view.slots if isinstance(s.base, ToolResult)]
    return results[-1].text.partition("\n")[2]


def shown(request: ModelRequest | None) -> str:
    """All that a request shows, as one text."""
    assert request is not None
    return "\n".join(
        getattr(part, "text", "") or getattr(part, "raw", "") for message in request.messages for part in message.parts
    )


def told(request: ModelRequest | None) -> list[str]:
    """What the user says in it."""
    assert request is not None
    return ["".join(getattr(p, "text", "") for p in m.parts) for m in request.messages if isinstance(m, User)]


MISLED = {"r1": 4, "b1": 8}
"""Rollouts whose reader looks at the wrong chunk alone, and the seeds that make it do that."""


def reader(name: str) -> ScriptedReader:
    """A reader for each rollout, most of which find the answer."""
    return ScriptedReader(MISLED.get(name, 10 + zlib.crc32(name.encode()) % 20))


BUILT = (call("analyzeText"), call("buildIndex"))
