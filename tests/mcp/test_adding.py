"""`trimtab mcp add` and `remove`: a server gets into a person's settings and out again, and the file is theirs before and after."""

from pathlib import Path

import pytest

from support.cli import Cli

MINE = """# mine
model = "a/b"  # the good one

[mcp.servers.old]
command = "sh"
args = ["-c", "exit"]
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A person with settings of their own."""
    cli = Cli.at(tmp_path, HUSH="hush-hush-hush")
    cli.config(MINE)
    return cli


def written(cli: Cli) -> str:
    """The settings now."""
    return (cli.home / "config.toml").read_text()


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        (
            ("--env", "KEY=${HUSH}", "--", "sh", "-c", "echo --x"),
            '\n[mcp.servers.new]\ncommand = "sh"\nargs = ["-c", "echo --x"]\nenv = { "KEY" = "${HUSH}" }\n',
        ),
        (
            ("--url", "https://h.example/mcp", "--header", "Authorization=Bearer ${HUSH}"),
            '\n[mcp.servers.new]\nurl = "https://h.example/mcp"\nheaders = { "Authorization" = "Bearer ${HUSH}" }\n',
        ),
    ],
)
def test_a_server_is_a_table_more_and_goes_without_a_trace(cli: Cli, given: tuple[str, ...], stands: str) -> None:
    outcome = cli.inside("mcp", "add", "new", *given)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == f"new stands in {cli.home / 'config.toml'}\ntrimtab mcp list --start tries it\n"
    assert written(cli) == MINE + stands
    assert "new" in cli.inside("mcp", "list").out
    outcome = cli.inside("mcp", "remove", "new")
    assert (outcome.code, outcome.err) == (0, "")
    assert written(cli).rstrip() == MINE.rstrip()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("old", "--", "sh"), "there is a server old already"),
        (("old__x", "--", "sh"), "names like those of your server old"),
        (("a b", "--", "sh"), "is no name for a server"),
        (("\x1b[2J", "--", "sh"), "is no name for a server"),
        (("x" * 65, "--", "sh"), "is no name for a server"),
        (("new",), "a server is a command or a url"),
        (("new", "--url", "https://h", "--", "sh"), "and not both"),
        (("new", "--url", "ftp://h"), "its url is no http(s) address"),
        (("new", "--url", "https://h", "--env", "A=b"), "--env is for a command"),
        (("new", "--env", "hush-hush-hush", "--", "sh"), "--env number 1 is no NAME=VALUE"),
        (("new", "--env", "A=b", "--env", "A=c", "--", "sh"), "--env names A twice"),
        (("new", "--env", "A=b\x1b[2J", "--", "sh"), "--env number 1 is no NAME=VALUE"),
    ],
)
def test_what_can_not_be_used_is_refused_and_nothing_is_written(cli: Cli, given: tuple[str, ...], said: str) -> None:
    outcome = cli.inside("mcp", "add", *given)
    assert outcome.code == 2
    assert said in outcome.err
    assert "hush" not in outcome.err
    assert "\x1b" not in outcome.err
    assert written(cli) == MINE


def test_a_secret_in_plain_is_warned_of_and_not_said_again(cli: Cli) -> None:
    outcome = cli.inside(
        "mcp", "add", "new", "--env", "KEY=hush-hush-hush", "--env", "OTHER=${NOT_SET}", "--", "no-such-program"
    )
    assert outcome.code == 0
    assert "note: what KEY is stands in that file" in outcome.out
    assert "note: the variable NOT_SET isn't set, so it isn't used yet" in outcome.out
    assert "hush" not in outcome.out + outcome.err


def test_a_server_that_is_not_there_can_not_be_removed(cli: Cli) -> None:
    outcome = cli.inside("mcp", "remove", "nwe")
    assert outcome.code == 2
    assert "no server 'nwe' stands in" in outcome.err
    assert "Servers of your settings: old" in outcome.err
    assert written(cli) == MINE
