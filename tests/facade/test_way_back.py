"""What a request says about how to read what it hides is true for the model that gets it."""

import json
import re

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])
TOOL = re.compile(r"recall (?:id|query)=|read path=|memo action=|edit_context|\brecall\b")
HIDING = ["elide", "fold", "summarize", "compress", "compact"]


def after(name, action, cm):
    cm.step([*talk(name, 3, lines=300), answer(name)])
    outcome = cm.execute({"action": action, "targets": ["call_0", "call_1"], "params": {"max_tokens": 300}})
    assert outcome["done"], outcome["problems"]
    return said(cm.messages())


@pytest.mark.parametrize("action", HIDING)
def test_a_model_without_context_tools_is_told_of_none(name, action):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    text = after(name, action, cm)
    assert "kept outside this conversation" in text
    assert not TOOL.search(text)
    assert "line 150 of file 0: value = 150\n" in cm.recall("call_0")


@pytest.mark.parametrize("action", HIDING)
def test_a_model_with_context_tools_is_told_the_call_that_reads_it(name, action):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.tools()
    text = after(name, action, cm)
    assert "kept outside this conversation" not in text
    assert "recall id=" in text


def test_large_arguments_give_way_to_a_pointer_that_names_no_tool_either(name):
    body = "\n".join(f"line {n} = {n * 7}" for n in range(400))
    arguments = {"path": "a.py", "content": body}
    if name == "anthropic":
        call = {"role": "assistant", "content": [{"type": "tool_use", "id": "w", "name": "write", "input": arguments}]}
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "w", "content": "ok"}]}
    else:
        function = {"name": "write", "arguments": json.dumps(arguments)}
        call = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "w", "type": "function", "function": function}],
        }
        result = {"role": "tool", "tool_call_id": "w", "content": "ok"}
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.step([opening(), call, result, answer(name)])
    assert cm.execute({"action": "offload", "target": "w"})["done"]
    text = said(cm.messages())
    assert "kept outside this conversation" in text
    assert not TOOL.search(text)


def test_a_long_run_without_tools_names_none(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    cm.run(opening())
    for number in range(25):
        for message in reading(name, number):
            cm.run(message)
        assert not TOOL.search(said(cm.messages()))


def test_what_was_hidden_before_tools_were_offered_stays_as_it_was(name):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    before = after(name, "elide", cm)
    cm.tools()
    assert said(cm.messages()) == before
    assert "line 150 of file 0" in cm.call("recall", {"id": "call_0"})
    assert cm.execute({"action": "elide", "target": "call_2"})["done"]
    text = said(cm.messages())
    assert ("kept outside this conversation" in text, "recall id=" in text) == (True, True)


def test_tools_that_are_taken_away_leave_a_request_that_may_go_out_and_names_none(name):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.tools()
    after(name, "elide", cm)
    cm.tools("off")
    assert not TOOL.search(said(cm.messages()))


def test_they_may_be_taken_away_in_a_full_window_too(name):
    cm = ContextManager(max_tokens=8_000, format=name)
    cm.tools()
    for message in talk(name, 20):
        cm.run(message)
    assert "recall id=" in said(cm.messages())
    for profile in ("off", "archive"):
        cm.tools(profile)
        assert cm.messages()
        assert not cm.observe()["budget"]["over"]
