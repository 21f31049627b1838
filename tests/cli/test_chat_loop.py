"""What a talk shows when it goes on, and what its commands are."""

import io
import os

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli
from support.typed_talk import typing_loop
from trimtab.coding.choose import Ephemeral
from trimtab.coding.commands import registry
from trimtab.coding.commands.help import help_text
from trimtab.coding.commands.registry import COMMANDS, parse
from trimtab.coding.opening import open_session
from trimtab.coding.person import Question
from trimtab.coding.project import open_project
from trimtab.frontends.cli.asking import LinePerson
from trimtab.frontends.cli.chat import recalled
from trimtab.frontends.cli.chat_loop import ChatLoop
from trimtab.frontends.cli.lines import Lines
from trimtab.frontends.cli.screen import wrapped
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import Assistant, Text, User, user


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/help", ("help", "")),
        ("/model local/tiny", ("model", "local/tiny")),
        ("/answer c1 two words", ("answer", "c1 two words")),
        ("/HELP", ("help", "")),
        ("/Model local/Tiny", ("model", "local/Tiny")),
        ("/Users/me is a folder", None),
        ("/Users", None),
        ("/", ("", "")),
        ("/etc/passwd is a file", None),
        ("/usr/bin", None),
        ("/tmp2 is full", None),
        (" /help", None),
        ("what is /help", None),
    ],
)
def test_a_command_is_a_slash_and_a_word_of_letters(line: str, meant: tuple[str, str] | None) -> None:
    assert parse(line) == meant


@pytest.mark.anyio
async def test_the_commands_of_a_session_are_of_every_kind_that_there_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = open_project(
        cli.project, overrides={"model": cli.script({"text": "x"})}, env={"TRIMTAB_HOME": str(cli.home)}
    )
    kinds = ("template", "skill", "mcp", "extension")
    for kind in kinds:
        monkeypatch.setattr(registry, f"{kind}_commands", lambda _, kind=kind: {kind + "-one": COMMANDS["help"]})
    async with open_session(project, Ephemeral()) as session:
        assert set(registry.commands_of(session)) == {*COMMANDS, *(f"{kind}-one" for kind in kinds)}


def test_help_lists_every_command() -> None:
    text = help_text(COMMANDS)
    assert [line.split()[0] for line in text.splitlines() if line.startswith("/")] == [f"/{name}" for name in COMMANDS]
    assert all(command.help in " ".join(text.split()) for command in COMMANDS.values())


def test_help_fits_eighty_columns() -> None:
    lines = wrapped(help_text(COMMANDS), 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert {len(line) - len(line.lstrip()) for line in lines[:-3] if line.startswith(" ")} == {25}


def test_the_end_of_a_talk_is_its_last_prompt_and_answer_on_a_line_each() -> None:
    talk = [
        user("first"),
        Assistant((Text("one"),), "stop"),
        user("and\nthen?"),
        Assistant((Text("looking"),), "tool_use"),
        user("be quick", origin="steering"),
        Assistant((Text("x" * 1000),), "stop"),
        Assistant((), "tool_use"),
    ]
    assert recalled(talk).splitlines() == [
        "This session goes on. It ended with:",
        "  you: and then?",
        f"  model: {'x' * 399}…",
    ]


def test_a_prompt_without_an_answer_is_shown_alone_and_nothing_is_nothing() -> None:
    assert recalled(
        [user("one"), Assistant((Text("x"),), "stop"), User((Text("two"), Text("<file>")))]
    ).splitlines() == [
        "This session goes on. It ended with:",
        "  you: two",
    ]
    assert recalled([]) == ""


@pytest.mark.anyio
async def test_ctrl_c_on_the_way_to_a_turn_stops_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(call_id: str, text: str) -> None:
        await anyio.sleep_forever()

    project = open_project(
        cli.project, overrides={"model": cli.script({"text": "x"})}, env={"TRIMTAB_HOME": str(cli.home)}
    )
    err = io.StringIO()
    async with open_session(project, Ephemeral()) as session, anyio.create_task_group() as group:
        monkeypatch.setattr(session, "answer", slow)
        printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True, mark="> ")
        loop = typing_loop(session, printer, group.start_soon)
        loop.answer("c1", "never asked")
        assert loop.working
        assert loop.interrupt()
        while loop.working:
            await anyio.lowlevel.checkpoint()
        assert err.getvalue() == "stopped before it began\n> "
        assert [loop.interrupt(), loop.interrupt()] == [True, False]


@pytest.mark.anyio
async def test_an_answer_that_comes_when_its_question_is_over_is_no_prompt(cli: Cli) -> None:
    script = cli.script({"text": "heard"})
    project = open_project(cli.project, overrides={"model": script}, env={"TRIMTAB_HOME": str(cli.home)})
    err, (there, here) = io.StringIO(), os.pipe()
    secret = Question("text", "your key?")
    async with open_session(project, Ephemeral()) as session, anyio.create_task_group() as group:
        printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True)
        person = LinePerson(printer.say, interactive=True)
        loop = ChatLoop(session, printer, person, start=group.start_soon)
        with anyio.CancelScope() as asking:
            async with anyio.create_task_group() as askers:
                askers.start_soon(person.ask, secret)
                while not person.waiting:
                    await anyio.lowlevel.checkpoint()
                asking.cancel()
        os.write(here, b"sk-0123456789\nhello\n")
        os.close(here)
        await loop.run(Lines(there))
        os.close(there)
        said = [message.text for message in session.agent.messages]
    assert said == ["hello", "heard"]
    assert "that is asked no more" in err.getvalue()
    assert "that question is over, so nothing was answered, and the model wasn't told" in err.getvalue()


@pytest.mark.anyio
async def test_a_file_that_a_command_cannot_reach_ends_no_talk_and_a_bug_does(cli: Cli) -> None:
    project = open_project(
        cli.project, overrides={"model": cli.script({"text": "x"})}, env={"TRIMTAB_HOME": str(cli.home)}
    )

    async def closed() -> None:
        raise PermissionError(13, "Permission denied", "x" * 500)

    async def bug() -> None:
        raise OSError(5, "Input/output error")

    err = io.StringIO()
    async with open_session(project, Ephemeral()) as session:
        async with anyio.create_task_group() as group:
            printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True)
            loop = typing_loop(session, printer, group.start_soon)
            loop.work(closed, is_turn=False)
        assert err.getvalue() == f"error: {'x' * 99}…: Permission denied\n  Name another file.\n"
        with pytest.raises(BaseExceptionGroup):
            async with anyio.create_task_group() as group:
                typing_loop(session, printer, group.start_soon).work(bug, is_turn=False)


@pytest.mark.anyio
async def test_ctrl_c_behind_the_last_word_of_a_turn_counts_as_one_when_nothing_runs(cli: Cli) -> None:
    project = open_project(
        cli.project, overrides={"model": cli.script({"text": "x"})}, env={"TRIMTAB_HOME": str(cli.home)}
    )
    err, said, seen_to = io.StringIO(), anyio.Event(), anyio.Event()

    async def turn() -> None:
        with anyio.CancelScope(shield=True):
            said.set()
            await seen_to.wait()

    async with open_session(project, Ephemeral()) as session, anyio.create_task_group() as group:
        loop = typing_loop(session, TextPrinter(out=io.StringIO(), err=err), group.start_soon)
        loop.work(turn)
        await said.wait()
        assert loop.interrupt()
        seen_to.set()
        while loop.working:
            await anyio.lowlevel.checkpoint()
        assert err.getvalue() == "Ctrl-C again leaves\n"
        assert not loop.interrupt()
