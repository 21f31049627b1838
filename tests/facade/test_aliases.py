"""The other words that models use for the same actions do the same, by `execute` as by a policy."""

import pytest

from support.talks import answer, said, talk
from trimtab.context import ContextManager
from trimtab.context.actions import ALIASES

pytestmark = pytest.mark.parametrize("name", ["openai", "anthropic"])


def nothing(_seen):
    return None


def manager(name, policy=nothing):
    cm = ContextManager(policy, max_tokens=50_000, format=name)
    cm.step([*talk(name, 3), answer(name)])
    return cm


@pytest.mark.parametrize(
    ("alias", "meant"), [("mask", "elide"), ("hide", "elide"), ("archive", "elide"), ("delete", "drop")]
)
def test_what_takes_out_of_view_has_other_names(name, alias, meant):
    by_alias, by_name = manager(name), manager(name)
    outcome = by_alias.execute({"action": alias, "target": "call_0", "reason": "long"})
    assert outcome == by_name.execute({"action": meant, "target": "call_0", "reason": "long"})
    assert (outcome["action"], outcome["done"], outcome["edits"][0]["kind"]) == (meant, True, meant)
    assert by_alias.messages() == by_name.messages()
    assert "line 50 of file 0" not in said(by_alias.messages())
    assert "line 50 of file 0: value = 50\n" in by_alias.recall("call_0")


@pytest.mark.parametrize("alias", ["restore", "unarchive"])
@pytest.mark.parametrize("hidden", ["mask", "delete", "fold", "summarize"])
def test_what_brings_back_has_other_names(name, alias, hidden):
    cm = manager(name)
    before = cm.messages()
    assert cm.execute({"action": hidden, "target": "call_0"})["done"]
    assert cm.messages() != before
    outcome = cm.execute({"action": alias, "target": "call_0"})
    assert (outcome["action"], outcome["done"], outcome["problems"]) == ("reload", True, [])
    assert cm.messages() == before


def test_doing_nothing_has_another_name(name):
    cm = manager(name)
    before = cm.observe()
    outcome = cm.execute({"action": "noop"})
    assert (outcome["action"], outcome["done"], outcome["edits"]) == ("keep", True, [])
    assert cm.messages() == [*talk(name, 3), answer(name)]
    assert cm.observe()["active_context"] == before["active_context"]


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_a_policy_may_use_them_too(name, alias):
    cm = manager(name, lambda _seen: {"action": alias, "target": "call_0"})
    action = cm.step(answer(name, "and on"))
    assert action["action"] == ALIASES[alias] or (ALIASES[alias] == "reload" and action["action"] == "keep")


def test_no_word_is_untested(name):
    assert set(ALIASES) == {"mask", "hide", "archive", "delete", "restore", "unarchive", "noop"}
