"""A job runs beside the conversation, is told of, and never outlives the session unless somebody said so."""

import os
import signal
import subprocess
import sys
import time

import anyio
import msgspec
import pytest

from jobs.conftest import World, alive, said, until
from trimtab.coding.jobs import jobs as module
from trimtab.coding.jobs import records as on_disk
from trimtab.coding.tools import capture, process_tree
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.types.errors import UsageError

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="what left its process group is only found by /proc"),
]


async def test_a_background_command_is_not_waited_for_and_its_end_is_told_to_the_person_and_the_model(
    world: World,
) -> None:
    async with world.session() as hand:
        began = time.monotonic()
        output = await hand.start("read line < go; echo got it; exit 3" if not os.mkfifo(world.work / "go") else "")
        assert time.monotonic() - began < 5
        job = hand.jobs.get("j1")
        assert said(output).startswith(f"job j1 runs in the background (pid {job.group.leader})")
        assert not output.is_error
        assert world.noted == []
        await anyio.to_thread.run_sync((world.work / "go").write_text, "x\n")
        with anyio.fail_after(10):
            await job.ended.wait()
        assert (job.ending, job.failed) == ("exit 3", True)
        assert len(world.noted) == 1
        assert world.noted[0].startswith("job j1 (read line < go; echo got it; exit 3) is over: exit 3, after ")
        assert world.told[-1] == world.noted[0]
        assert "got it" in said(await hand.use(action="tail", id="j1"))


async def test_one_that_fails_at_once_is_an_error_that_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.coding.jobs.background._AT_ONCE_S", 30.0)
    monkeypatch.setattr("trimtab.coding.jobs.background._GOES_ON_S", 30.0)
    async with world.session() as hand:
        output = await hand.start("echo no such port >&2; exit 1")
        assert (said(output), output.is_error) == ("no such port\n[job j1 is over: exit 1]", True)


async def test_the_end_of_the_session_ends_one_that_ignores_signals_and_one_that_forked_away(world: World) -> None:
    async with world.session() as hand:
        await hand.start("trap '' TERM; echo $$ > deaf; while :; do sleep 1; done")
        await hand.start("setsid sh -c 'echo $$ > away; while :; do sleep 1; done' & sleep 0.1")
        pids = [int(await hand.written(name)) for name in ("deaf", "away")]
        assert all(map(alive, pids))
    assert not any(map(alive, pids))
    assert [one.rpartition(": ")[2].partition(",")[0] for one in world.noted] == ["ended with the session"] * 2
    assert list(world.records.found()) == []


async def test_a_job_is_over_only_when_all_that_its_shell_started_is(world: World) -> None:
    async with world.session() as hand:
        await hand.start("sh -c 'echo $$ > child; exec sleep 60' & exit 0")
        child = int(await hand.written("child"))
        job = hand.jobs.get("j1")
        assert job.running
        os.kill(child, signal.SIGKILL)
        with anyio.fail_after(10):
            await job.ended.wait()
        assert job.ending == "exit 0"


async def test_what_a_foreground_command_leaves_running_becomes_a_job_that_ends_with_the_session(
    world: World,
) -> None:
    async with world.session() as hand:
        output = await hand.bash("sleep 61 & echo $! > child; echo started")
        child = int(await hand.written("child"))
        assert said(output).endswith("; that is job j1, which ends with the session]")
        assert alive(child)
        assert "was left running by a command" in world.told[0]
    assert not alive(child)


async def test_at_most_so_many_run_and_the_next_is_refused_by_name(world: World) -> None:
    async with world.session(most=2) as hand:
        await hand.start("sleep 62")
        await hand.start("sleep 62")
        third = await hand.start("sleep 62")
        assert third.is_error
        assert said(third) == "Not run: 2 jobs run already (j1, j2). End one first, or wait for it."
        await hand.use(action="kill", id="j1")
        assert not (await hand.start("sleep 62")).is_error


async def test_kill_ends_everything_and_the_model_is_not_told_what_it_asked_for(world: World) -> None:
    async with world.session() as hand:
        await hand.start("setsid sh -c 'trap \"\" TERM; echo $$ > away; sleep 63; sleep 63' & sleep 63")
        away = int(await hand.written("away"))
        output = await hand.use(action="kill", id="j1")
        assert said(output).startswith("job j1 ended as asked, after ")
        assert not alive(away)
        assert world.noted == []
        assert "is over: ended as asked" in world.told[-1]
        assert said(await hand.use(action="kill", id="j1")).startswith("job j1 ended as asked")


async def test_a_limit_ends_a_job(world: World) -> None:
    async with world.session() as hand:
        await hand.start("echo $$ > pid; sleep 64", timeout=0.2)
        pid = int(await hand.written("pid"))
        with anyio.fail_after(10):
            await hand.jobs.get("j1").ended.wait()
        assert hand.jobs.get("j1").ending == "timed out after 0.2 s"
        assert not alive(pid)


async def test_waiting_ends_with_the_text_with_the_job_or_with_the_time_and_a_cancel_leaves_the_job_alone(
    world: World,
) -> None:
    for name in ("go", "on"):  # one each: a reader may come before the writer of the line before has closed
        os.mkfifo(world.work / name)
    async with world.session() as hand:
        await hand.start("echo starting; read x < go; echo listening on 8080; read x < on; echo bye")
        waited = said(await hand.use(action="wait", id="j1", until="starting", timeout=10))
        assert waited.splitlines()[1:] == ["starting"]
        assert said(await hand.use(action="wait", id="j1", timeout=0)).startswith("job j1 runs")
        with anyio.move_on_after(0.1) as scope:
            await hand.use(action="wait", id="j1", until="never", timeout=60)
        assert scope.cancelled_caught
        assert hand.jobs.get("j1").running
        await anyio.to_thread.run_sync((world.work / "go").write_text, "x\n")
        heard = said(await hand.use(action="wait", id="j1", until="listening", timeout=10))
        assert heard.splitlines()[0].endswith("; the text was printed")
        assert "listening on 8080" in heard
        late = said(await hand.use(action="wait", id="j1", until="never", timeout=0))
        assert late.splitlines()[0].endswith("; the text wasn't printed within 0 s")
        await anyio.to_thread.run_sync((world.work / "on").write_text, "x\n")
        assert said(await hand.use(action="wait", id="j1", timeout=10)).startswith("job j1 exit 0, after ")
        over = said(await hand.use(action="wait", id="j1", until="never", timeout=10))
        assert over.splitlines()[0].endswith("; the text was never printed")


async def test_a_text_that_was_printed_before_in_the_middle_of_a_lot_is_found(world: World) -> None:
    async with world.session() as hand:
        await hand.start("seq 1 30000; printf 'READ\\033[32mY-NOW\\033[0m'; seq 1 30000; echo; echo last; sleep 60")
        await hand.use(action="wait", id="j1", until="last", timeout=20)
        assert "READY" not in hand.jobs.get("j1").printed()[0]
        found = said(await hand.use(action="wait", id="j1", until="READY-NOW", timeout=20))
        assert found.splitlines()[0].endswith("; the text was printed")


async def test_a_job_that_prints_without_end_fills_neither_memory_nor_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capture, "MAX_FILE_BYTES", 300_000)
    async with world.session() as hand:
        await hand.start("echo first; yes a line of output")
        job = hand.jobs.get("j1")
        assert job.capture is not None
        printing = job.capture
        await until(lambda: printing.so_far().bytes >= 1_000_000)
        text, file = job.printed()
        assert text.startswith("first\na line of output\n")
        assert len(text) < 60_000
        assert "its first 300,000 bytes" in text
        assert file is not None
        assert (await anyio.Path(file).stat()).st_size == 300_000
        tail = said(await hand.use(action="tail", id="j1", lines=3)).splitlines()
        assert tail[1].startswith("[all of it: ")
        assert len(tail) == 5


async def test_output_is_in_the_file_while_the_job_runs_and_nothing_a_terminal_obeys_is_shown(world: World) -> None:
    async with world.session() as hand:
        await hand.start(r"printf '\033]0;title\007one\n\377\n'; echo done > done; sleep 65")
        await hand.written("done")
        shown = said(await hand.use(action="wait", id="j1", until="one", timeout=10))
        assert shown.splitlines()[1:] == ["one", "\ufffd"]
        file = hand.jobs.get("j1").file
        assert file is not None
        assert file.read_bytes() == b"\033]0;title\007one\n\377\n"


async def test_a_kept_job_goes_on_prints_on_and_is_found_by_the_next_session(world: World) -> None:
    os.mkfifo(world.work / "go")
    async with world.session() as hand:
        await hand.start("echo $$ > pid; echo before; read x < go; echo after; echo done > done; sleep 66")
        pid = int(await hand.written("pid"))
        await hand.use(action="wait", id="j1", until="before", timeout=10)
        assert said(await hand.use(action="keep", id="j1")).startswith("job j1 goes on when this session ends")
    assert alive(pid)
    await anyio.to_thread.run_sync((world.work / "go").write_text, "x\n")
    async with world.session() as hand:
        await hand.written("done")
        assert f"was kept (pid {pid}" in world.told[-1]
        assert "earlier session: " in world.told[-1]
        found = hand.jobs.get("j1")
        await until(lambda: "before\nafter" in found.last_lines(9))  # the keeper process takes its time
        await hand.use(action="kill", id="j1")
        assert not alive(pid)
    assert list(world.records.found()) == []


async def test_a_kept_job_that_was_not_touched_stays_through_a_second_session(world: World) -> None:
    async with world.session() as hand:
        await hand.start("sleep 67")
        await hand.use(action="keep", id="j1")
        pid = hand.jobs.get("j1").group.leader
    async with world.session() as hand:
        pass
    assert alive(pid)


async def test_what_a_job_prints_while_its_file_is_made_goes_to_that_file(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = PrivateFolder.create

    def slowly(folder: PrivateFolder, prefix: str, suffix: str) -> object:
        time.sleep(0.2)
        return make(folder, prefix, suffix)

    monkeypatch.setattr(PrivateFolder, "create", slowly)
    async with world.session() as hand:
        await hand.start("echo hello; echo x > printed; sleep 66")
        await hand.written("printed")
        (file,) = (world.root / "outputs").iterdir()
        assert hand.jobs.get("j1").file == file
        await until(lambda: file.read_text() == "hello\n")


async def test_a_job_that_cannot_be_started_leaves_no_file(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(module, "spawn", fail)
    async with world.session() as hand:
        output = await hand.start("echo hello")
        assert output.is_error
        assert list((world.root / "outputs").iterdir()) == []


async def test_jobs_of_a_session_that_is_opened_again_at_once_go_on_as_its_own(world: World) -> None:
    async with world.session() as hand:
        await hand.start("true")
        await hand.start("echo hello; sleep 67.5")
        await hand.use(action="kill", id="j1")
        pid = hand.jobs.get("j2").group.leader
        await hand.jobs.carry()
    world.told.clear()
    async with world.session() as again:
        (job,) = again.jobs.running
        assert (job.id, job.kept, job.group.leader) == ("j2", False, pid)
        assert "hello" in said(await again.use(action="tail", id="j2"))
        assert world.told == []
        await again.start("sleep 67.6")
        assert list(again.jobs.all) == ["j2", "j3"]
    assert not alive(pid)


async def test_a_pid_that_is_somebody_elses_by_now_is_never_signalled(world: World) -> None:
    stranger = await anyio.to_thread.run_sync(lambda: subprocess.Popen(["sleep", "68"], start_new_session=True))
    try:
        born = process_tree.born_at(stranger.pid)
        assert born is not None
        record = on_disk.Record(
            id="j1", command="server", session="s0", began=0.0, pid=stranger.pid, born=born - 1, marker="a" * 16,
            boot=on_disk.boot_id(), owner=2**22 + 5, owner_born=1, kept=True,
        )  # fmt: skip
        world.records.write(record)
        assert await record.group.look() == ()
        assert await record.group.stop() == ()
        async with world.session() as hand:
            assert hand.jobs.running == ()
        assert stranger.poll() is None
        assert list(world.records.found()) == []
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_command_that_is_waited_for_has_a_record_while_it_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_A_WHILE_S", 0.0)
    async with world.session() as hand, anyio.create_task_group() as group:
        group.start_soon(hand.bash, "until [ -e go ]; do sleep 0.01; done")
        await until(lambda: bool(list(world.records.found())))
        ((_, record),) = world.records.found()
        assert (record.command, record.kept, record.session) == ("until [ -e go ]; do sleep 0.01; done", False, "s1")
        async with world.session() as second:
            assert second.jobs.running == (), "it belongs to the session that waits for it"
        (world.work / "go").touch()
        await until(lambda: list(world.records.found()) == [])


async def test_a_quick_command_has_no_record(world: World) -> None:
    async with world.session() as hand:
        await hand.bash("true")
    assert not world.records.folder.exists()


async def test_a_job_of_a_trimtab_that_runs_is_left_to_it_and_one_whose_trimtab_is_gone_is_said(world: World) -> None:
    async with world.session() as first:
        await first.start("sleep 69")
        async with world.session() as second:
            assert second.jobs.running == (), "the first session looks after it"
        (path, record), *_ = world.records.found()
        world.records.write(msgspec.structs.replace(record, owner=2**22 + 5), path)
        async with world.session() as third:
            (found,) = third.jobs.running
            assert found.kept
            assert "goes on although its session was cut off" in world.told[-1]
        assert first.jobs.get("j1").running, "an orphan is ended by nobody but the person"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "\x00" * 10])
async def test_a_record_that_is_damaged_or_from_another_run_of_the_machine_is_removed(world: World, text: str) -> None:
    folder = world.records.folder
    folder.mkdir()
    (folder / "bad.json").write_text(text)
    (folder / "loop.json").symlink_to(folder / "loop.json")
    os.mkfifo(folder / "pipe.json")
    record = on_disk.Record(
        id="j1",
        command="x",
        session="s",
        began=0.0,
        pid=1,
        born=1,
        marker="a" * 16,
        boot="another",
        owner=1,
        owner_born=1,
    )
    world.records.write(record)
    async with world.session() as hand:
        assert hand.jobs.all == {}
    assert list(folder.iterdir()) == []


async def test_what_can_not_be_recorded_is_not_kept_and_runs_on(world: World) -> None:
    (world.root / "records").write_text("a file is in the way")
    async with world.session() as hand:
        await hand.start("sleep 70")
        kept = await hand.use(action="keep", id="j1")
        assert kept.is_error
        assert "can't be kept" in said(kept)
        pid = hand.jobs.get("j1").group.leader
        assert hand.jobs.get("j1").running
    assert not alive(pid)


async def test_wrong_arguments_are_answered_in_words(world: World) -> None:
    async with world.session() as hand:
        assert said(await hand.use(action="list")) == "no jobs"
        for arguments, words in (
            ({"action": "tail"}, "there is no job ''. Jobs: none."),
            ({"action": "fly", "id": "j1"}, "action must be one of list, tail, wait, kill, keep"),
            ({"action": "kill", "id": "j9"}, "there is no job 'j9'. Jobs: none."),
        ):
            output = await hand.use(**arguments)
            assert (said(output), output.is_error) == (words, True)
        bad = await hand.start("true\0false")
        assert (said(bad), bad.is_error) == ("the command holds a NUL character, which no program can be given", True)


async def test_a_closed_session_starts_nothing(world: World) -> None:
    async with world.session() as hand:
        pass
    with pytest.raises(UsageError):
        await hand.jobs.start((("true",), {}), command="true", cwd=world.work, limit_s=None)


async def test_old_jobs_are_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REMEMBERED", 2)
    monkeypatch.setattr("trimtab.coding.jobs.background._AT_ONCE_S", 30.0)
    monkeypatch.setattr("trimtab.coding.jobs.background._GOES_ON_S", 30.0)
    async with world.session() as hand:
        for _ in range(5):
            await hand.start("true")
        assert list(hand.jobs.all) == ["j3", "j4", "j5"]
