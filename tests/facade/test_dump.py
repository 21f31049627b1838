"""A conversation that is written down and goes on elsewhere is the same one."""

import json

import pytest

from support.talks import answer, opening, reading, said, talk
from trimtab.context import ContextManager
from trimtab.types.errors import UsageError

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])


def busy(name):
    """A conversation in which all kinds of things happened."""
    tool = {"name": "f", "input_schema": {"type": "object"}}
    cm = ContextManager(max_tokens=16_000, format=name, reserve=1_000, system="Be brief.", tools=[tool])
    cm.tools("pilot")
    reported = None
    for message in talk(name, 15):
        cm.run(message, usage=reported if message["role"] == "assistant" else None)
        reported = {"input_tokens": len(said(cm.messages())) // 3 + 3_000, "output_tokens": 9}
    cm.execute({"action": "pin", "target": "call_14"})
    cm.execute({"action": "reload", "target": "call_3"})
    cm.call("memo", {"action": "write", "key": "plan", "content": "first the header", "summary": "the plan"})
    cm.call("memory", {"action": "memorize", "key": "build", "summary": "make needs a header"})
    return cm


def again(cm):
    return ContextManager(max_tokens=1_000).load(cm.dump())


def test_a_dump_is_json_and_gives_the_same_dump(name):
    cm = busy(name)
    assert json.loads(cm.dump())["format"] == name
    assert again(cm).dump() == cm.dump()


def test_everything_is_seen_and_sent_as_before(name):
    cm = busy(name)
    other = again(cm)
    assert other.observe() == cm.observe()
    assert other.messages() == cm.messages()
    assert (other.log, other.system, other.max_tokens) == (cm.log, "Be brief.", 16_000)


def test_both_go_on_alike(name):
    cm = busy(name)
    other = again(cm)
    for number in range(20, 25):
        for message in reading(name, number):
            assert other.run(message, usage=None) == cm.run(message, usage=None)
            assert other.messages() == cm.messages()
    assert other.dump() == cm.dump()


def test_memos_and_memories_come_along(name):
    cm = busy(name)
    cm.call("memo", {"action": "write", "key": "old", "content": "gone"})
    cm.call("memo", {"action": "delete", "key": "old"})
    other = again(cm)
    for arguments in ({"action": "read", "key": "plan"}, {"action": "list"}):
        assert other.call("memo", arguments) == cm.call("memo", arguments)
    assert "make needs a header" in other.call("memory", {"action": "load", "key": "build"})


def test_what_was_proposed_is_still_proposed(name):
    wanted = [[{"action": "elide", "target": "call_0"}, {"action": "fold", "target": "call_1"}]]

    def policy(_seen):
        return wanted.pop() if wanted else []

    cm = ContextManager(policy, max_tokens=50_000, format=name)
    cm.step(talk(name, 2))
    other = ContextManager(policy, max_tokens=50_000, format=name).load(cm.dump())
    assert other.step(answer(name))["targets"] == ["call_1"]


def test_an_edit_can_be_taken_back_after_loading(name):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.step(talk(name, 1))
    before = cm.messages()
    cm.execute({"action": "elide", "target": "call_0"})
    other = again(cm)
    assert other.execute({"action": "reload", "target": "call_0"})["done"]
    assert other.messages() == before


@pytest.mark.parametrize("text", ["", "{}", "[]", "nothing", '{"trimtab_context": 1}', '{"trimtab_context": 99}'])
def test_what_is_no_dump_is_refused_and_changes_nothing(name, text):
    cm = ContextManager(max_tokens=50_000, format=name)
    cm.step(opening())
    before = cm.dump()
    with pytest.raises(UsageError, match="no dump"):
        cm.load(text)
    assert cm.dump() == before


def test_a_dump_that_was_cut_or_changed_is_refused(name):
    cm = busy(name)
    data = json.loads(cm.dump())
    for field in ("entries", "given", "learned", "notes", "proposed", "log", "max_tokens"):
        with pytest.raises(UsageError):
            ContextManager(max_tokens=1_000).load(json.dumps({**data, field: "nonsense"}))
        with pytest.raises(UsageError):
            ContextManager(max_tokens=1_000).load(json.dumps({k: v for k, v in data.items() if k != field}))
