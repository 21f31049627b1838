"""What a person hears when one session gives way to another: which one, where the old one is, the way back, and no notice twice."""

from pathlib import Path

import pytest

from support.cast import Cast, Ears, says
from trimtab.coding.choose import AtFile, Choice, Ephemeral, Fork, New, Resume
from trimtab.coding.commands.fork import COMMAND as FORK
from trimtab.coding.commands.resume import COMMAND as RESUME
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.coding.switching import carry_over, words_of
from trimtab.coding.telling.tree_text import nodes_of, tree_lines
from trimtab.types.errors import UnknownSession, UsageError

pytestmark = pytest.mark.anyio


def untrusted(tmp_path: Path) -> Project:
    """A project with instructions that nobody has trusted."""
    cast = Cast.at(tmp_path, a=[says("one"), says("two"), says("three"), says("four")])
    (tmp_path / "work" / "AGENTS.md").write_text("Be brief.\n")
    (tmp_path / "work" / ".trimtab").mkdir()
    (tmp_path / "work" / ".trimtab" / "config.toml").write_text("max_steps = 3\n")
    return cast.project(model=cast.ref("a"))


async def heard(session: Session) -> list[str]:
    ears = Ears(session)
    await session.announce()
    return ears.notices


async def test_that_a_folder_is_not_trusted_is_said_once_for_each_folder(tmp_path: Path) -> None:
    project = untrusted(tmp_path)
    other = tmp_path / "other"
    (other / ".trimtab").mkdir(parents=True)
    (other / ".trimtab" / "config.toml").write_text("max_steps = 4\n")
    elsewhere = open_project(other, overrides=project.asked.overrides, env=project.env)
    told = []
    before: Session | None = None
    for where in (project, project, elsewhere, project, elsewhere):
        async with open_session(where, Ephemeral()) as session:
            if before is not None:
                await carry_over(before, session)
            told.append([text for text in await heard(session) if "trust" in text])
            before = session
    assert [len(one) for one in told] == [1, 0, 1, 0, 0]


async def test_who_reads_all_again_hears_all_again(tmp_path: Path) -> None:
    project = untrusted(tmp_path)
    async with open_session(project, Ephemeral()) as one, open_session(project, Ephemeral()) as two:
        before = await heard(one)
        await carry_over(one, two, reopened=True)
        assert await heard(two) == before


async def pair(tmp_path: Path, choice: Choice | None, first: Choice) -> str:
    """What is said when `choice` (None: a fork) follows a session of one prompt."""
    project = untrusted(tmp_path)
    async with open_session(project, first) as old:
        await old.prompt("hi")
        following = choice or Fork(str(old.log.path))
        async with open_session(project, following) as new:
            return words_of(old, new).replace(old.log.header.id, "OLD").replace(new.log.header.id, "NEW")


async def test_a_fresh_session_says_where_it_is_and_the_way_back(tmp_path: Path) -> None:
    words = await pair(tmp_path, New(), AtFile(tmp_path / "old.jsonl"))
    assert words.startswith("session NEW, kept in ")
    assert words.endswith("; another one than OLD (hi), /resume OLD goes back to it")


async def test_a_copy_says_of_what_and_that_that_one_stays(tmp_path: Path) -> None:
    words = await pair(tmp_path, None, AtFile(tmp_path / "old.jsonl"))
    assert words.endswith("; a copy of OLD (hi), which stays as it is; /resume OLD goes back to it")


async def test_one_that_was_kept_nowhere_is_gone_and_said_to_be(tmp_path: Path) -> None:
    words = await pair(tmp_path, New(), Ephemeral())
    assert words.endswith("which was kept nowhere and is gone")


async def test_a_session_that_is_opened_again_says_what_was_read(tmp_path: Path) -> None:
    project = untrusted(tmp_path)
    async with open_session(project, Ephemeral()) as one:
        words = words_of(one, one, reopened=True)
    assert words.endswith(f"were read again; session {one.log.header.id} goes on")


class Desk:
    """A desk that only remembers what it is to switch to."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.switched: list[Choice] = []

    def tell(self, text: str) -> None:
        raise AssertionError(text)

    async def switch(self, project: Project, choice: Choice) -> None:
        self.switched.append(choice)


@pytest.mark.parametrize("how", ["last", "id", "prefix", "path"])
async def test_to_resume_the_session_that_is_open_is_an_error_however_it_is_named(tmp_path: Path, how: str) -> None:
    project = untrusted(tmp_path)
    async with open_session(project, New()) as session:
        await session.prompt("hi")
        header, path = session.log.header.id, str(session.log.path)
        ref = {"last": "last", "id": header, "prefix": header[:6], "path": path}[how]
        desk = Desk(session)
        with pytest.raises(UsageError, match="is this session"):
            await RESUME.run(desk, ref)  # type: ignore[arg-type]
        with pytest.raises(UnknownSession):
            await RESUME.run(desk, "nothing-like-it")  # type: ignore[arg-type]
        assert desk.switched == []


async def test_another_session_is_switched_to(tmp_path: Path) -> None:
    project = untrusted(tmp_path)
    async with open_session(project, New()) as first:
        await first.prompt("hi")
    async with open_session(project, New()) as session:
        await session.prompt("ho")
        desk = Desk(session)
        await RESUME.run(desk, first.log.header.id)  # type: ignore[arg-type]
        await FORK.run(desk, "")  # type: ignore[arg-type]
        assert desk.switched == [Resume(first.log.header.id), Fork(str(session.log.path), None)]


async def said(session: Session, text: str) -> str:
    """Say something; return the id of its entry."""
    await session.prompt(text)
    return next(node.entry_id for node in nodes_of(session.log.archive) if node.words == text)


async def test_a_tree_draws_its_branches_and_marks_where_one_is(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says(f"{n}") for n in range(9)])
    async with cast.open(model=cast.ref("a")) as session:
        await said(session, "root")
        fork = session.log.archive.leaf
        await said(session, "mock")
        await said(session, "mock more")
        await session.go_to(fork)
        await said(session, "real")
        deep = session.log.archive.leaf
        await said(session, "real a")
        await session.go_to(deep)
        await said(session, "real b")
        await session.go_to(None)
        other = await said(session, "fresh start")
        await session.go_to(deep)
        session.log.label(other, "again")
        lines = [line.split("  ", 2)[2] for line in tree_lines(nodes_of(session.log.archive))]
    assert lines == [
        "├─ root",
        "│  ├─ mock",
        "│  │  mock more",
        "│  └─ real  ← here",
        "│     ├─ real a",
        "│     └─ real b",
        "└─ [again] fresh start",
    ]


async def test_a_talk_without_branches_is_a_plain_list(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says(f"{n}") for n in range(3)])
    async with cast.open(model=cast.ref("a")) as session:
        for text in ("one", "two", "three"):
            await said(session, text)
        lines = [line.split("  ", 2)[2] for line in tree_lines(nodes_of(session.log.archive))]
    assert lines == ["one", "two", "three  ← here"]


async def test_branches_in_branches_stay_readable(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[says(f"{n}") for n in range(60)])
    async with cast.open(model=cast.ref("a")) as session:
        for depth in range(20):
            at = session.log.archive.leaf
            await said(session, f"left {depth}")
            await session.go_to(at)
            await said(session, f"right {depth}")
        lines = tree_lines(nodes_of(session.log.archive))
    assert len(lines) == 40
    assert max(map(len, lines)) < 80
    assert any("… " in line for line in lines)
