"""Servers in a whole session: who may call them, what a talk shows of them, and what the command line does with them."""

import json
import sys
from pathlib import Path

import anyio
import pytest
from msgspec.structs import replace

from support.cli import Cli, Json, Outcome, text_of
from support.mcp_kit import FAKE, needs_sdk
from trimtab.agent.ports import Answer, Proceed, ToolOutput
from trimtab.coding.choose import Ephemeral, New
from trimtab.coding.mcp.carried import CarriedHooks
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.coding.subagent import run_subagent
from trimtab.types.messages import ToolCall
from trimtab.types.stream import make_call

pytestmark = needs_sdk


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """A home whose settings name servers."""
    cli = Cli.at(tmp_path)
    named(cli, a="good")
    return cli


def named(cli: Cli, more: str = "", **servers: str) -> None:
    """Write settings that name servers, each with how it behaves."""
    tables = [
        f"[mcp.servers.{name}]\ncommand = {json.dumps(sys.executable)}\nargs = {json.dumps(['-I', FAKE, mode])}\n"
        for name, mode in servers.items()
    ]
    cli.config(more + "".join(tables))


def calls(cli: Cli, *called: tuple[str, Json], flags: tuple[str, ...] = ()) -> tuple[list[Json], Outcome]:
    """The results of calls that a model makes in one turn."""
    script = cli.script(
        {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in called]}, {"text": "done"}
    )
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", script, *flags)
    return outcome.of("tool_ended"), outcome


class Recorder:
    """Hooks that keep the calls that they are asked about, and change them."""

    def __init__(self) -> None:
        self.seen: list[ToolCall] = []

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        return output

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        self.seen.append(call)
        return Proceed(replace(call, arguments={"text": "changed"}))


ECHO = ("mcp__a__echo", {"text": "hi"})
CARRIED = ("mcp_call", {"name": "mcp__a__echo", "arguments": {"text": "hi"}})
DEFERRED = "[mcp]\ndefer_share = 0.000001\n"


def test_without_a_rule_and_a_person_a_servers_tool_is_not_run(cli: Cli) -> None:
    (ended,), outcome = calls(cli, ECHO)
    assert ended["is_error"]
    assert text_of(ended).startswith("Not run: the tool 'mcp__a__echo' may change things.")
    assert 'permissions.allow = ["mcp__a__echo"]' in text_of(ended)
    assert outcome.code == 0


@pytest.mark.parametrize("rule", ["mcp__a__echo", "mcp__a__*", "mcp__*"])
def test_a_rule_lets_it_run(cli: Cli, rule: str) -> None:
    (ended,), _ = calls(cli, ECHO, flags=("--set", f'permissions.allow=["{rule}"]'))
    assert (text_of(ended), ended["is_error"]) == ("hi", False)


@pytest.mark.parametrize("call", [ECHO, CARRIED])
def test_a_denial_holds_on_every_way_to_a_tool(cli: Cli, call: tuple[str, Json]) -> None:
    named(cli, DEFERRED if call is CARRIED else "", a="good")
    flags = ("--permission", "full", "--set", 'permissions.deny=["mcp__a__echo"]')
    (ended,), _ = calls(cli, call, flags=flags)
    assert "denied by the rule" in text_of(ended) or "mcp__a__echo" in text_of(ended)
    assert ended["is_error"]


def test_a_tool_that_is_looked_up_is_judged_as_itself(cli: Cli) -> None:
    named(cli, DEFERRED, a="good")
    (found, refused), _ = calls(cli, ("mcp_find", {"query": "say again"}), CARRIED)
    assert text_of(found).startswith("mcp__a__echo: says it again\narguments: {")
    assert "'mcp__a__echo' may change things" in text_of(refused)
    (ended,), _ = calls(cli, CARRIED, flags=("--set", 'permissions.allow=["mcp__a__echo"]'))
    assert text_of(ended) == "hi"


@pytest.mark.anyio
async def test_who_works_for_a_session_is_held_to_the_form_that_was_allowed(cli: Cli) -> None:
    named(cli, f'[permissions]\nallow = ["mcp__a__echo#{"0" * 32}"]\n', a="good")
    call = {"tool_calls": [{"name": "mcp__a__echo", "arguments": {"text": "hi"}}]}
    parent, child = (
        open_project(cli.project, overrides={"model": cli.script(*lines)}, env=cli.environment())
        for lines in (({"text": "x"},), (call, {"text": "x"}))
    )
    async with open_session(parent, New()) as session, open_session(child, Ephemeral()) as lent:
        await session.prompt("go")
        result = await run_subagent(session, "go", provider=lent.agent.provider)
    assert result.session_file is not None
    assert (
        "isn't what it was when permissions.allow[0], user config" in await anyio.Path(result.session_file).read_text()
    )


def test_a_hook_for_a_tool_holds_when_it_is_looked_up() -> None:
    inner = Recorder()
    hooks = CarriedHooks(inner)
    call = make_call("c", "mcp_call", json.dumps({"name": "mcp__a__echo", "arguments": {"text": "x"}}))
    verdict = anyio.run(hooks.before_tool, call)
    assert [(c.name, c.arguments) for c in inner.seen] == [("mcp__a__echo", {"text": "x"})]
    assert isinstance(verdict, Proceed)
    assert verdict.call is not None
    assert verdict.call.arguments == {"name": "mcp__a__echo", "arguments": {"text": "changed"}}


def test_arguments_of_a_tool_that_is_looked_up_are_checked_and_its_schema_is_shown(cli: Cli) -> None:
    named(cli, DEFERRED, a="good")
    call = ("mcp_call", {"name": "mcp__a__echo", "arguments": {}})
    (ended, wrong), _ = calls(cli, call, ("mcp_call", {"name": "mcp__a__ecko"}), flags=("--permission", "full"))
    assert "the arguments of mcp__a__echo don't fit" in text_of(ended)
    assert '"required":["text"]' in text_of(ended)
    assert "Nearest: mcp__a__echo" in text_of(wrong)


def test_no_tools_means_no_servers(cli: Cli) -> None:
    (ended,), _ = calls(cli, ECHO, flags=("--no-tools", "--permission", "full"))
    assert "There is no tool named" in text_of(ended)


def test_tools_can_be_named_by_globs(cli: Cli) -> None:
    flags = ("--tools", "read,mcp__a__ec*", "--permission", "full")
    ended, _ = calls(cli, ECHO, ("mcp__a__error", {}), flags=flags)
    assert [text_of(one)[:20] for one in ended] == ["hi", "There is no tool nam"]


def test_a_broken_server_costs_a_turn_nothing_but_a_notice(cli: Cli) -> None:
    named(cli, a="good", bad="dead-at-start", worse="noise")
    (ended,), outcome = calls(cli, ECHO, flags=("--permission", "full"))
    assert (text_of(ended), outcome.code) == ("hi", 0)
    notices = [event["message"] for event in outcome.of("notice")]
    command = f"{sys.executable} -I {FAKE}"
    why = "it ended; its last words: no such luck"
    assert f"MCP: bad ({command} dead-at-start) failed: {why} (/mcp bad shows more)" in notices
    assert any(notice.startswith(f"MCP: worse ({command} noise) failed") for notice in notices)


def test_a_server_of_a_project_is_not_used_where_nobody_can_judge_it(cli: Cli) -> None:
    cli.file(".mcp.json", json.dumps({"mcpServers": {"b": {"command": "touch", "args": ["ran"]}}}))
    _, outcome = calls(cli, ECHO, flags=("--trust", "folder"))
    assert any("the server b of .mcp.json isn't used" in event["message"] for event in outcome.of("notice"))
    assert not (cli.project / "ran").exists()
    allowed = cli.inside("mcp", "allow", "b", "--yes")
    assert allowed.code == 0
    assert '"touch"' in allowed.err
    assert '"b"' in cli.inside("mcp", "list", "--json").out


def talk(cli: Cli, *lines: str) -> Outcome:
    """What a talk says when these lines come from a pipe."""
    model = cli.script({"text": "fine"}, {"text": "fine"})
    return cli.run("chat", "--model", model, stdin="".join(f"{line}\n" for line in lines).encode(), timeout=60)


def test_a_talk_shows_servers_and_restarts_them(cli: Cli) -> None:
    named(cli, a="good", bad="dead-at-start")
    outcome = talk(
        cli, "hi", "/mcp", "/mcp a", "/mcp bad", "/mcp restart bad", "/mcp restart a", "/mcp nope", "/mcp resources a"
    )
    assert outcome.code == 0
    for words in (
        "a       running",
        "mcp__a__echo (only reads, it says): says it again",
        "the last that it printed:",
        "bad: it ended; its last words: no such luck",
        "a runs; it has 13 tools",
        "no server 'nope'",
        "note://1  a note",
    ):
        assert words in outcome.err, words


def test_a_prompt_of_a_server_is_said_by_a_command(cli: Cli) -> None:
    outcome = talk(cli, "hi", "/mcp:a:plan how=well tea", "/mcp:a:plan", "/mcp:a:nope")
    assert outcome.code == 0
    (session,) = cli.sessions
    assert 'plan {\\"how\\": \\"well\\", \\"what\\": \\"tea\\"}' in session.read_text().replace("\\\\", "\\")
    assert "what is missing" in outcome.err
    assert "no command /mcp:a:nope" in outcome.err


def test_a_prompt_of_a_server_is_said_in_one_turn_though_nobody_knew_the_server(cli: Cli) -> None:
    (cli.project / "notes.md").write_text("milk first")
    model = cli.script({"text": "done"})
    outcome = cli.inside("-p", "/mcp:a:plan how=well tea", "@notes.md", "--model", model)
    assert (outcome.code, outcome.out) == (0, "done\n")
    (session,) = cli.sessions
    said = session.read_text().replace("\\\\", "\\")
    assert 'plan {\\"how\\": \\"well\\", \\"what\\": \\"tea\\"}' in said
    assert "milk first" in said


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/mcp:a:plan", "what is missing"),
        ("/mcp:a:plam tea", "Did you mean /mcp:a:plan?"),
        ("/mcp:gone:plan tea", "dead-at-start) failed: it ended; its last words: no such luck"),
        ("/mcp:off:plan tea", "off isn't used: it is disabled"),
    ],
)
def test_a_prompt_of_a_server_that_cannot_be_said_is_an_error_of_use_and_asks_no_model(
    cli: Cli, line: str, why: str
) -> None:
    named(cli, a="good", gone="dead-at-start")
    file = cli.root / "home" / "config.toml"
    cli.config(file.read_text() + '[mcp.servers.off]\ncommand = "x"\ndisabled = true\n')
    outcome = cli.inside("-p", line, "--model", cli.script({"text": "done"}))
    assert outcome.code == 2
    assert outcome.out == ""
    assert why in outcome.err


def test_a_talk_finds_a_prompt_before_its_first_turn(cli: Cli) -> None:
    outcome = talk(cli, "/mcp:a:plan tea")
    assert outcome.code == 0
    (session,) = cli.sessions
    assert 'plan {\\"what\\": \\"tea\\"}' in session.read_text().replace("\\\\", "\\")


def test_the_command_line_lists_tries_and_calls_servers(cli: Cli) -> None:
    named(cli, a="good", bad="dead-at-start")
    assert cli.inside("mcp").out.splitlines()[0].startswith("SERVER")
    listed = cli.inside("mcp", "list", "--start", "--json")
    assert listed.code == 1
    states = {row["name"]: row["state"] for row in json.loads(listed.out)}
    assert states == {"a": "ready", "bad": "failed"}
    called = cli.inside("mcp", "call", "a", "echo", '{"text": "hello"}')
    assert (called.code, called.out) == (0, "hello\n")
    assert cli.inside("mcp", "call", "a", "error").code == 1
    assert "mcp__a__echo" in cli.inside("mcp", "tools", "a").out


@pytest.mark.parametrize("words", [("call", "bad", "echo"), ("tools", "bad")])
def test_a_server_that_fails_is_named_with_its_command_and_all_that_it_printed(
    cli: Cli, words: tuple[str, ...]
) -> None:
    named(cli, bad="wordy")
    outcome = cli.inside("mcp", *words)
    assert outcome.code == 2
    why = f"the server bad ({sys.executable} -I {FAKE} wordy) failed: it ended; its last words: KeyError: {'x' * 500} is not set"
    assert why in outcome.err
    for more in ("Correct its entry in config.toml", "trimtab mcp list --start tries it", "Traceback:\n  somewhere\n"):
        assert more in outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ("call", "a", "echo", "{"),
        ("call", "a", "echo", "[]"),
        ("call", "a", "echo", "{}"),
        ("call", "a", "nope"),
        ("call", "nope", "x"),
        ("tools", "bad"),
        ("login", "a"),
        ("allow", "x"),
    ],
)
def test_what_cannot_be_done_is_an_error_of_use(cli: Cli, words: tuple[str, ...]) -> None:
    named(cli, a="good", bad="dead-at-start")
    outcome = cli.inside("mcp", *words)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err


def test_the_doctor_has_a_line_for_each_server(cli: Cli) -> None:
    named(cli, '[mcp.servers.x]\ncommand = "no-such-program"\n[mcp.servers.y]\n', a="good")
    found = {row["name"]: row for row in json.loads(cli.inside("doctor", "--json").out)}
    assert found["mcp a"]["status"] == "ok"
    assert found["mcp x"]["found"] == "there is no program no-such-program"
    assert found["mcp y"]["found"] == "it needs a command or a url, and not both"
