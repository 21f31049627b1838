"""Extensions and hooks as the command line has them."""

import io
import json
from pathlib import Path

import anyio
import pytest

from support.cli import Cli
from trimtab.agent.events import ToolEnded
from trimtab.coding.choose import New
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import Text

TOOL = (
    "from trimtab.extend import Renderer\nAPI = 1\ndef extend(api):\n"
    "    api.tool('notes', 'Looks up notes.', lambda arguments, here: 'found it', "
    "parameters={'type': 'object', 'properties': {'topic': {'type': 'string'}}})\n"
    "    api.renderer(Renderer('notes', 'notes about {topic}{missing}'))\n"
)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project."""
    return Cli.at(tmp_path)


def call(cli: Cli) -> str:
    """A model that looks up a note."""
    calls = [{"name": "mine__notes", "arguments": {"topic": "ports\u202e\x1b[31m"}}]
    return cli.script({"tool_calls": calls}, {"text": "done"})


@pytest.mark.parametrize(
    ("body", "output", "shown"),
    [
        ("json", '{"a": [1, "\\u202ex\\u001b[31m"]}', ['    {', '      "a": [', "        1,", '        "x\\u001b[31m"', "      ]", "    }"]),
        ("json", "{ no json", ["    { no json"]),
        ("diff", "--- a\n+++ b\n-old\n+new\n same", ["    --- a", "    +++ b", "    -old", "    +new", "     same"]),
        ("markdown", "\n".join(map(str, range(40))), [*(f"    {n}" for n in range(10)), "    … 29 more lines …", "    39"]),
        ("text", "found it", []),
        ("none", "found it", []),
    ],
)  # fmt: skip
def test_a_renderer_says_what_stands_below_a_call(cli: Cli, body: str, output: str, shown: list[str]) -> None:
    file = cli.root / "mine.py"
    file.write_text(
        TOOL.replace("'found it'", repr(output)).replace("{missing}'", f"{{missing}}', {body!r}"), encoding="utf-8"
    )
    err = io.StringIO()
    project = open_project(
        cli.project,
        overrides={"model": call(cli), "permissions": {"mode": "full"}, "extensions": {"paths": [str(file)]}},
        env=cli.environment(),
    )

    async def work() -> None:
        async with open_session(project, New()) as session:
            printer = TextPrinter(out=io.StringIO(), err=err, progress=True)
            printer.title_of, printer.body_of = session.extensions.title_of, session.extensions.body_of
            events = session.feed.subscribe()
            await session.prompt("go")
            printer.show_all(events.pending())

    anyio.run(work)
    lines = err.getvalue().splitlines()
    begin = lines.index("  notes about ports  [ok]")
    assert lines[begin + 1 :] == shown


def test_a_failed_call_of_a_tool_whose_output_is_not_shown_says_that_it_failed() -> None:
    err = io.StringIO()
    printer = TextPrinter(out=io.StringIO(), err=err, progress=True)
    printer.body_of = lambda _tool: "none"
    printer.show(ToolEnded(entry_id="e", call_id="c", name="x__y", is_error=True, parts=(Text("a secret"),)))
    assert err.getvalue() == "  x__y  [failed]\n"


def test_an_extension_named_by_a_flag_has_its_tool_shown_as_it_says(cli: Cli) -> None:
    file = cli.root / "mine.py"
    file.write_text(TOOL + "print('loud')\n")
    outcome = cli.inside("chat", "-e", str(file), "--permission", "full", "--model", call(cli), stdin=b"go\n")
    assert (outcome.code, outcome.out) == (0, "done\n")
    assert "loud" in outcome.err.splitlines()
    assert "  notes about ports  [ok]" in outcome.err
    assert "\u202e" not in outcome.err


def test_what_an_extension_prints_stands_on_standard_error(cli: Cli) -> None:
    file = cli.root / "loud.py"
    file.write_text(
        "import os, subprocess\nAPI = 1\nprint('at import')\nasync def hook(call, here): print('async')\n"
        "def extend(api):\n    api.on_tool_call(lambda call, here: print('plain'))\n    api.on_tool_call(hook)\n"
        "    os.write(1, b'raw\\n')\n    subprocess.run(['echo', 'child'])\n"
    )
    model = cli.script({"tool_calls": [{"name": "ls", "arguments": {}}]}, {"text": "the answer"})
    outcome = cli.run("-p", "go", "-e", str(file), "--model", model)
    assert (outcome.code, outcome.out) == (0, "the answer\n")
    assert {"at import", "async", "plain", "raw", "child"} <= set(outcome.err.splitlines())
    inside = cli.inside("-p", "go", "-e", str(file), "--mode", "json", "--model", model)
    assert inside.result["text"] == "the answer"
    assert {"at import", "async", "plain"} <= set(inside.err.splitlines())


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "it isn't there"),
        ("API = 1\ndef extend(api):\n    1 / 0\n", "ZeroDivisionError: division by zero (guard.py, line 3)"),
        ("API = 1\ndef extend(api:\n", "(guard.py, line 2)"),
        ("x = 1\n", "it has no API"),
    ],
)
def test_an_extension_named_by_a_flag_that_cannot_be_used_ends_the_run(cli: Cli, text: str | None, why: str) -> None:
    file = cli.root / "guard.py"
    if text is not None:
        file.write_text(text)
    outcome = cli.inside("-p", "hi", "-e", str(file), "--model", cli.script({"text": "paid"}))
    assert (outcome.code, outcome.out) == (2, "")
    said = " ".join(outcome.err.split())
    assert "guard.py" in said
    assert why in said
    assert "extensions.paths" not in said
    assert cli.sessions == []


def test_one_that_the_settings_name_or_that_lies_in_the_home_is_left_out_with_a_note(cli: Cli) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "bad.py").write_text("1 / 0\n")
    (cli.root / "mine.py").write_text(TOOL)
    cli.config('[extensions]\npaths = ["/not/there.py"]\n')
    model = cli.script({"text": "hello"})
    outcome = cli.inside("-p", "hi", "--model", model)
    assert (outcome.code, outcome.out) == (0, "hello\n")
    assert "it isn't there (extensions.paths)" in " ".join(outcome.err.split())
    assert cli.inside("-p", "hi", "-e", str(cli.root / "mine.py"), "--model", model).code == 0


def test_a_refusal_by_a_hook_is_told_with_who_refused(cli: Cli) -> None:
    cli.config('[[hooks.tool_call]]\ncommand = "echo no >&2; exit 2"\nmatch = "ls"\n')
    calls = [{"name": "ls", "arguments": {"path": "."}}]
    outcome = cli.inside("-p", "hi", "--model", cli.script({"tool_calls": calls}, {"text": "done"}))
    assert (outcome.code, outcome.out) == (0, "done\n")
    said = " ".join(outcome.err.split())
    assert "note: 1 call was not allowed: ls .. Refused by hook `echo no >&2; exit 2`" in said
    assert "To allow:" not in said


def test_models_of_an_extensions_provider_are_listed_and_code_that_nobody_let_run_is_not(cli: Cli) -> None:
    provider = (
        "from trimtab.extend import ModelConfig\nAPI = 1\nprint('loud')\n"
        "def extend(api):\n    api.provider('{0}', lambda: 1 / 0, models=[ModelConfig(id='one', context_window=9000)])\n"
    )
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "mine.py").write_text(provider.format("echo"))
    cli.file(".trimtab/extensions/theirs.py", provider.format("evil"))
    listed = cli.inside("models", "one", "--json")
    assert [(row["provider"], row["id"]) for row in json.loads(listed.out) if row["id"] == "one"] == [("echo", "one")]
    assert "echo/one" in cli.inside("models", "echo").out
    assert any("provider echo" in check["found"] for check in json.loads(cli.inside("doctor", "--json").out))
    cli.inside("trust", "set", ".", "folder")
    trusted = cli.inside("models", "evil")
    assert trusted.out == ""
    assert "code of this project doesn't run: .trimtab/extensions/theirs.py is new" in trusted.err


def test_no_extensions_loads_none_and_both_flags_exclude_each_other(cli: Cli) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "bad.py").write_text("raise SystemError\n")
    model = cli.script({"text": "hello"})
    outcome = cli.inside("-p", "hi", "--no-extensions", "--model", model)
    assert (outcome.code, outcome.out, outcome.err) == (0, "hello\n", "")
    both = cli.inside("-p", "hi", "--no-extensions", "-e", "x.py", "--model", model)
    assert both.code == 2
    assert "exclude each other" in both.err


def test_the_doctor_lists_what_acts_and_what_does_not(cli: Cli) -> None:
    (cli.home / "extensions").mkdir(parents=True)
    (cli.home / "extensions" / "mine.py").write_text(TOOL)
    (cli.home / "extensions" / "bad.py").write_text("1 / 0\n")
    cli.config('[[hooks.tool_call]]\ncommand = "true"\nmatch = "bash"\n')
    out = cli.inside("doctor").out
    assert "mine (yours): tool mine__notes, renderer of mine__notes" in out
    assert "bad is left out: ZeroDivisionError" in out
    assert "hook: `true` at tool_call" in out


def test_code_of_a_project_is_shown_and_let_run_without_a_talk(cli: Cli) -> None:
    cli.file(".trimtab/extensions/theirs.py", "API = 1\ndef extend(api):\n    api.section('s', 'be kind')\n")
    cli.file(".trimtab/config.toml", '[[hooks.session_start]]\ncommand = "touch started"\n')
    refused = cli.inside("trust", "code")
    assert refused.code == 2
    assert "isn't trusted, so none of its code runs" in refused.err
    assert cli.inside("trust", "set", ".", "folder").code == 0
    model = cli.script({"text": "one"}, {"text": "two"})
    first = cli.inside("-p", "hi", "--model", model)
    assert "code of this project doesn't run: .trimtab/extensions/theirs.py, " in first.err
    assert not (cli.project / "started").exists()
    shown = cli.inside("trust", "code").out
    assert "  API = 1" in shown
    assert "command = touch started" in shown
    assert cli.inside("trust", "code", ".", "--yes").code == 0
    second = cli.inside("-p", "hi", "--model", cli.script({"text": "two", "expect": {"contains": ["be kind"]}}))
    assert (second.code, second.err) == (0, "")
    assert (cli.project / "started").exists()
    (cli.project / "started").unlink()
    safe = cli.inside("-p", "hi", "--safe", "--model", cli.script({"text": "safe"}))
    assert (safe.out, safe.err) == ("safe\n", "")
    assert not (cli.project / "started").exists()


ENDS = [
    (
        "command = 'echo no luck >&2; exit 3'",
        "hook `echo no luck >&2; exit 3` failed at session_end, and is passed over: ",
    ),
    ("command = 'echo kept it in a.log >&2; exit 2'", "`: kept it in a.log"),
    ("command = 'echo {nonsense'", "it printed no valid JSON"),
    ("command = 'sleep 60'\ntimeout_s = 0.2", "it took too long, and was ended"),
]


@pytest.mark.parametrize("way", ["one turn", "json", "a talk"])
def test_what_goes_wrong_at_the_end_of_a_session_is_told_while_somebody_listens(cli: Cli, way: str) -> None:
    cli.config("".join(f"[[hooks.session_end]]\n{hook}\n" for hook, _ in ENDS))
    model = cli.script({"text": "done"})
    if way == "a talk":
        outcome = cli.inside("chat", "--model", model, stdin=b"go\n")
        said = outcome.err
    elif way == "json":
        outcome = cli.inside("-p", "go", "--mode", "json", "--model", model)
        said = "\n".join(event["message"] for event in outcome.of("notice"))
        assert outcome.result["reason"] == "stop"
    else:
        outcome = cli.inside("-p", "go", "--model", model)
        said = outcome.err
        assert outcome.out == "done\n"
    assert outcome.code == 0
    assert [said.count(told) for _, told in ENDS] == [1] * len(ENDS)


def test_hooks_at_the_end_run_once(cli: Cli) -> None:
    cli.config("[[hooks.session_end]]\ncommand = 'echo ended >> ends'\n")
    cli.inside("-p", "go", "--model", cli.script({"text": "done"}))
    cli.inside("chat", "--model", cli.script({"text": "done"}), stdin=b"go\n")
    assert (cli.project / "ends").read_text() == "ended\nended\n"
