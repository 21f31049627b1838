"""A conversation that is dumped and loaded at any step is the same one: what it learned of regret, what it sees and what it wants next, also where ids of calls come again."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.talks import opening, reading
from trimtab.context import ContextManager

ACTIONS = st.sampled_from(["elide", "drop", "fold", "reload", "pin", "unpin", "keep"])


def renamed(messages: list[dict[str, Any]], call_id: str, text: str) -> list[dict[str, Any]]:
    """The same messages with that id in place of their call's, and that text behind their result."""
    if messages[0].get("tool_calls"):
        (call,) = messages[0]["tool_calls"]
        return [
            {**messages[0], "tool_calls": [{**call, "id": call_id}]},
            {**messages[1], "tool_call_id": call_id, "content": f"{messages[1]['content']}\n{text}"},
        ]
    block = messages[0]["content"][-1]
    result = messages[1]["content"][0]
    return [
        {**messages[0], "content": [*messages[0]["content"][:-1], {**block, "id": call_id}]},
        {**messages[1], "content": [{**result, "tool_use_id": call_id, "content": f"{result['content']}\n{text}"}]},
    ]


def learned(cm: ContextManager) -> tuple[object, ...]:
    """What the conversation knows of regret."""
    ledger = cm._inner.engine.manager.regret
    slots = cm._inner.log.view.slots
    return ledger.learned, tuple(ledger.bookings), tuple(ledger.regret(slot) for slot in slots)


@pytest.mark.parametrize("name", ["openai", "anthropic"])
@settings(max_examples=20)
@given(data=st.data())
def test_at_any_step_it_goes_on_alike(name: str, data: st.DataObject) -> None:
    cm = ContextManager(max_tokens=3_000, format=name, reserve=300)  # type: ignore[arg-type]
    cm.run(opening(name))
    for number in range(data.draw(st.integers(2, 6), label="steps")):
        file = data.draw(st.integers(0, 2), label="file")
        call_id = data.draw(st.sampled_from(["call_a", "call_b", f"call_{number}"]), label="id")
        messages = renamed(reading(name, file, 40), call_id, f"step {number}")
        for message in messages:
            cm.run(message)
        items = [item["id"] for item in cm.observe()["active_context"]]
        wish = data.draw(ACTIONS, label="action")
        done = cm.execute({"action": wish, "target": data.draw(st.sampled_from([*items, call_id]), label="target")})
        if done["edits"] and data.draw(st.booleans(), label="revert"):
            inner = cm._inner
            inner.drive(inner.engine.revert(inner.log.view, inner.request, done["edits"][0]["id"]))
            cm.observe()
        other = ContextManager(max_tokens=1_000).load(cm.dump())
        assert other.observe() == cm.observe()
        assert learned(other) == learned(cm)
        again = renamed(reading(name, file, 40), call_id, "and again")
        assert [other.step(message) for message in again] == [cm.step(message) for message in again]
        assert other.dump() == cm.dump()
        assert learned(other) == learned(cm)
