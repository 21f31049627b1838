"""What a command does to the files with its output reaches nothing else: commands may write in the temp folder, where a session without a file keeps them."""

import os
import shutil
import sys
import time
from pathlib import Path

import anyio
import pytest

from jobs.conftest import World, alive, said, until
from trimtab.coding.context.files import ArchiveFiles
from trimtab.coding.tools import process_tree
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.context.asks import Failed, Kept

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="what left its process group is only found by /proc"),
]


def content(path: Path) -> str:
    return path.read_text()


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    path = tmp_path / "victim"
    path.write_text("SECRET\n")
    return path


@pytest.mark.parametrize("how", ["link", "hard link", "folder", "nothing", "pipe"])
async def test_a_kept_job_whose_file_was_replaced_writes_and_shows_nothing_else_and_goes_on(
    world: World, victim: Path, how: str
) -> None:
    os.mkfifo(world.work / "go")
    async with world.session() as hand:
        await hand.start("echo one; read x < go; echo two; echo x > printed; exec sleep 91")
        job = hand.jobs.get("j1")
        await hand.use(action="wait", id="j1", until="one")
        assert job.file is not None
        job.file.unlink()
        match how:
            case "link":
                job.file.symlink_to(victim)
            case "hard link":
                os.link(victim, job.file)
            case "folder":
                job.file.mkdir()
            case "pipe":
                os.mkfifo(job.file)
        assert not (await hand.use(action="keep", id="j1")).is_error
        await anyio.to_thread.run_sync((world.work / "go").write_text, "x\n")
        await hand.written("printed")
        assert alive(job.group.leader)
        assert said(await hand.use(action="tail", id="j1")).splitlines()[1:] == ["(no output)"]
        assert content(victim) == "SECRET\n"
        await hand.use(action="kill", id="j1")


async def test_what_a_command_leaves_running_does_not_print_through_a_link_that_took_the_place_of_its_output(
    world: World, victim: Path
) -> None:
    os.mkfifo(world.work / "go")
    outputs = world.root / "outputs"
    async with world.session() as hand:
        await hand.bash(
            f"seq 30000; until ls {outputs}/*; do sleep 0.01; done; ln -sf {victim} {outputs}/output-*; "
            "(read x < go; echo EVIL; echo x > printed; sleep 92) &"
        )
        (link,) = outputs.iterdir()
        assert link.is_symlink()
        await anyio.to_thread.run_sync((world.work / "go").write_text, "x\n")
        await hand.written("printed")
        assert "SECRET" not in said(await hand.use(action="tail", id="j1"))
    assert content(victim) == "SECRET\n"


async def test_no_output_is_made_in_a_folder_that_took_the_place_of_ours_and_one_that_is_gone_is_made_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.coding.jobs.background._AT_ONCE_S", 0.05)
    elsewhere, outputs = world.root / "elsewhere", world.root / "outputs"
    elsewhere.mkdir()
    async with world.session() as hand:
        await hand.start("sleep 93")
        shutil.rmtree(outputs)
        outputs.symlink_to(elsewhere)
        refused = await hand.start("echo hello; exec sleep 93")
        assert not refused.is_error
        assert "; its output can't be kept in a file: " in said(refused)
        assert said(await hand.use(action="wait", id="j2", until="hello")).endswith("\nhello")
        assert "could not be kept" in said(await hand.bash("seq 30000"))
        assert list(elsewhere.iterdir()) == []
        outputs.unlink()
        outputs.mkdir()
        assert "another folder stands in the place" in said(await hand.start("sleep 93"))
        outputs.rmdir()
        assert f"it prints to {outputs}/output-" in said(await hand.start("sleep 93"))


def test_a_folder_of_the_temp_folder_that_is_gone_has_a_successor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = PrivateFolder()
    first = folder.ensure()
    first.rmdir()
    capture = Capture(folder, 1, 1)
    capture.feed(b"hello")
    file = capture.finish().file
    assert file is not None
    assert (Path(file).parent.parent, Path(file).parent != first) == (tmp_path, True)


def test_an_archived_body_is_written_through_no_link_that_waits_for_it(tmp_path: Path, victim: Path) -> None:
    folder = PrivateFolder(tmp_path / "archive")
    files = ArchiveFiles(folder)
    kept = files.keep({"r1": "body"})
    assert isinstance(kept, Kept)
    (path,) = map(Path, kept.paths.values())
    path.unlink()
    path.symlink_to(victim)
    path.with_name(path.name + ".new").symlink_to(victim)
    again = files.keep({"r1": "body"})
    assert isinstance(again, Kept)
    assert (path.read_text(), path.is_symlink(), victim.read_text()) == ("body", False, "SECRET\n")
    shutil.rmtree(folder.ensure())
    (tmp_path / "archive").symlink_to(tmp_path)
    assert isinstance(files.keep({"r2": "body"}), Failed)


async def test_looks_that_are_asked_for_together_read_the_processes_a_few_times_in_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    readings = 0
    read = process_tree._read_all

    def counted() -> process_tree._Reading:
        nonlocal readings
        readings += 1
        time.sleep(0.05)
        return read()

    monkeypatch.setattr(process_tree, "_read_all", counted)
    monkeypatch.setattr(process_tree, "_SHARED_S", 30.0)
    monkeypatch.setattr(process_tree, "_LOOK_S", 30.0)
    found = set[object]()

    async def look() -> None:
        found.add(await process_tree.look(2**22 + 7, process_tree.new_marker()))

    async with anyio.create_task_group() as group:
        for _ in range(100):
            group.start_soon(look)
    assert found == {()}
    assert readings <= 5


async def test_a_job_of_which_nobody_can_say_whether_it_runs_is_not_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.session() as hand:
        with monkeypatch.context() as blind:
            blind.setattr(process_tree, "members", lambda *_, **__: time.sleep(0.1))
            blind.setattr(process_tree, "_LOOK_S", 0.01)
            await hand.start("sh -c 'echo $$ > child; exec sleep 94' & exit 0")
            child = int(await hand.written("child"))
            await anyio.sleep(0.3)
            assert hand.jobs.get("j1").running
        assert alive(child)
        await hand.use(action="kill", id="j1")
        await until(lambda: not alive(child))
