"""The context tools, for a program that runs its own model."""

import re

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.types.errors import UsageError

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])


def ready(name):
    cm = ContextManager(lambda _seen: None, max_tokens=50_000, format=name)
    cm.tools("pilot")
    cm.step([*talk(name, 3), answer(name)])
    return cm


@pytest.mark.parametrize(("profile", "count"), [("off", 0), ("archive", 3), ("pilot", 7)])
def test_definitions_have_the_shape_of_the_api(name, profile, count):
    definitions = ContextManager(max_tokens=50_000, format=name).tools(profile)
    assert len(definitions) == count
    for one in definitions:
        fields = one["function"] if name == "openai" else one
        schema = fields["parameters"] if name == "openai" else fields["input_schema"]
        assert (sorted(one) == ["function", "type"]) == (name == "openai")
        assert (schema["type"], bool(fields["description"])) == ("object", True)


def test_tools_are_counted_from_then_on(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    before = cm.observe()["used_tokens"]
    cm.tools()
    assert cm.observe()["used_tokens"] > before + 200


def test_an_unknown_profile_is_refused(name):
    with pytest.raises(UsageError, match="no profile 'all'"):
        ContextManager(max_tokens=50_000, format=name).tools("all")


def test_a_model_archives_finds_and_brings_back(name):
    cm = ready(name)
    before = cm.messages()
    assert "elide" in cm.call(
        "archive", {"action": "archive", "ids": ["r1", "call_1"], "summary": "two files of values"}
    )
    assert "two files of values" in str(cm.messages())
    assert "line 7 of file 0" in cm.call("recall", {"query": "line 7 of file 0"})
    assert "line 99 of file 1" in cm.call("recall", '{"id": "r2"}')
    cm.call("archive", {"action": "unarchive", "ids": ["r1", "r2"]})
    assert cm.messages() == before


def test_a_memo_is_kept_and_read(name):
    cm = ready(name)
    assert "kept memo 'plan'" in cm.call("memo", {"action": "write", "key": "plan", "content": "first", "summary": "s"})
    assert "first" in cm.call("memo", {"action": "read", "key": "plan"})


@pytest.mark.parametrize(
    ("tool", "arguments", "answered"),
    [
        ("fly", {}, "there is no context tool 'fly'"),
        (None, {}, "there is no context tool None"),
        ("recall", "{not json", "no JSON"),
        ("recall", "[1]", "can't be read"),
        ("recall", {"id": object()}, "can't be read"),
        ("recall", {"id": "r99"}, "no item 'r99'"),
        ("archive", {"action": "archive", "ids": ["r99"]}, "no item 'r99'"),
        ("archive", {"ids": 7}, "correct the call"),
        ("context_status", None, "window 50,000 tokens"),
    ],
)
def test_whatever_a_model_sends_is_answered_in_words(name, tool, arguments, answered):
    assert answered in ready(name).call(tool, arguments)


def test_a_pointer_is_not_kept_for_the_content_that_it_stands_for(name):
    cm = ready(name)
    cm.execute({"action": "elide", "target": "call_0"})
    stub = next(text for text in str(cm.messages()).split("'") if text.startswith("[archived"))
    reply = cm.call("memo", {"action": "write", "key": "copy", "content": stub, "summary": "a copy"})
    assert "kept memo" not in reply
    assert cm.call("memo", {"action": "list"}) == "no memos yet"


@pytest.mark.parametrize(
    "arguments", ["[" * 100_000, "[" * 3_000 + "]" * 3_000, {"key": "k"}], ids=["open", "closed", "dict"]
)
@pytest.mark.parametrize(
    "inner", ["[" * 100_000, '{"a":' * 3_000, "[" * 900 + "]" * 900], ids=["open", "objects", "closed"]
)
def test_no_nesting_of_what_a_model_sent_raises(name, arguments, inner):
    cm = ready(name)
    for one in cm.tools("pilot"):
        tool = one.get("function", one)
        fields = (tool.get("parameters") or tool["input_schema"])["properties"]
        for sent in [arguments, *({field: inner} for field in fields)]:
            assert isinstance(cm.call(tool["name"], sent), str)


def test_the_model_and_the_program_are_told_the_same_reserve(name):
    cm = ready(name)
    budget = cm.observe()["budget"]
    assert cm.call("context_status").startswith(
        f"window {budget['window']:,} tokens, reserve {budget['reserve']:,} for the answer, margin {budget['safety']:,}, used "
    )


def test_a_page_that_comes_back_is_the_one_that_recall_reads_by_its_number(name):
    cm = ContextManager("none", max_tokens=12_000, format=name)
    cm.tools()
    cm.step([opening(), *reading(name, 0, lines=300)])
    cm.execute({"action": "elide", "target": "call_0"})
    read = cm.call("recall", {"id": "call_0", "page": 2})
    assert ": page 2 of " in read
    assert cm.execute({"action": "reload", "target": "call_0", "params": {"page": 2}})["done"]
    shown = next(text for text in said(cm.messages()).split("[folded ") if ": page 2 of " in text)
    assert read.splitlines()[1] in shown
    assert read.splitlines()[-1] in shown
    assert re.findall(r"page 2 of \d+", read)[0] in shown
