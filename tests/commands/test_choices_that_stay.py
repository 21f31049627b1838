"""Model, thinking level and mode that a person chose: what becomes of them when the model or the session changes, and after a quit."""

from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from commands.conftest import PlainDesk
from support.small_window import Heard, says
from trimtab.agent.events import Notice
from trimtab.coding.choose import AtFile, Choice, Fork, New
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.coding.switching import carry_over, same_again

pytestmark = pytest.mark.anyio
LEVELS = {"deep": ["low", "medium", "high"], "also": ["low", "high"], "flat": ["off", "low"], "dumb": []}
ROWS = ", ".join(
    f"{{id = '{name}', context_window = 32000, max_output = 1000, thinking = {levels}}}"
    for name, levels in LEVELS.items()
)
CONFIG = f"model = 'local/deep'\n[providers.local]\nbase_url = 'http://127.0.0.1:9/v1'\nmodels = [{ROWS}]\n"


def project(root: Path, *, folder: str = "work", **flags: Any) -> Project:
    for name in (folder, "home"):
        (root / name).mkdir(exist_ok=True)
    (root / "home" / "config.toml").write_text(CONFIG)
    return open_project(root / folder, overrides=flags, env={"TRIMTAB_HOME": str(root / "home")})


def opened(where: Project, choice: Choice) -> AbstractAsyncContextManager[Session]:
    return open_session(where, choice, provider=Heard([says("fine")] * 9))


@pytest.mark.parametrize(
    ("ref", "level", "told"),
    [
        ("local/also", "high", ""),
        ("local/flat", "low", "local/flat has no thinking level 'high': using 'low'"),
        ("local/dumb", None, "local/dumb has no thinking levels: 'high' is left out"),
        ("local/also:low", "low", ""),
    ],
)
async def test_the_level_goes_along_to_another_model_as_far_as_that_has_it(
    tmp_path: Path, ref: str, level: str | None, told: str
) -> None:
    async with opened(project(tmp_path), New()) as session:
        seen = session.feed.subscribe()
        desk = PlainDesk(session)
        await desk.run("thinking", "high")
        await session.set_model(ref)
        assert session.agent.thinking == level
        notes = [event.message for event in seen.pending() if isinstance(event, Notice)]
        assert notes == ([told] if told else [])
        if not ref.endswith(":low"):
            await session.set_model("local/deep")
            assert session.agent.thinking == "high"


async def test_no_level_goes_along_that_nobody_chose(tmp_path: Path) -> None:
    async with opened(project(tmp_path, models={"local/deep": {"thinking": "high"}}), New()) as session:
        assert session.agent.thinking == "high"
        await session.set_model("local/also")
        assert session.agent.thinking is None
        await PlainDesk(session).run("thinking", "low")
        await PlainDesk(session).run("thinking", "default")
        await session.set_model("local/deep")
        assert session.agent.thinking == "high"


async def test_what_was_chosen_before_a_quit_holds_when_the_session_goes_on(tmp_path: Path) -> None:
    where, file = project(tmp_path), tmp_path / "s.jsonl"
    async with opened(where, AtFile(file)) as session:
        await session.prompt("hi")
        await PlainDesk(session).run("thinking", "low")
        await PlainDesk(session).run("model", "local/also")
    async with opened(where, AtFile(file)) as session:
        assert (session.model.ref, session.agent.thinking) == ("local/also", "low")
        assert (session.log.archive.own_model, session.log.archive.thinking) == ("local/also", "low")
        before = file.read_bytes()
        await session.choices.keep()
        assert file.read_bytes() == before
    async with opened(where, Fork(str(file))) as session:
        assert session.log.archive.thinking == "low"


async def test_a_choice_alone_makes_no_session(tmp_path: Path) -> None:
    async with opened(project(tmp_path), New()) as session:
        await PlainDesk(session).run("thinking", "low")
        await PlainDesk(session).run("model", "local/also")
        await session.take_leave()
        file = session.file
        assert file is not None
        assert file.read_bytes().count(b"\n") == 1
    assert not file.exists()


async def test_a_copy_keeps_model_and_level_over_the_flags_that_the_talk_began_with(tmp_path: Path) -> None:
    where, file = project(tmp_path, model="local/deep"), tmp_path / "s.jsonl"
    async with opened(where, AtFile(file)) as old:
        await old.prompt("hi")
        await old.set_model("local/also")
        await PlainDesk(old).run("thinking", "high")
        async with opened(where, Fork(str(file))) as new:
            assert new.model.ref == "local/deep"  # as flags say
            await carry_over(old, new)
            assert (new.model.ref, new.agent.thinking) == ("local/also", "high")


@pytest.mark.parametrize(
    ("chosen", "folder", "mode", "told"),
    [
        ("full", "work", "full", False),
        ("full", "other", "auto-edit", True),
        ("ask", "other", "ask", False),
        ("plan", "other", "plan", False),
    ],
)
async def test_a_mode_that_lets_more_run_stays_with_its_project(
    tmp_path: Path, chosen: Any, folder: str, mode: str, told: bool
) -> None:
    async with opened(project(tmp_path), New()) as old, opened(project(tmp_path, folder=folder), New()) as new:
        old.set_mode(chosen)
        notes = await carry_over(old, new)
        assert new.permissions.current.mode == mode
        assert bool(notes) == told
        assert all(f"you chose {chosen}" in note and "another project" in note for note in notes)


@pytest.mark.parametrize("made_by", [New(), AtFile(Path("own.jsonl"))])
async def test_a_session_without_a_word_is_reopened_under_its_own_name_and_leaves_no_file(
    tmp_path: Path, made_by: Choice
) -> None:
    where, names = project(tmp_path), []
    choice = made_by
    for _ in range(3):
        async with opened(where, choice) as session:
            choice = same_again(session)
            assert session.file is not None
            names.append((session.file, session.id))
        assert not session.file.exists()
    for file, session_id in names:
        assert file.name == "own.jsonl" or file.stem.endswith(session_id)


async def test_a_session_with_words_is_reopened_as_itself(tmp_path: Path) -> None:
    async with opened(project(tmp_path), New()) as session:
        await session.prompt("hi")
        assert same_again(session) == AtFile(session.file or Path())
