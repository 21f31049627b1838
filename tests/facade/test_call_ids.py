"""Servers that give several calls one id: each call has its own in what goes out, and each text is found."""

import json

import pytest

from support import wire_rules
from support.talks import answer, opening, reading, said
from trimtab.context import Context, ContextManager

BOTH = pytest.mark.parametrize("name", ["openai", "anthropic"])


def renamed(messages, **ids):
    """The messages with other ids of calls."""
    text = json.dumps(messages)
    for old, new in ids.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return json.loads(text)


def again(name, number, lines=18):
    """A reading whose call has the id of every other."""
    return renamed(reading(name, number, lines), **{f"call_{number}": "call_0"})


def faults(name, messages):
    """What the API would refuse."""
    rules = wire_rules.anthropic if name == "anthropic" else wire_rules.openai_chat
    written = [m if isinstance(m["content"], list | None) else {**m, "content": [{"type": "text", "text": m["content"]}]} for m in messages]  # fmt: skip
    return list(rules({"messages": written if name == "anthropic" else messages}))


def managed(name, *messages):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.tools()
    cm.step([opening(), *messages])
    return cm


@BOTH
def test_calls_of_one_id_go_out_with_one_each(name):
    cm = managed(name, *again(name, 0), *again(name, 1), *again(name, 2), answer(name))
    assert faults(name, cm.messages()) == []
    assert cm.messages() == [opening(), *reading(name, 0, 18), *renamed(again(name, 1), call_0="call_0_2"), *renamed(again(name, 2), call_0="call_0_3"), answer(name)]  # fmt: skip


@BOTH
def test_the_text_of_each_is_recalled(name):
    cm = managed(name, *again(name, 0), *again(name, 1), answer(name))
    for item in cm.observe()["active_context"]:
        if item["kind"] == "result":
            cm.execute({"action": "elide", "target": item["id"]})
    shown = said(cm.messages())
    for number, handle in enumerate(["call_0", "call_0_2"]):
        assert f"recall id={handle}]" in shown
        assert f"of file {number}" in cm.call("recall", {"id": handle})


@BOTH
def test_a_result_by_the_id_that_the_program_knows_belongs_to_the_newest_call(name):
    cm = managed(name, *again(name, 0))
    call, result = again(name, 1)
    cm.step(call)
    loaded = ContextManager(lambda _seen: None, max_tokens=50_000, format=name).load(cm.dump())
    for one in (cm, loaded):
        one.step([result, *again(name, 2), answer(name)])
        assert faults(name, one.messages()) == []
        assert one.problems == []
    assert loaded.messages() == cm.messages()


@BOTH
def test_two_calls_of_one_answer_take_their_results_in_order(name):
    (call, first), (other, second) = again(name, 0), again(name, 1)
    field = "content" if name == "anthropic" else "tool_calls"
    cm = managed(name, {**call, field: call[field] + other[field]}, first, second, answer(name))
    shown = cm.messages()
    assert faults(name, shown) == []
    assert said(shown).index("line 0 of file 0") < said(shown).index("line 0 of file 1")
    assert "another result" not in said(shown)


@BOTH
def test_an_id_that_the_api_would_refuse_for_its_length_goes_out_as_one_that_it_takes(name):
    given = renamed(reading(name, 0), call_0="c" * 70)
    cm = managed(name, *given, answer(name))
    shown = cm.messages()
    assert faults(name, shown) == []
    assert "c" * 70 not in said(shown)
    assert "of file 0" in cm.call("recall", {"id": "c" * 70})


def test_an_id_with_letters_of_its_servers_own_stays_as_it_came():
    given = renamed(reading("openai", 0, 18), call_0="functions.read:0")
    cm = managed("openai", *given, answer("openai"))
    assert cm.messages() == [opening(), *given, answer("openai")]


@BOTH
def test_a_plain_context_gives_the_answer_to_the_newest_call_of_an_id(name):
    context = Context([opening(), *again(name, 0), *again(name, 1)], format=name)
    assert faults(name, context.to_model_messages()) == []
    assert "of file 1" in context.get_responses("call_0")["call_0"]
