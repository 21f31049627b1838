"""What a session is called, and who says so."""

import json
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cli import Cli
from trimtab.coding.choose import Ephemeral, New, Resume
from trimtab.coding.commands.registry import run_command
from trimtab.coding.naming import MOST, clean_title, title_from
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError

KEY = "sk-" + "a1b2" * 8


@pytest.mark.parametrize(
    ("prompt", "title"),
    [
        ("fix the bug\nplease", "fix the bug"),
        ("\n\n  ## Fix   the bug\n", "Fix the bug"),
        ("Hi,\n\nwhy does the test fail?", "why does the test fail?"),
        ("Hello there!\nplease look", "please look"),
        ("hi", "hi"),
        ("----\n> - 1. quoted", "quoted"),
        ("```python\nprint(1)\n```\nwhat does it print?", "what does it print?"),
        ("```python\nprint(1)\n```", "print(1)"),
        ('<file path="notes.md">\ntext', "@notes.md"),
        ("???", ""),
        ("", ""),
        ("日本語のタイトル", "日本語のタイトル"),
        ("a\x1b]0;evil\x07b\u202ec", "abc"),
        ("one two " * 20, "one two one two one two one two one two one two one two one…"),
        ("x" * 100, "x" * 59 + "…"),
        (f"use {KEY}", "use [secret: key]"),
    ],
)
def test_the_first_line_that_says_something_is_the_title(prompt: str, title: str) -> None:
    assert title_from(prompt) == title


@given(st.text())
def test_a_title_is_one_short_printable_line_and_making_it_again_changes_nothing(prompt: str) -> None:
    title = title_from(prompt)
    assert (len(title) <= MOST, title.isprintable(), title) == (True, True, title_from(prompt))
    assert clean_title(title) == title


def project_of(cli: Cli, *script: object, **settings: object) -> Project:
    flags = {"model": cli.script(*script), **settings}
    return open_project(cli.project, overrides=flags, env={"TRIMTAB_HOME": str(cli.home)})


def titles_in(path: Path | None) -> list[str]:
    assert path is not None
    lines = map(json.loads, path.read_bytes().splitlines())
    return [line["title"] for line in lines if line["type"] == "session_info" and "title" in line]


@pytest.mark.anyio
async def test_the_first_turn_names_a_session_once_by_its_prompt(cli: Cli) -> None:
    project = project_of(cli, {"text": "a"}, {"text": "b"}, {"text": "c"})
    async with open_session(project, New()) as session:
        await session.prompt("why giraffes?")
        await session.prompt("and zebras?")
    async with open_session(project, Resume(session.log.header.id)) as again:
        await again.prompt("more")
    assert titles_in(session.log.path) == ["why giraffes?"]


@pytest.mark.anyio
async def test_nothing_names_a_session_where_that_is_off_or_nothing_is_kept(cli: Cli) -> None:
    async with open_session(project_of(cli, {"text": "a"}, sessions={"name": "off"}), New()) as session:
        await session.prompt("why giraffes?")
    assert titles_in(session.log.path) == []
    async with open_session(project_of(cli, {"text": "a"}), Ephemeral()) as session:
        await session.prompt("why giraffes?")
    assert session.log.archive.title is None


async def talk(cli: Cli, *script: object, during: Callable[[Session], None] = lambda session: None) -> Session:
    """One turn of a talk in which a model gives names."""
    project = project_of(cli, *script, sessions={"name": "model"})
    async with open_session(project, New()) as session, anyio.create_task_group() as group:
        session.work_beside(group.start_soon, between_turns=True)
        await session.prompt("why giraffes?")
        assert session.log.archive.title is None
        during(session)
    return session


@pytest.mark.anyio
async def test_a_model_gives_the_name_in_the_background_and_what_that_took_is_counted(cli: Cli) -> None:
    usage = {"input": 30, "output": 7}
    session = await talk(cli, {"text": "a"}, {"text": '"Long necks"\n', "usage": usage})
    assert titles_in(session.log.path) == ["Long necks"]
    rows = json.loads(cli.inside("sessions", "list", "--json").out)
    assert [(row["title"], row["tokens"]) for row in rows] == [("Long necks", 37)]


@pytest.mark.anyio
@pytest.mark.parametrize("answer", [{"text": ""}, {"error": {"status": 400, "body": "no"}}, {"text": "\n```\n"}])
async def test_where_a_model_gives_no_name_the_prompt_does(cli: Cli, answer: object) -> None:
    assert titles_in((await talk(cli, {"text": "a"}, answer)).log.path) == ["why giraffes?"]


@pytest.mark.anyio
async def test_a_name_that_a_person_gives_meanwhile_stays(cli: Cli) -> None:
    session = await talk(
        cli, {"text": "a"}, {"text": "Necks"}, during=lambda session: session.log.set_title("Mine") and None
    )
    assert titles_in(session.log.path) == ["Mine"]


@pytest.mark.anyio
async def test_a_single_run_goes_by_its_prompt_where_a_model_gives_names(cli: Cli) -> None:
    async with open_session(project_of(cli, {"text": "a"}, sessions={"name": "model"}), New()) as session:
        await session.prompt("why giraffes?")
    assert titles_in(session.log.path) == ["why giraffes?"]


class Desk:
    """A desk that keeps what it is told."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.told: list[str] = []

    def tell(self, text: str) -> None:
        self.told.append(text)


@pytest.mark.anyio
async def test_name_says_and_gives_a_name(cli: Cli) -> None:
    async with open_session(project_of(cli, {"text": "a"}), New()) as session:
        desk = Desk(session)
        await run_command(desk, "name", "")
        await run_command(desk, "name", "Necks  of\x1b[31m giraffes")
        await run_command(desk, "name", "")
        with pytest.raises(UsageError, match="at most 120"):
            await run_command(desk, "name", "x" * 121)
        await session.prompt("hi")
    assert desk.told == [
        "this session has no name yet; /name TITLE gives it one",
        "name: Necks of giraffes",
        "name: Necks of giraffes",
    ]
    assert titles_in(session.log.path) == ["Necks of giraffes"]
