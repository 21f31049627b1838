"""Turns are taken back and done again: what was said, what was changed in files, or both."""

import os
import resource
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from support.cli import Cli, Json
from trimtab.agent.run import AgentBusy
from trimtab.coding.checkpoints.named import outside
from trimtab.coding.checkpoints.patch import shown_from
from trimtab.coding.choose import AtFile, Ephemeral, New
from trimtab.coding.commands.undo import told
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.coding.sdk.tools import tool
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError
from trimtab.types.messages import User

pytestmark = pytest.mark.anyio
DONE: Json = {"text": "done"}


def write(path: str, content: str) -> Json:
    return {"tool_calls": [{"name": "write", "arguments": {"path": path, "content": content}}]}


def bash(command: str) -> Json:
    return {"tool_calls": [{"name": "bash", "arguments": {"command": command}}]}


def project_of(cli: Cli, *lines: Json, **settings: Any) -> Any:
    overrides = {"model": cli.script(*lines), "permissions": {"mode": "full"}, **settings}
    env = {"TRIMTAB_HOME": str(cli.home), "PATH": os.environ["PATH"], "HOME": str(cli.root)}
    return open_project(cli.project, overrides=overrides, env=env)


@asynccontextmanager
async def opened(cli: Cli, *lines: Json, choice: Any = None, **settings: Any) -> AsyncIterator[Session]:
    async with open_session(project_of(cli, *lines, **settings), choice or New()) as session:
        yield session


def files(root: Path) -> dict[str, str]:
    return {
        str(p.relative_to(root)): p.read_text()
        for p in sorted(root.rglob("*"))
        if p.is_file() and ".git" not in p.relative_to(root).parts
    }


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(2_000):
        if condition():
            return
        await anyio.sleep(0.01)
    raise AssertionError("it never came to that")


def said(session: Session) -> list[str]:
    return ["".join(part.text for part in m.parts) for m in session.agent.messages if isinstance(m, User)]


async def test_a_turn_is_taken_back_whole_and_done_again(cli: Cli) -> None:
    cli.file("a.txt", "old\n")
    async with opened(cli, write("a.txt", "new\n"), DONE) as session:
        await session.prompt("change it")
        after = session.log.view()
        outcome = await session.undo()
        assert (outcome.turns, [c.path for c in outcome.put_back]) == (("change it",), [str(cli.project / "a.txt")])
        assert (files(cli.project), session.agent.messages) == ({"a.txt": "old\n"}, ())
        await session.redo()
        assert (files(cli.project), session.log.view()) == ({"a.txt": "new\n"}, after)


async def test_what_commands_changed_made_and_deleted_comes_back_too(cli: Cli) -> None:
    before = {"a.txt": "1\n", "b.txt": "2\n", "c.txt": "3\n"}
    for name, text in before.items():
        cli.file(name, text)
    command = "sed -i s/1/one/ a.txt; rm b.txt; mkdir -p d/e; echo new > d/e/f.txt; mv c.txt g.txt"
    async with opened(cli, bash(command), DONE) as session:
        await session.prompt("go")
        after = files(cli.project)
        assert after == {"a.txt": "one\n", "d/e/f.txt": "new\n", "g.txt": "3\n"}
        await session.undo()
        assert files(cli.project) == before
        await session.redo()
        assert files(cli.project) == after


async def test_several_turns_are_taken_back_at_once_to_how_it_was_before_the_first(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, write("a.txt", "2"), DONE, write("b.txt", "3"), DONE) as session:
        for text in ("one", "two", "three"):
            await session.prompt(text)
        await session.undo(2)
        assert (files(cli.project), said(session)) == ({"a.txt": "1"}, ["one"])
        await session.redo()
        assert files(cli.project) == {"a.txt": "2", "b.txt": "3"}


async def test_turn_after_turn_can_be_taken_back_and_done_again_in_order(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, write("a.txt", "2"), DONE) as session:
        await session.prompt("one")
        await session.prompt("two")
        for expected in ({"a.txt": "1"}, {}):
            await session.undo()
            assert files(cli.project) == expected
        for expected in ({"a.txt": "1"}, {"a.txt": "2"}):
            await session.redo()
            assert files(cli.project) == expected
        with pytest.raises(UsageError):
            await session.redo()


async def test_a_file_that_somebody_else_changed_since_is_left_and_said(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), write("b.txt", "2"), DONE) as session:
        await session.prompt("go")
        (cli.project / "a.txt").write_text("mine")
        outcome = await session.undo()
        assert files(cli.project) == {"a.txt": "mine"}
        assert [(Path(left.path).name, left.why) for left in outcome.left] == [
            ("a.txt", "it was changed since, by you or by another program")
        ]


async def test_files_alone_are_taken_back_and_the_model_is_told_once(cli: Cli) -> None:
    told = {"text": "I see", "expect": {"contains": ["[the person took back what you changed in ", "a.txt]"]}}
    quiet = {"text": "ok", "expect": {"absent": ["never said"]}}
    async with opened(cli, write("a.txt", "1"), DONE, told, quiet) as session:
        await session.prompt("go")
        await session.undo(what="files")
        assert (files(cli.project), said(session)) == ({}, ["go"])
        turn = await session.prompt("well?")
        assert turn.text == "I see"
        assert said(session)[-1].endswith("well?")
        await session.prompt("and now?")
        assert said(session)[-1] == "and now?"


async def test_what_was_said_alone_is_taken_back_and_files_stay(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE) as session:
        await session.prompt("go")
        await session.undo(what="talk")
        assert (files(cli.project), said(session)) == ({"a.txt": "1"}, [])


async def test_who_goes_on_after_an_undo_has_left_the_other_way(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, {"text": "other"}) as session:
        await session.prompt("go")
        await session.undo()
        await session.prompt("another way")
        with pytest.raises(UsageError, match="nothing to redo"):
            await session.redo()


async def test_undo_and_redo_outlive_the_process(cli: Cli) -> None:
    path = cli.root / "s.jsonl"
    async with opened(cli, write("a.txt", "1"), DONE, choice=AtFile(path)) as session:
        await session.prompt("go")
    async with opened(cli, DONE, choice=AtFile(path)) as session:
        await session.undo()
        assert files(cli.project) == {}
    async with opened(cli, DONE, choice=AtFile(path)) as session:
        assert said(session) == []
        await session.redo()
        assert (files(cli.project), said(session)) == ({"a.txt": "1"}, ["go"])


async def test_the_state_of_git_is_as_it_was(cli: Cli) -> None:
    def git(*arguments: str) -> str:
        who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
        return subprocess.run(
            ("git", *who, *arguments), cwd=cli.project, capture_output=True, text=True, check=True
        ).stdout

    git("init", "-q", "-b", "main")
    cli.file("a.txt", "old\n")
    git("add", "-A")
    git("commit", "-qm", "first")
    cli.file("staged.txt", "staged\n")
    git("add", "staged.txt")
    before = {p: p.read_bytes() for p in sorted((cli.project / ".git").rglob("*")) if p.is_file()}
    async with opened(cli, write("a.txt", "new\n"), bash("echo x > b.txt"), DONE) as session:
        await session.prompt("go")
        await session.undo()
    assert {p: p.read_bytes() for p in sorted((cli.project / ".git").rglob("*")) if p.is_file()} == before
    assert git("status", "--porcelain") == "A  staged.txt\n"


async def test_what_a_hook_makes_of_a_file_after_a_call_is_taken_back_with_it(cli: Cli) -> None:
    cli.file("a.txt", "old")
    formatter = {"command": "echo formatted >> a.txt", "match": "write"}
    async with opened(cli, write("a.txt", "new\n"), DONE, hooks={"tool_result": [formatter]}) as session:
        await session.prompt("go")
        assert files(cli.project) == {"a.txt": "new\nformatted\n"}
        assert (await session.undo()).left == ()
        assert files(cli.project) == {"a.txt": "old"}
        await session.redo()
        assert files(cli.project) == {"a.txt": "new\nformatted\n"}


async def test_modes_and_bytes_come_back(cli: Cli) -> None:
    script = cli.file("run.sh", b"#!/bin/sh\r\n\xff\xfe")
    script.chmod(0o755)
    async with opened(cli, bash("rm run.sh"), DONE) as session:
        await session.prompt("go")
        await session.undo()
    assert script.read_bytes() == b"#!/bin/sh\r\n\xff\xfe"
    assert script.stat().st_mode & 0o777 == 0o755


async def test_permissions_alone_are_taken_back_and_done_again_unless_the_person_changed_them_since(cli: Cli) -> None:
    script = cli.file("run.sh", "x")
    script.chmod(0o644)
    async with opened(cli, bash("chmod 755 run.sh"), DONE) as session:
        await session.prompt("go")
        outcome = await session.undo()
        assert ([Path(change.path).name for change in outcome.put_back], script.stat().st_mode & 0o777) == (
            ["run.sh"],
            0o644,
        )
        await session.redo()
        assert script.stat().st_mode & 0o777 == 0o755
        script.chmod(0o700)
        assert (await session.undo()).put_back == ()
        assert script.stat().st_mode & 0o777 == 0o700


async def test_nothing_is_written_through_a_folder_that_became_a_link(cli: Cli, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("new")
    cli.file("d/a.txt", "old")
    async with opened(cli, write("d/a.txt", "new"), DONE) as session:
        await session.prompt("go")
        (cli.project / "d" / "a.txt").unlink()
        (cli.project / "d").rmdir()
        (cli.project / "d").symlink_to(outside)
        outcome = await session.undo()
    assert (outside / "a.txt").read_text() == "new"
    assert [left.why for left in outcome.left] == ["its folder is now a link to somewhere else"]


@pytest.mark.parametrize("swap", ["rm f; ln -s {victim} f", "ln -sf {victim} f"])
async def test_a_file_that_a_command_replaced_by_a_link_comes_back_and_nothing_is_written_through_the_link(
    cli: Cli, tmp_path: Path, swap: str
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    cli.file("f", "one")
    async with opened(cli, bash(swap.format(victim=victim)), DONE) as session:
        await session.prompt("go")
        await session.undo()
        assert (victim.read_text(), (cli.project / "f").is_symlink(), (cli.project / "f").read_text()) == (
            "precious",
            False,
            "one",
        )
        await session.redo()
        assert (victim.read_text(), (cli.project / "f").readlink()) == ("precious", victim)


async def test_a_link_that_somebody_put_in_the_place_of_a_file_is_left_and_not_written_through(
    cli: Cli, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    cli.file("f", "old")
    async with opened(cli, write("f", "new"), DONE) as session:
        await session.prompt("go")
        (cli.project / "f").unlink()
        (cli.project / "f").symlink_to(victim)
        outcome = await session.undo()
    assert (victim.read_text(), (cli.project / "f").is_symlink()) == ("precious", True)
    assert [left.why for left in outcome.left] == ["it was changed since, by you or by another program"]


async def test_files_outside_the_project_that_a_tool_wrote_come_back(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("old")
    async with opened(cli, write(str(other), "new"), DONE) as session:
        await session.prompt("go")
        await session.undo()
    assert other.read_text() == "old"


async def test_what_a_cancelled_command_changed_can_be_taken_back(cli: Cli) -> None:
    async with opened(cli, bash("echo x > a.txt; sleep 60"), DONE) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(session.prompt, "go")
            await until((cli.project / "a.txt").exists)
            session.cancel()
        await session.undo()
    assert files(cli.project) == {}


async def test_what_a_command_changed_when_the_process_was_killed_can_be_taken_back(cli: Cli) -> None:
    path = cli.root / "s.jsonl"
    process = cli.start(
        "-p",
        "go",
        "--permission",
        "full",
        "--session",
        str(path),
        "--model",
        cli.script(bash("echo $$ > b.txt; mv b.txt a.txt; exec sleep 60")),
    )
    await until((cli.project / "a.txt").exists)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    os.kill(int((cli.project / "a.txt").read_text()), signal.SIGKILL)
    async with opened(cli, DONE, choice=AtFile(path)) as session:
        await session.undo()
    assert files(cli.project) == {}


async def test_an_ephemeral_session_can_be_taken_back_and_leaves_nothing(cli: Cli, tmp_path: Path) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, choice=Ephemeral()) as session:
        await session.prompt("go")
        await session.undo()
        assert files(cli.project) == {}
    assert not (cli.home / "checkpoints").exists()


async def test_nothing_is_taken_back_while_a_turn_runs(cli: Cli) -> None:
    async with opened(cli, {"text": "slow", "delay_ms": 20_000}) as session, anyio.create_task_group() as group:
        group.start_soon(session.prompt, "go")
        await until(lambda: session.busy)
        with pytest.raises(AgentBusy):
            await session.undo()
        session.cancel()


@pytest.mark.parametrize("number", [1, 3])
async def test_there_is_nothing_to_undo_where_nothing_was_said(cli: Cli, number: int) -> None:
    async with opened(cli, DONE) as session:
        with pytest.raises(UsageError):
            await session.undo(number)


async def test_more_turns_than_there_are_take_back_nothing_and_the_number_is_said(cli: Cli) -> None:
    async with opened(cli, DONE, DONE) as session:
        for words in ("there is only 1 turn to undo", "there are only 2 turns to undo"):
            await session.prompt("go")
            with pytest.raises(UsageError, match=words):
                await session.undo(50)
            assert len(said(session)) == int(words.split()[3])


async def test_where_checkpoints_are_off_nothing_is_kept_and_that_is_said(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, checkpoints={"enabled": False}) as session:
        await session.prompt("go")
        with pytest.raises(UsageError, match="nothing is kept to undo"):
            await session.undo()
    assert not (cli.home / "checkpoints").exists()


async def test_a_diff_is_against_how_the_files_are_now(cli: Cli) -> None:
    cli.file("a.txt", "one\ntwo\n")
    async with opened(cli, write("a.txt", "one\n2\n"), DONE, write("b.txt", "b\n"), DONE) as session:
        await session.prompt("first")
        await session.prompt("second")
        head = "diff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n"
        assert await session.diff() == (f"{head}@@ -0,0 +1,1 @@\n+b\n",)
        assert len(await session.diff(None)) == 2
        await session.undo(what="files")
        assert await session.diff() == ()


async def test_diffs_are_a_patch_of_the_project_that_git_takes_back(cli: Cli) -> None:
    for name in ("a.txt", "sub/b with blanks", "gone", "run.sh"):
        cli.file(name, "one\ntwo")
    cli.file("data.bin", "\0")
    (cli.project / "link").symlink_to("a.txt")
    (cli.project / "turns").symlink_to("a.txt")
    command = (
        """printf 'one\\n2\\n' > a.txt; echo more >> 'sub/b with blanks'; rm gone turns; chmod +x run.sh; ln -sf gone link; echo x > turns;"""
        """echo é > 'tab\\\\ "é'; printf x > "$(printf 'n\\nl\\t')"; : > empty; printf '\\0\\0' > data.bin; echo 'x\u2028' > odd"""
    )
    async with opened(cli, bash(command), DONE) as session:
        await session.prompt("go")
        texts = await session.diff()
        patch = "".join(texts).encode()
        assert str(cli.project).encode() not in patch
        await anyio.run_process(["git", "init", "-q"], cwd=cli.project)
        await anyio.run_process(["git", "apply", "-R"], cwd=cli.project, input=patch)
        rest = await session.undo()
        assert [Path(one.path).name for one in rest.put_back] == ["data.bin"]
        assert rest.left == ()


async def test_a_file_outside_of_the_project_is_named_whole_in_a_diff_and_an_undo(cli: Cli, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    async with opened(cli, write(str(outside), "b\n"), DONE) as session:
        await session.prompt("go")
        assert f"+++ {outside}\n" in "".join(await session.diff())
        outcome = await session.undo()
        assert told(outcome, cli.project)[1] == f"  {outside}: removed"


async def test_a_preview_says_what_an_undo_would_do_and_touches_nothing(cli: Cli) -> None:
    cli.file("old.txt", "old")
    kept = write("mine.txt", "theirs"), write("old.txt", "new"), bash("mkdir d && echo x > d/x"), DONE
    async with opened(cli, *kept) as session:
        await session.prompt("go")
        (cli.project / "mine.txt").write_text("mine")
        (cli.project / "d" / "y").write_text("mine too")
        (cli.project / "d").chmod(0o755)
        assert session.log.path is not None
        before = files(cli.project), session.log.path.read_bytes(), stored(cli)
        outcome = await session.undo(preview=True)
        assert told(outcome, cli.project, tense="before") == [
            "would take back in part: go",
            "  d/x: to be removed",
            "  old.txt: to be as it was",
            "would stay as it is, 1 file:",
            "  mine.txt: it was changed since, by you or by another program",
            "To put back what was changed since, too: /undo force. What stands there now comes back with /redo.",
        ]
        assert (files(cli.project), session.log.path.read_bytes(), stored(cli)) == before
        assert [c.path for c in (await session.undo(preview=True, force=True)).put_back] == [
            str(cli.project / name) for name in ("d/x", "mine.txt", "old.txt")
        ]
        done = await session.undo()
        assert (done.put_back, done.left) == (outcome.put_back, outcome.left)


async def test_a_preview_sees_what_stands_in_the_way_and_what_is_lost(cli: Cli) -> None:
    for name in ("d/a", "e/b", "f"):
        cli.file(name, "old")
    async with opened(cli, bash("rm -r d e f"), DONE) as session:
        await session.prompt("go")
        cli.file("d", "a file")
        (cli.project / "e").symlink_to("/tmp")
        for folder in (cli.home / "checkpoints").iterdir():
            (folder / "contents.sqlite").unlink()
        why = {shown_from(one.path, cli.project): one.why for one in (await session.undo(preview=True)).left}
        assert why["d/a"] == "a file stands where its folder was"
        assert why["e/b"] == "its folder is now a link to somewhere else"


def stored(cli: Cli) -> list[tuple[str, ...]]:
    """The contents that are kept."""
    (table,) = (cli.home / "checkpoints").rglob("contents.sqlite")
    with closing(sqlite3.connect(table)) as open_table:
        return open_table.execute("SELECT name FROM content ORDER BY name").fetchall()


async def test_calls_side_by_side_are_taken_back_to_before_the_first(cli: Cli) -> None:
    both: Json = {
        "tool_calls": [
            {"name": "bash", "arguments": {"command": "sleep 0.3; echo 1 >> a.txt"}},
            {"name": "bash", "arguments": {"command": "echo 2 >> a.txt"}},
        ]
    }
    cli.file("a.txt", "0\n")
    async with opened(cli, both, DONE) as session:
        await session.prompt("go")
        assert (cli.project / "a.txt").read_text() == "0\n2\n1\n"
        await session.undo()
    assert files(cli.project) == {"a.txt": "0\n"}


async def test_a_fork_takes_back_what_its_parent_changed(cli: Cli) -> None:
    from trimtab.coding.choose import Fork

    path = cli.root / "s.jsonl"
    async with opened(cli, write("a.txt", "1"), DONE, choice=AtFile(path)) as session:
        await session.prompt("go")
    async with opened(cli, DONE, choice=Fork(str(path))) as session:
        await session.undo()
    assert files(cli.project) == {}


async def test_ignored_files_and_caches_are_not_looked_at(cli: Cli) -> None:
    cli.file(".gitignore", "build/\n")
    async with opened(cli, bash("mkdir build; echo x > build/out; echo y > src.txt"), DONE) as session:
        await session.prompt("go")
        outcome = await session.undo()
    assert [Path(c.path).name for c in outcome.put_back] == ["src.txt"]
    assert (cli.project / "build" / "out").exists()


async def test_caches_that_no_ignore_file_names_are_not_looked_at_either(cli: Cli) -> None:
    script = "mkdir -p sub/__pycache__ node_modules/x; echo x | tee sub/__pycache__/a.pyc node_modules/x/b.js sub/a.py"
    async with opened(cli, bash(script), DONE) as session:
        reply = await session.prompt("go")
        assert [Path(path).name for path in reply.changed_files] == ["a.py"]
        assert len(await session.diff()) == 1


async def test_a_project_too_large_to_look_at_says_once_what_cannot_be_taken_back(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.coding.checkpoints.tree.MOST_FILES", 2)
    for n in range(4):
        cli.file(f"f{n}.txt", "x")
    async with opened(cli, bash("rm f0.txt"), bash("rm f1.txt"), write("a.txt", "1"), DONE) as session:
        events = session.feed.subscribe()
        await session.prompt("go")
        notes = [e.message for e in events.pending() if getattr(e, "message", "") and "taken back" in str(e.message)]
        assert len(notes) == 1
        outcome = await session.undo()
    assert [Path(c.path).name for c in outcome.put_back] == ["a.txt"]


async def test_what_cannot_be_taken_back_is_named_and_left_as_it_is(cli: Cli) -> None:
    os.mkfifo(cli.project / "old.pipe")
    command = "mkfifo new.pipe; rm old.pipe; echo a > $'caf\\xe9.txt'; echo b > b.txt"
    project = project_of(cli, bash(command), DONE)
    async with open_session(project, New()) as session:
        await session.prompt("go")
        outcome = await session.undo()
        assert [os.path.basename(change.path) for change in outcome.put_back] == ["b.txt"]
        assert {os.path.basename(left.path): left.why for left in outcome.left} == {
            "new.pipe": "it is, or was, a pipe, socket or device",
            "old.pipe": "it is, or was, a pipe, socket or device",
            "caf\\xe9.txt": "its name is no text, so it wasn't kept",
        }
    assert sorted(os.listdir(os.fsencode(cli.project))) == [b"caf\xe9.txt", b"new.pipe"]


async def test_a_pipe_that_the_turn_did_not_touch_is_not_spoken_of(cli: Cli) -> None:
    os.mkfifo(cli.project / "there.pipe")
    async with open_session(project_of(cli, bash("echo b > b.txt"), DONE), New()) as session:
        await session.prompt("go")
        assert (await session.undo()).left == ()


def test_where_no_temporary_folder_can_be_made_a_session_that_is_kept_nowhere_says_what_to_do(cli: Cli) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    outcome = cli.run("-p", "hi", "--no-session", "--model", cli.script({"text": "hello"}), preexec_fn=full)
    assert outcome.code == 2
    assert "no temporary folder can be made" in outcome.err
    assert "TMPDIR" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("what", ["both", "files"])
async def test_force_behind_an_undo_that_left_files_finishes_that_one(cli: Cli, what: Any) -> None:
    turns = (write("a.txt", "1"), DONE, write("a.txt", "2"), write("b.txt", "2"), DONE)
    async with opened(cli, *turns) as session:
        await session.prompt("one")
        await session.prompt("two")
        (cli.project / "a.txt").write_text("mine")
        assert [Path(left.path).name for left in (await session.undo(what=what)).left] == ["a.txt"]
        foreseen = await session.undo(force=True, preview=True)
        assert (foreseen.turns, [Path(c.path).name for c in foreseen.put_back]) == (("two",), ["a.txt"])
        outcome = await session.undo(force=True)
        assert (outcome.turns, outcome.left, outcome.talk) == (("two",), (), what == "both")
        assert files(cli.project) == {"a.txt": "1"}
        assert said(session) == (["one"] if what == "both" else ["one", "two"])
        await session.redo()
        assert files(cli.project) == {"a.txt": "mine", "b.txt": "2"}
        assert said(session) == ["one", "two"]


async def test_with_a_number_or_once_something_was_said_force_is_about_the_last_turns(cli: Cli) -> None:
    turns = (write("a.txt", "1"), DONE, write("b.txt", "2"), DONE, write("c.txt", "3"), DONE)
    async with opened(cli, *turns) as session:
        await session.prompt("one")
        await session.prompt("two")
        (cli.project / "b.txt").write_text("mine")
        await session.undo()
        assert (await session.undo(1, force=True, preview=True)).turns == ("one",)
        await session.prompt("three")
        assert (await session.undo(force=True)).turns == ("three",)
        assert files(cli.project) == {"a.txt": "1", "b.txt": "mine"}


async def test_an_undo_that_left_nothing_is_finished_and_force_takes_the_next(cli: Cli) -> None:
    async with opened(cli, write("a.txt", "1"), DONE, write("b.txt", "2"), DONE) as session:
        await session.prompt("one")
        await session.prompt("two")
        await session.undo()
        assert (await session.undo(force=True)).turns == ("one",)
        assert files(cli.project) == {}


async def test_several_turns_are_finished_together_after_the_session_was_closed(cli: Cli) -> None:
    file = cli.root / "s.jsonl"
    async with opened(cli, write("a.txt", "1"), DONE, write("b.txt", "2"), DONE, choice=AtFile(file)) as session:
        await session.prompt("one")
        await session.prompt("two")
        (cli.project / "a.txt").write_text("mine")
        assert len((await session.undo(2)).left) == 1
    async with opened(cli, DONE, choice=AtFile(file)) as session:
        assert (await session.undo(force=True)).turns == ("one", "two")
        assert files(cli.project) == {}


@pytest.mark.parametrize("reads", [False, True])
async def test_what_a_tool_of_others_changes_is_followed_unless_it_is_known_to_read(cli: Cli, reads: bool) -> None:
    cli.file("a.txt", "old")

    @tool(changes=not reads)
    def stir() -> str:
        """Stir."""
        (cli.project / "a.txt").write_text("new")
        (cli.project / "made.txt").write_text("made")
        return "stirred"

    calls = {"tool_calls": [{"name": "stir", "arguments": {}}]}
    async with open_session(project_of(cli, calls, DONE), New(), extra_tools=(stir,)) as session:
        reply = await session.prompt("go")
        assert [Path(path).name for path in reply.changed_files] == ([] if reads else ["a.txt", "made.txt"])
        assert ("+new" in "".join(await session.diff())) is not reads
        await session.undo()
    assert files(cli.project) == ({"a.txt": "new", "made.txt": "made"} if reads else {"a.txt": "old"})


async def test_what_a_command_names_outside_the_project_comes_back(cli: Cli, tmp_path: Path) -> None:
    beside = cli.project.parent / "beside"
    beside.mkdir()
    for name in ("a", "b", "c"):
        (beside / name).write_text(f"{name}\n")
    cli.file("a.txt", "mine")
    script = "cd ../beside && sed -i s/a/x/ a && rm b && mv c d && echo more > e; cp $OLDPWD/a.txt . ; cp a f"
    async with opened(cli, bash(script), bash(f"cp a.txt {beside}"), DONE, sandbox={"mode": "off"}) as session:
        reply = await session.prompt("go")
        assert files(beside) == {"a": "x\n", "d": "c\n", "e": "more\n", "a.txt": "mine", "f": "x\n"}
        assert {Path(path).name for path in reply.changed_files} == {"a", "b", "c", "d", "e", "f", "a.txt"} - {"a.txt"}
        await session.undo()
        assert files(beside) == {"a": "a\n", "b": "b\n", "c": "c\n", "a.txt": "mine"}
        await session.redo()
        assert files(beside) == {"a": "x\n", "d": "c\n", "e": "more\n", "a.txt": "mine", "f": "x\n"}


def test_a_file_that_a_command_only_reads_outside_is_not_copied(tmp_path: Path) -> None:
    (project := tmp_path / "p").mkdir()
    (tmp_path / "key").write_text("secret")
    key = str(tmp_path / "key")
    for script in (
        f"ssh -i {key} host",
        f"cp {key} here",
        f"sed -n p {key} && make",
        "rm $x *",
        "rm 'a",
        f"make {key}",
    ):
        assert key not in outside(script, project)
    for script in (f"rm {key}", "mv ../key x", f"sed -ni p {key}", f"perl -pi -e s/i/j/ {key}", f"x | sudo tee {key}"):
        assert outside(script, project) == [key], script
    assert outside("cp x ../key2 ; dd if=x of=../out; >> /dev/null; rm in /proc/1/x", project) == [
        str(tmp_path / "key2"),
        str(tmp_path / "out"),
    ]
