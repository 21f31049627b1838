"""`fetch` in a run: off, turned on, asked about, allowed."""

from pathlib import Path

import pytest

from support.cli import Cli, Json, text_of
from support.servers import FakeServer, Reply


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)


def run(cli: Cli, url: str, *flags: str) -> Json:
    """The result of a call of `fetch`."""
    script = cli.script({"tool_calls": [{"name": "fetch", "arguments": {"url": url}}]}, {"text": "done"})
    (ended,) = cli.inside("-p", "look", "--model", script, "--mode", "json", *flags).of("tool_ended")
    return ended


def page() -> Reply:
    return Reply([b"the port is 8080"], headers={"content-type": "text/plain"})


def test_there_is_no_such_tool_unless_it_is_turned_on(cli: Cli) -> None:
    ended = run(cli, "http://127.0.0.1:1/")
    assert ended["is_error"]
    assert "fetch" in text_of(ended)


def test_turned_on_it_is_refused_with_the_rule_that_would_allow_it(cli: Cli) -> None:
    with FakeServer(page()) as server:
        ended = run(cli, server.url, "--set", "tools.fetch.enabled=true")
        address = server.url[7:]
    assert ended["is_error"]
    assert f'permissions.allow = ["fetch({address})"]' in text_of(ended)
    assert server.requests == []


@pytest.mark.parametrize("mode", ["auto-edit", "plan"])
def test_with_that_rule_it_gets_the_page(cli: Cli, mode: str) -> None:
    with FakeServer(page()) as server:
        allowed = f'permissions.allow=["fetch({server.url[7:]})"]'
        ended = run(cli, server.url, "--set", "tools.fetch.enabled=true", "--set", allowed, "--permission", mode)
    assert not ended["is_error"]
    assert text_of(ended).endswith("the port is 8080")


def test_naming_it_among_the_tools_turns_it_on(cli: Cli) -> None:
    with FakeServer(page()) as server:
        ended = run(cli, server.url, "--tools", "fetch", "--permission", "full")
    assert text_of(ended).endswith("the port is 8080")


def test_it_is_explained_like_any_other_call(cli: Cli) -> None:
    outcome = cli.inside("permissions", "why", "fetch", "https://a.org/x")
    assert "a.org is out there" in outcome.out
