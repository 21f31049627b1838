"""What checks make of several turns: of parked ones, of ones that were cut off, of what they did to the tests."""

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.cli import Json
from trimtab.coding import (
    Access,
    Deferred,
    Notice,
    ScriptedProvider,
    Session,
    SimpleTool,
    ToolSpec,
    UsageError,
    VerifyEnded,
)
from trimtab.types.messages import User

pytestmark = pytest.mark.anyio
DONE: Json = {"text": "done"}


def write(path: str, content: str = "x\n") -> Json:
    return {"tool_calls": [{"name": "write", "arguments": {"path": path, "content": content}}]}


def bash(command: str) -> Json:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests/test_a.py").write_text("assert True\n")
    return folder


def opened(
    folder: Path, *script: Mapping[str, Any], verify: Mapping[str, Any] | None = None, **more: Any
) -> AbstractAsyncContextManager[Session]:
    env = {"TRIMTAB_HOME": str(folder.parent / "home"), "PATH": "/usr/bin:/bin"}
    settings = {"verify": {"commands": ["ls tests/test_a.py"], **(verify or {})}, "permissions": {"mode": "full"}}
    return Session.open(
        folder, model="scripted/none", provider=ScriptedProvider(script), env=env, settings=settings, **more
    )


PROTECT = {"protect": ["tests/**"]}


async def asks(_arguments: object, _run: object) -> None:
    raise Deferred("which?")


ASKING = SimpleTool(ToolSpec("asks", "Asks.", {"type": "object"}), asks, accesses=lambda _a: Access())  # type: ignore[arg-type]
ASK: Json = {"tool_calls": [{"id": "c1", "name": "asks", "arguments": {}}]}


def told(session: Session) -> list[str]:
    """What checks said to the model."""
    return [m.parts[0].text for m in session.messages if isinstance(m, User) and m.origin == "verify"]  # type: ignore[union-attr]


async def watched(session: Session, prompt: str) -> tuple[Any, list[Any]]:
    events = [event async for event in session.stream(prompt)]
    return events[-1], events


async def test_what_a_turn_did_to_the_tests_is_known_in_the_next_session_too(folder: Path) -> None:
    check = {"commands": ["grep -q True tests/test_a.py && test -e ok"], **PROTECT, "rounds": 0}
    async with opened(folder, write("tests/test_a.py", "True\n"), DONE, verify=check) as session:
        first = await session.prompt("go")
        assert (first.reason, first.tampered) == ("verify_failed", ("tests/test_a.py was changed",))
    async with opened(folder, write("ok"), DONE, DONE, DONE, verify={**check, "rounds": 2}, resume="last") as session:
        result, events = await watched(session, "go on")
        assert (result.verify, result.tampered) == ("passed", ("tests/test_a.py was changed",))
        (warning,) = told(session)
        assert "- tests/test_a.py was changed" in warning
        assert [event.tampered for event in events if isinstance(event, VerifyEnded)] == [result.tampered]
        notices = [event.message for event in events if isinstance(event, Notice)]
        assert sum("protected files are not as they were: tests/test_a.py was changed" in one for one in notices) == 1
        assert await session.accept_protected() == ("tests/test_a.py was changed",)
        assert await session.verify() == ""
        assert (await session.prompt("and now?")).tampered == ()


async def test_a_person_who_takes_the_turn_back_leaves_nothing_to_tell(folder: Path) -> None:
    script = (write("tests/test_a.py", "1\n"), DONE, DONE, write("b"), DONE)
    async with opened(folder, *script, verify=PROTECT) as session:
        assert (await session.prompt("go")).tampered == ("tests/test_a.py was changed",)
        await session.undo()
        assert (await session.prompt("again")).tampered == ()


async def test_a_turn_that_goes_on_after_an_answer_is_checked_with_the_files_that_were_there(folder: Path) -> None:
    options: dict[str, Any] = {"verify": {**PROTECT, "commands": ["cat tests/test_a.py"]}, "tools": [ASKING]}
    async with opened(folder, write("tests/test_a.py", "1\n"), ASK, **options) as session:
        parked = await session.prompt("go")
        assert (parked.reason, parked.verify, parked.tampered) == (
            "parked",
            "not_run",
            ("tests/test_a.py was changed",),
        )
    async with opened(folder, DONE, DONE, resume="last", **options) as session:
        reply = await session.answer("c1", "this one")
        assert (reply.reason, reply.verify, reply.tampered) == ("stop", "passed", ("tests/test_a.py was changed",))


@pytest.mark.parametrize("keep", [True, False])
async def test_a_parked_turn_that_leaves_the_tests_alone_passes(folder: Path, keep: bool) -> None:
    options: dict[str, Any] = {"tools": [ASKING]}
    async with opened(folder, write("a"), ASK, verify=PROTECT if keep else {}, **options) as session:
        await session.prompt("go")
    async with opened(folder, DONE, verify=PROTECT, resume="last", **options) as session:
        reply = await session.answer("c1", "this one")
        assert (reply.reason, reply.verify, reply.tampered) == ("stop", "passed", ())


@pytest.mark.parametrize(
    ("script", "more", "verify"),
    [
        ((write("a"), DONE), {"max_steps": 1}, "not_run"),
        ((bash("ls"), DONE), {"max_steps": 1}, "skipped"),
        ((write("a"), {"error": {"status": 400, "body": "{}"}}), {}, "not_run"),
        ((write("a"), DONE), {}, "passed"),
    ],
)
async def test_a_turn_that_was_cut_off_before_the_checks_says_whether_there_was_something_to_check(
    folder: Path, script: tuple[Json, ...], more: dict[str, Any], verify: str
) -> None:
    async with opened(folder, *script, **more) as session:
        assert (await session.prompt("go")).verify == verify


async def test_what_is_outside_of_the_folder_but_in_its_repository_is_checked_and_there_in_the_copy(
    folder: Path,
) -> None:
    (folder / ".git").mkdir()
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_text("")
    (folder / "sub/tests").mkdir(parents=True)
    (folder / "sub/tests/t").write_text("1\n")
    (folder / "lib").write_text("data\n")
    check = {**PROTECT, "commands": ["grep -q 1 tests/t", f"grep -q 1 '{folder}/sub/tests/t'", "test -e ../lib"]}
    async with opened(folder / "sub", bash("echo y > ../a.py"), DONE, verify=check) as session:
        assert (await session.prompt("go")).verify == "passed"
    async with opened(folder / "sub", bash("echo 2 > tests/t; echo z > ../a.py"), DONE, DONE, verify=check) as session:
        reply = await session.prompt("go")
        assert (reply.verify, reply.tampered) == ("passed", ("tests/t was changed",))


async def test_tests_that_nobody_protected_are_told_to_both_when_they_go(folder: Path) -> None:
    script = (bash("rm tests/test_a.py"), DONE, {"text": "as asked"})
    async with opened(folder, *script, verify={"commands": ["true"]}) as session:
        result, events = await watched(session, "go")
        assert (result.verify, result.text, result.steps) == ("passed", "as asked", 3)
        (warning,) = told(session)
        assert "- tests/test_a.py was deleted" in warning
        assert [e.outcome for e in events if isinstance(e, VerifyEnded)] == ["passed"]
        assert any("tests may have been taken out" in event.message for event in events if isinstance(event, Notice))


async def test_a_check_that_was_asked_for_knows_what_is_protected(folder: Path) -> None:
    check = {**PROTECT, "commands": ["grep -q True tests/test_a.py"]}
    async with opened(folder, write("tests/test_a.py", "1\n"), DONE, DONE, verify=check) as session:
        await session.prompt("go")
        assert await session.verify() == ""
        await session.accept_protected()
        assert (await session.verify()).startswith("`grep -q True tests/test_a.py`: exit 1")


async def test_without_protected_files_there_is_nothing_to_accept(folder: Path) -> None:
    async with opened(folder) as session:
        with pytest.raises(UsageError, match="no files are protected"):
            await session.accept_protected()


@pytest.mark.parametrize("prompt", ["", " \n\t", User(())])
async def test_a_prompt_that_says_nothing_is_refused_and_not_kept(folder: Path, prompt: str | User) -> None:
    async with opened(folder, DONE) as session:
        with pytest.raises(UsageError, match="the prompt is empty"):
            await session.prompt(prompt)
        assert session.messages == ()


CHANGING = """sed -i s/True/False/ tests/test_a.py; rm gone; mv old new; touch made; python3 -c "open('py', 'w').write('x')"; chmod +x mode; mkdir folder"""


@pytest.mark.parametrize("kept", [True, False])
async def test_changed_files_are_all_that_the_run_left_different(folder: Path, kept: bool) -> None:
    for name in ("gone", "old", "mode"):
        (folder / name).write_text(name)
    script = (write("twice"), bash("rm twice"), write("a"), bash(CHANGING), DONE, DONE, DONE)
    settings = {"checkpoints": {"enabled": kept}, "permissions": {"mode": "full"}}
    env = {"TRIMTAB_HOME": str(folder.parent / "home"), "PATH": "/usr/bin:/bin"}
    async with Session.open(
        folder, model="scripted/none", provider=ScriptedProvider(script), env=env, settings=settings
    ) as session:
        result, _ = await watched(session, "go")
        every = ["a", "gone", "made", "mode", "new", "old", "py", "tests/test_a.py"]
        assert list(result.changed_files) == [str(folder / name) for name in (every if kept else ["twice", "a"])]
        assert (await session.prompt("nothing")).changed_files == ()
        if kept:
            await session.undo(2)
            assert session.result(await session.prompt("so?")).changed_files == ()


async def test_a_result_says_what_failed(folder: Path) -> None:
    async with opened(folder, {"error": {"status": 400, "body": '{"error": {"message": "no such thing"}}'}}) as session:
        result, _ = await watched(session, "go")
        assert result.error is not None
        assert (result.reason, "no such thing" in result.error.message) == ("error", True)


async def test_a_cut_in_the_middle_of_a_turn_leaves_its_doings_known(folder: Path) -> None:
    class Slow:
        async def __call__(self, _arguments: object, _run: object) -> None:
            session.cancel()
            await anyio.sleep(30)

    slow = SimpleTool(ToolSpec("slow", "Slow.", {"type": "object"}), Slow(), accesses=lambda _a: Access())  # type: ignore[arg-type]
    script = (
        write("tests/test_a.py", "1\n"),
        {"tool_calls": [{"name": "slow", "arguments": {}}]},
        write("b"),
        DONE,
        DONE,
    )
    async with opened(folder, *script, verify=PROTECT, tools=[slow]) as session:
        cut = await session.prompt("go")
        assert (cut.reason, cut.verify, cut.tampered) == ("cancelled", "not_run", ("tests/test_a.py was changed",))
        assert (await session.prompt("go on")).tampered == ("tests/test_a.py was changed",)
