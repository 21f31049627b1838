"""A slash command as a whole run."""

import pytest

from support.cli import Cli, Outcome, local, said
from support.servers import FakeServer


def ran(cli: Cli, line: str, *more: str, mode: str = "text") -> Outcome:
    """One run, of a model whose words are a script."""
    return cli.inside("-p", line, "--mode", mode, "--model", cli.script({"text": "ok"}, {"text": "again"}), *more)


@pytest.mark.parametrize(
    ("line", "told", "hint"),
    [
        ("/skill:nope fix it", "no command /skill:nope", "put a space before it"),
        ("/deploy prod now", "no command /deploy", "put a space before it"),
        ("/fix-it bug", "no command /fix-it", "put a space before it"),
        ("/modle x", "no command /modle", "Did you mean /model?"),
        ("/exit", "no command /exit", "Did you mean /quit?"),
        ("/scoped-models", "no command /scoped-models", "Did you mean /models?"),
        ("/model a/b", "/model is a command of a talk", "--model PROVIDER/MODEL"),
        ("/trust", "/trust is a command of a talk", "trimtab trust does that"),
        ("/help", "/help is a command of a talk", "trimtab chat starts one"),
        ("!ls", "!COMMAND is for a talk", "COMMAND | trimtab -p"),
        ("!!ls -la", "!COMMAND is for a talk", "put a space before it"),
    ],
)
def test_what_is_no_run_goes_to_no_model(cli: Cli, line: str, told: str, hint: str) -> None:
    outcome = ran(cli, line)
    assert (outcome.code, outcome.out) == (2, "")
    assert told in outcome.err
    assert hint in " ".join(outcome.err.split())
    assert cli.sessions == []


@pytest.mark.parametrize(
    "line", ["/usr/bin/x is slow", "/tmp is full", "/ is full", "/v1/users answers 500", " /deploy", "! ", " !ls"]
)
def test_paths_and_what_has_a_blank_before_it_are_prompts(cli: Cli, line: str) -> None:
    outcome = ran(cli, line)
    assert (outcome.code, outcome.out) == (0, "ok\n"), outcome.err


def test_commands_that_need_nobody_run_alone(cli: Cli) -> None:
    system = ran(cli, "/system")
    assert (system.code, system.out.splitlines()[0].split()) == (0, ["SECTION", "TOKENS", "FROM"]), system.err
    assert ran(cli, "remember the port").code == 0
    out = cli.project / "talk.md"
    export = ran(cli, "/export talk.md", "--continue")
    assert (export.code, export.out) == (0, f"written to {out}\n"), export.err
    assert "remember the port" in out.read_text()
    named = ran(cli, "/name the port", "--continue", mode="json")
    assert named.code == 0
    assert [event["message"] for event in named.of("notice")][-1] == "name: the port"
    assert (named.result["reason"], named.result["text"], named.result["steps"]) == ("stop", "", 0)
    nothing = ran(cli, "/compact", "--continue")
    assert nothing.code == 1
    assert "The conversation is as it was." in nothing.err
    missing = ran(cli, "/export no/such/folder/x.md", "--continue")
    assert missing.code in (1, 2)
    assert "Traceback" not in missing.err


def test_a_check_that_fails_has_the_exit_code_of_one(cli: Cli) -> None:
    failed = ran(cli, "/verify", "--verify", "false")
    assert (failed.code, failed.out.splitlines()[0].split(":")[0]) == (3, "verify failed"), failed.err
    assert ran(cli, "/verify", "--verify", "true").out == "verify passed\n"
    assert "verify" in ran(cli, "/verify").err


def test_init_is_a_turn(cli: Cli) -> None:
    with FakeServer(said("written")) as server:
        outcome = cli.inside("-p", "/init be brief", *local(server))
    assert (outcome.code, outcome.out) == (0, "written\n"), outcome.err
    assert "The person adds: be brief" in str(server.requests[0].json["messages"][-1]["content"])


def test_a_command_of_an_extension_may_answer_or_say(cli: Cli) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "mine.py").write_text(
        "from trimtab.extend import Say\n"
        "API = 1\n"
        "def extend(api):\n"
        "    api.command('greet', lambda rest, here: 'hello ' + rest)\n"
        "    api.command('ask-it', lambda rest, here: Say('what is ' + rest))\n"
    )
    assert ran(cli, "/greet you").out == "hello you\n"
    assert ran(cli, "/ask-it this").out == "ok\n"
