"""A history that validates makes a body that the API takes; and the checker of bodies itself can fail."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.conversations import MAKERS, conversations
from support.histories import histories
from support.wire_rules import broken, sent_body
from trimtab.context.validate import rules_for, validate
from trimtab.context.validate.mend import mend
from trimtab.context.window.pairs import pair
from trimtab.types.messages import user
from trimtab.types.models import Api

APIS = st.sampled_from(sorted(MAKERS))


@settings(max_examples=60)
@given(st.data(), APIS, st.booleans())
def test_a_valid_history_has_no_problem_and_its_body_breaks_no_rule_of_the_api(
    data: st.DataObject, api: Api, foreign: bool
) -> None:
    history = data.draw(conversations(MAKERS[api], foreign=foreign))
    assert validate(history, rules=rules_for(MAKERS[api]), original=lambda i: history[i]) == ()
    assert broken(api, sent_body(MAKERS[api], history)) == []


@settings(max_examples=60)
@given(st.data(), APIS)
def test_every_prefix_of_a_valid_history_is_valid_once_it_is_paired(data: st.DataObject, api: Api) -> None:
    history = data.draw(conversations(MAKERS[api]))
    cut = data.draw(st.integers(1, len(history)))
    prefix, _ = pair(history[:cut])
    assert validate(prefix, rules=rules_for(MAKERS[api])) == ()
    assert broken(api, sent_body(MAKERS[api], prefix)) == []


@settings(max_examples=60)
@given(st.data(), APIS)
def test_an_odd_history_that_a_log_may_hold_is_blank_at_worst_and_its_body_is_taken(
    data: st.DataObject, api: Api
) -> None:
    """Repeated and illegal ids, blank texts, thinking of many makers: what of it the validator passes over, the wires repair."""
    pieces = data.draw(histories(provider=MAKERS[api].provider))
    history = (user("q"), *(m for piece in pieces for m in piece))
    rules = rules_for(MAKERS[api])
    assert {p.kind for p in validate(history, rules=rules, original=lambda i: history[i])} <= {"empty_message"}
    mended = mend(history, rules=rules, original=lambda i: history[i])
    assert validate(mended.messages, rules=rules, original=mended.original(lambda i: history[i])) == ()
    assert broken(api, sent_body(MAKERS[api], mended.messages)) == []


SOUND: dict[str, dict[str, Any]] = {
    "anthropic": {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}, {"type": "tool_use", "id": "b"}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "a"}, {"type": "tool_result", "tool_use_id": "b"}],
            },
        ]
    },
    "openai-chat": {
        "messages": [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": i, "function": {"arguments": "{}"}} for i in "ab"],
            },
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": "2"},
        ]
    },
    "openai-responses": {
        "store": False,
        "input": [
            {"type": "message", "role": "user", "content": "q"},
            {"type": "reasoning"},
            {"type": "function_call", "call_id": "a"},
            {"type": "function_call", "call_id": "b"},
            {"type": "function_call_output", "call_id": "a"},
            {"type": "function_call_output", "call_id": "b"},
        ],
    },
    "google": {
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": n}} for n in "ab"]},
            {"role": "user", "parts": [{"functionResponse": {"name": n}} for n in "ab"]},
        ]
    },
}
LIST = {"anthropic": "messages", "openai-chat": "messages", "openai-responses": "input", "google": "contents"}


@pytest.mark.parametrize("api", sorted(SOUND))
def test_the_checker_of_bodies_takes_a_sound_one(api: str) -> None:
    assert broken(api, SOUND[api]) == []


@pytest.mark.parametrize("api", sorted(SOUND))
@pytest.mark.parametrize("spoil", ["drop_last", "double_last", "drop_calls", "nothing_left", "results_first"])
def test_the_checker_of_bodies_finds_a_broken_one(api: str, spoil: str) -> None:
    items = list(SOUND[api][LIST[api]])
    match spoil:
        case "drop_last":
            items = items[:-1]
        case "double_last":
            items = [*items, items[-1]]
        case "drop_calls":
            items = [i for i in items if "call" not in json.dumps(i) and "tool_use" not in json.dumps(i)] + items[-1:]
        case "nothing_left":
            items = []
        case _:
            items = [items[-1], *items[:-1]]
    assert broken(api, {**SOUND[api], LIST[api]: items})
