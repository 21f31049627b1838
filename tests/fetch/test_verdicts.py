"""Who may be asked for a page: rules by server."""

from typing import Any

import pytest

from trimtab.coding.permissions.decide import judge
from trimtab.coding.permissions.policy import Mode, Policy
from trimtab.coding.permissions.rules import Rules, parse_rules
from trimtab.coding.permissions.verdicts import Ask, Deny, outcome_of
from trimtab.types.errors import ConfigError
from trimtab.types.messages import ToolCall


class NoPaths:
    """A page is no path."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"asked for {name}")


def rules(allow: str = "", deny: str = "", ask: str = "") -> Rules:
    lists = {"allow": allow, "deny": deny, "ask": ask}
    parsed = {k: parse_rules(v.split(), key=f"permissions.{k}", origin="") for k, v in lists.items()}
    return Rules(**parsed)


def verdict(url: str, given: Rules, mode: Mode = "auto-edit") -> Any:
    call = ToolCall("c", "fetch", {"url": url}, "")
    return judge(call, Policy(mode, "/p", "/home/me", given), NoPaths()).decision  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("url", "given", "wanted"),
    [
        ("https://a.org/x", rules(), "ask"),
        ("https://a.org/x", rules("fetch(a.org)"), "allow"),
        ("https://a.org/x", rules("fetch"), "allow"),
        ("https://a.org/x", rules("fetch(A.org)"), "allow"),
        ("https://b.a.org/x", rules("fetch(a.org)"), "ask"),
        ("https://b.a.org/x", rules("fetch(*.a.org)"), "allow"),
        ("https://a.org.evil.com/", rules("fetch(a.org)"), "ask"),
        ("https://evil.com/a.org", rules("fetch(*a.org)"), "ask"),
        ("https://a.org:8443/", rules("fetch(a.org)"), "ask"),
        ("https://a.org:8443/", rules("fetch(a.org:8443)"), "allow"),
        ("https://a.org/x", rules("fetch", deny="fetch(a.org)"), "deny"),
        ("https://a.org/x", rules("fetch", deny="fetch"), "deny"),
        ("https://a.org/x", rules("fetch", ask="fetch(*.org)"), "ask"),
        ("http://127.0.0.1:3000/", rules("fetch"), "ask"),
        ("http://127.0.0.1:3000/", rules("fetch(*)"), "ask"),
        ("http://127.0.0.1:3000/", rules("*"), "ask"),
        ("http://127.0.0.1:3000/", rules("fetch(127.0.0.1:3000)"), "allow"),
        ("http://localhost:3000/", rules("fetch(LocalHost:3000)"), "allow"),
        ("http://169.254.169.254/", rules("fetch(*)"), "ask"),
        ("no address", rules(), "allow"),
    ],
)
def test_a_server_is_asked_about_unless_a_rule_names_it(url: str, given: Rules, wanted: str) -> None:
    assert outcome_of(verdict(url, given)) == wanted


def test_in_mode_full_pages_are_fetched_but_for_what_rules_hold() -> None:
    assert outcome_of(verdict("http://localhost/", rules(), "full")) == "allow"
    assert outcome_of(verdict("https://a.org/", rules(deny="fetch(a.org)"), "full")) == "deny"
    assert outcome_of(verdict("https://a.org/", rules(ask="fetch"), "full")) == "ask"


def test_in_mode_plan_a_rule_allows_pages_and_nobody_is_asked() -> None:
    assert outcome_of(verdict("https://a.org/", rules("fetch(a.org)"), "plan")) == "allow"
    assert isinstance(verdict("https://b.org/", rules("fetch(a.org)"), "plan"), Deny)


def test_the_question_offers_a_rule_for_that_server() -> None:
    asked = verdict("https://a.org:8443/secret?x=1", rules())
    assert isinstance(asked, Ask)
    assert asked.rules == ("fetch(a.org:8443)",)
    assert "a.org:8443 is out there, and learns what the address says" in asked.reason
    assert 'permissions.allow = ["fetch(a.org:8443)"]' in asked.hint


@pytest.mark.parametrize("text", ["fetch(https://a.org)", "fetch(a.org/x)", "fetch(me@a.org)", "fetch(a b)"])
def test_a_rule_names_a_server_and_nothing_else(text: str) -> None:
    with pytest.raises(ConfigError, match="is no server") as raised:
        parse_rules([text], key="permissions.allow", origin="")
    assert "fetch(docs.python.org)" in str(raised.value.hint)
