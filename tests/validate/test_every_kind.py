"""The smallest request that breaks each rule: every kind of problem can be reported, and reports nothing else."""

from typing import Any

import pytest

from trimtab.context.validate import KINDS, plain, rules_for, validate
from trimtab.types.messages import Assistant, Image, Message, Opaque, Text, Thinking, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo

MEDIA = {"count": 2, "side": 50, "image_bytes": 40, "request_bytes": 400}
RULES = rules_for(ModelInfo("p", "m", "anthropic", input=("text", "image"), compat={"media": MEDIA}))
ITEMS = rules_for(ModelInfo("p", "m", "openai-responses"))
Q = user("q")
OK = ToolResult("a", "read", (Text("ok"),), is_error=False)
SMALL = Image("image/png", "AAAA")


def said(*parts: Any, **more: Any) -> Assistant:
    return Assistant(parts, "stop", **more)


def call(call_id: str = "a") -> ToolCall:
    return ToolCall(call_id, "read", {}, "{}")


def look(image: Image) -> tuple[Message, ...]:
    return (User((Text("q"), image)),)


THOUGHT = Thinking("t", signature="s")
STEP = (Q, said(THOUGHT, Text("so"), call()), OK)
ENDED = (*STEP, said(THOUGHT, Text("done")), user("next"))

CASES: dict[str, tuple[tuple[Message, ...], dict[str, Any]]] = {
    "missing_result": ((Q, said(call())), {}),
    "orphan_result": ((Q, OK), {}),
    "extra_result": ((Q, said(call()), OK, OK), {}),
    "misplaced_result": ((Q, said(call()), user("x"), OK), {}),
    "result_order": (
        (Q, said(call(), call("b")), ToolResult("b", "read", (Text("ok"),), is_error=False), OK),
        {},
    ),
    "superseded": ((Q, said(Text("x"), superseded=True)), {}),
    "illegal_id": (
        (Q, said(call("a|1")), ToolResult("a|1", "read", (Text("ok"),), is_error=False)),
        {"rules": plain(RULES)},
    ),
    "repeated_id": ((Q, said(call()), OK, Q, said(call()), OK), {"rules": plain(RULES)}),
    "empty_message": ((Q, said(Text(" "))), {}),
    "first_role": ((said(Text("x")), Q), {"rules": plain(RULES)}),
    "alternation": ((Q, Q), {"rules": plain(RULES)}),
    "thinking_changed": ((Q, said(Thinking("t", signature="x"), Text("so"), call()), OK), {"log": STEP}),
    "thinking_missing": ((Q, said(Text("so"), call()), OK), {"log": STEP}),
    "thinking_partial": ((Q, said(Text("so"), call()), *ENDED[2:]), {"log": ENDED}),
    "signed_step_changed": ((Q, said(THOUGHT, call()), OK), {"log": STEP}),
    "reasoning_follower": ((Q, said(Text("so"), Opaque("p", {"type": "reasoning"})), user("x")), {"rules": ITEMS}),
    "image_type": (look(Image("image/bmp", "AAAA")), {}),
    "image_bytes": (look(Image("image/png", "A" * 41)), {}),
    "image_side": (look(Image("image/png", "AAAA", width=51, height=1)), {}),
    "image_count": ((User((Text("q"), SMALL, SMALL, SMALL)),), {}),
    "media_bytes": ((User((Text("q" * 400), SMALL)),), {}),
    "request_bytes": ((user("q" * 400),), {}),
    "empty_request": ((), {}),
    "newest_request": ((Q,), {"newest": user("other")}),
    "no_way_back": ((Q, said(Text("[gone]"))), {"log": (Q, said(Text("long"))), "reachable": lambda _: False}),
    "over_budget": ((Q,), {"tokens": 2, "limit": 1}),
}


@pytest.mark.parametrize("kind", CASES)
def test_the_smallest_break_of_a_rule_is_reported_and_nothing_else(kind: str) -> None:
    messages, given = CASES[kind]
    log = given.get("log")
    original = (lambda i: log[i]) if log is not None else None
    told = {"rules": RULES, "original": original} | {k: v for k, v in given.items() if k != "log"}
    assert [p.kind for p in validate(messages, **told)] == [kind]


def test_there_is_a_case_for_every_kind() -> None:
    assert tuple(CASES) == KINDS
