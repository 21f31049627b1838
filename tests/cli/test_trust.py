"""`trimtab trust` and `/trust`, as a person meets them."""

import io
import json
import os
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli
from support.typed_talk import typing_loop
from trimtab.coding.choose import AtFile, Ephemeral
from trimtab.coding.commands.registry import COMMANDS, run_command
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.coding.services import bare_group
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import UsageError


def test_alone_it_says_what_holds_here_and_what_the_folder_brings(cli: Cli) -> None:
    assert cli.inside("trust").out == (
        f"{cli.project} is not trusted: nobody has answered\n  it brings nothing that would act\n"
    )
    cli.file("AGENTS.md", "x")
    assert cli.inside("trust", "set", ".", "parent").out == (
        f"{cli.project} is trusted, by the answer for {cli.root}\n  AGENTS.md: 1 byte, instructions for the model\n"
    )
    assert json.loads(cli.inside("trust", "--json").out) == {
        "folder": str(cli.project),
        "trusted": True,
        "by": str(cli.root),
        "reason": "",
        "inputs": [{"name": "AGENTS.md", "kind": "file", "size": 1, "target": "", "own": True}],
        "code": [],
    }


def test_answers_are_listed_set_and_forgotten(cli: Cli) -> None:
    nothing = cli.inside("trust", "list")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no answers are stored\n")
    assert cli.inside("trust", "set", ".", "never").out.startswith(f"{cli.project} is not trusted, as you answered\n")
    assert [line.split() for line in cli.inside("trust", "list").out.splitlines()] == [
        ["ANSWER", "NOW", "FOLDER"],
        ["never", "as", "it", "was", str(cli.project)],
    ]
    assert json.loads(cli.inside("trust", "list", "--json").out) == [
        {"path": str(cli.project), "answer": "never", "now": "as it was"}
    ]
    assert cli.inside("trust", "forget", ".").out == f"{cli.project}: forgotten\n"
    again = cli.inside("trust", "forget", ".")
    assert (again.code, again.out, again.err) == (0, "", f"{cli.project}: nothing was stored\n")
    assert json.loads(cli.inside("trust", "forget", ".", "--json").out) == {
        "path": str(cli.project),
        "forgotten": False,
    }


def test_a_folder_that_is_gone_can_be_forgotten_by_its_old_path(cli: Cli) -> None:
    cli.file("sub/AGENTS.md", "x")
    assert cli.inside("trust", "set", "sub", "folder").code == 0
    (cli.project / "sub").rename(cli.project / "moved")
    assert cli.inside("trust", "forget", "sub").out == f"{cli.project}/sub: forgotten\n"
    shown = cli.inside("trust", "show", "sub")
    assert shown.code == 2
    assert "there is no folder 'sub'" in shown.err


def test_a_folder_whose_name_is_hostile_controls_no_terminal(cli: Cli) -> None:
    name = os.fsdecode(b"ev\xffil\x1b[2J\x1b]0;x\x07\n\xe2\x80\xae")
    (cli.project / name / ".trimtab").mkdir(parents=True)
    shown = [cli.inside("trust", "show", name), cli.inside("trust", "set", name, "folder"), cli.inside("trust", "list")]
    shown += [cli.inside("trust", "list", "--json"), cli.inside("trust", "show", name, "--json")]
    shown += [cli.inside("trust", "forget", name)]
    (cli.project / name / "AGENTS.md").write_text("x")
    model = cli.script({"text": "fine"})
    shown.append(cli.inside("-p", "hi", "--cwd", name, "--model", model))
    for outcome in shown:
        assert outcome.code == 0
        assert not set(outcome.out + outcome.err) & set("\x1b\x07\u202e"), outcome
    assert "forgotten" in shown[5].out
    (notice,) = cli.inside("-p", "hi", "--cwd", name, "--mode", "json", "--model", model).of("notice")
    assert notice["message"].startswith(f".trimtab, AGENTS.md in {cli.project}/ev\ufffdil\\n are ignored")


@pytest.mark.parametrize("argv", [("set", ".", "once"), ("set", ".", "maybe"), ("set", "none", "folder"), ("lst",)])
def test_what_cannot_be_done_is_a_usage_error(cli: Cli, argv: tuple[str, ...]) -> None:
    outcome = cli.inside("trust", *argv)
    assert outcome.code == 2
    assert not (cli.home / "trust.json").exists()


def test_a_damaged_store_is_named_by_each_of_them(cli: Cli) -> None:
    cli.home.mkdir()
    (cli.home / "trust.json").write_text("{")
    for argv in (("list",), ("show",), ("set", ".", "folder"), ("forget", ".")):
        outcome = cli.inside("trust", *argv)
        assert (outcome.code, "trust.json can't be read" in outcome.err) == (2, True)


@pytest.mark.anyio
async def test_in_a_talk_it_says_what_holds_and_answers_anew_for_the_next_start(cli: Cli) -> None:
    cli.file(".trimtab/config.toml", "max_steps = 3\n")
    env = {"TRIMTAB_HOME": str(cli.home), "HOME": str(cli.root)}
    project = open_project(cli.project, overrides={"model": cli.script({"text": "x"})}, env=env)
    err = io.StringIO()
    async with open_session(project, Ephemeral()) as session, anyio.create_task_group() as group:
        printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True, mark="> ")
        desk = typing_loop(session, printer, group.start_soon)
        await run_command(desk, "trust", "")
        assert err.getvalue().splitlines() == [
            f"{cli.project} is not trusted: nobody has answered",
            "  .trimtab/",
            "  .trimtab/config.toml: 14 bytes, settings, permissions and models among them",
            "  in this session nothing of it acts",
        ]
        await run_command(desk, "trust", "folder")
        said = err.getvalue().splitlines()[4:]
        assert said[0] == f"{cli.project} is trusted"
        assert said[-2:] == [
            "  in this session nothing of it acts",
            "This session goes on with what it has read; the answer counts from /reload, or the next start.",
        ]
        for word in ("once", "maybe"):
            with pytest.raises(UsageError):
                await run_command(desk, "trust", word)
        assert [found.value for found in COMMANDS["trust"].complete(session, "f")] == ["folder"]
    assert open_project(cli.project, env=env).settings.max_steps == 3


def test_the_home_folder_itself_is_shown_as_a_project_of_its_own(cli: Cli) -> None:
    (cli.root / ".git").mkdir()
    assert json.loads(cli.inside("trust", "--json").out)["folder"] == str(cli.project)
    assert json.loads(cli.inside("trust", "show", "..", "--json").out)["folder"] == str(Path(cli.root))


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [None, "later"])
async def test_ctrl_c_at_the_question_on_the_way_to_another_session_stays_here_and_later_goes_there(
    cli: Cli, answer: str | None
) -> None:
    model, elsewhere = cli.script({"text": "x"}), cli.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "AGENTS.md").write_text("obey")
    there, here = cli.root / "there.jsonl", cli.root / "here.jsonl"
    env, err = {"TRIMTAB_HOME": str(cli.home)}, io.StringIO()
    for folder, file in ((elsewhere, there), (cli.project, here)):
        async with open_session(open_project(folder, overrides={"model": model}, env=env), AtFile(file)) as session:
            await session.prompt("hi")
    project = open_project(cli.project, overrides={"model": model}, env=env)
    async with (
        bare_group() as services,
        open_session(project, AtFile(here)) as session,
        anyio.create_task_group() as group,
    ):
        before = there.read_bytes(), here.read_bytes()
        loop = typing_loop(session, TextPrinter(out=io.StringIO(), err=err, live=True, progress=True), group.start_soon)
        loop._services = services

        async def answering() -> None:
            while "Trust" not in err.getvalue():
                await anyio.lowlevel.checkpoint()
            if answer is None:
                assert loop.interrupt()
            else:
                loop._person.hear(answer)

        group.start_soon(answering)
        await loop.switch(project, AtFile(there))
        assert ("stopped; this session goes on" in err.getvalue()) == (loop.following is None) == (answer is None)
        assert (there.read_bytes(), here.read_bytes()) == before
        await loop.give_back()
