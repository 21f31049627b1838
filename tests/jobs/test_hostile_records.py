"""A record on disk may say anything: it ends no stranger and shows no file that isn't an output."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import msgspec
import pytest

from jobs.conftest import MINE, World, record, sleeper
from trimtab.coding.jobs.records import Records
from trimtab.coding.tools import process_tree
from trimtab.coding.tools.process import Group

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="jobs are found again by /proc alone"),
]


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    process = sleeper(TRIMTAB_COMMAND="")
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def marked() -> Iterator["subprocess.Popen[bytes]"]:
    process = sleeper(TRIMTAB_COMMAND=MINE)
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("marker", [MINE, "", "m", "0123456789ABCDEF", MINE + "\n"], ids=range(5))
@pytest.mark.parametrize("with_born", [True, False])
async def test_a_record_of_a_process_without_its_marker_ends_nobody(
    world: World, stranger: "subprocess.Popen[bytes]", marker: str, with_born: bool
) -> None:
    hostile = record(stranger.pid, process_tree.born_at(stranger.pid) if with_born else None, marker)
    world.records.write(hostile)
    assert await hostile.group.stop() == ()
    async with world.session() as hand:
        assert hand.jobs.running == ()
    assert stranger.poll() is None
    assert list(world.records.found()) == []


async def test_a_marked_process_elsewhere_does_not_vouch_for_the_named_one(
    world: World, stranger: "subprocess.Popen[bytes]", marked: "subprocess.Popen[bytes]"
) -> None:
    world.records.write(record(stranger.pid, process_tree.born_at(stranger.pid)))
    async with world.session() as hand:
        (job,) = hand.jobs.running
        assert [one.pid for one in await job.group.look()] == [marked.pid]
        process_ended = anyio.to_thread.run_sync(marked.wait)
        await hand.use(action="kill", id=job.id)
        await process_ended
    assert stranger.poll() is None


async def test_a_marked_process_in_the_group_of_a_stranger_is_ended_alone(tmp_path: Path) -> None:
    script = f"TRIMTAB_COMMAND={MINE} sleep 82 & echo $!; read x"
    shell = subprocess.Popen(  # noqa: ASYNC220
        ["sh", "-c", script], start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert shell.stdout is not None
        child = int(await anyio.to_thread.run_sync(shell.stdout.readline))
        while not process_tree.members(0, MINE, doubted=True):  # noqa: ASYNC110
            await anyio.sleep(0.01)
        assert await Group(2**22 + 5, MINE, None, doubted=True).stop() == ()
        assert process_tree.born_at(child) is None
        assert shell.poll() is None
    finally:
        shell.kill()
        shell.communicate()


@pytest.mark.parametrize("born_known", [True, False])
async def test_a_marked_process_is_found_and_ended(
    world: World, marked: "subprocess.Popen[bytes]", born_known: bool
) -> None:
    world.records.write(record(marked.pid, process_tree.born_at(marked.pid) if born_known else None))
    async with world.session() as hand:
        (job,) = hand.jobs.running
        await hand.use(action="kill", id=job.id)
    assert await anyio.to_thread.run_sync(marked.wait) == -15


@pytest.mark.parametrize(
    ("name", "value"),
    [*(("pid", pid) for pid in (0, 1, -1, -2, 2**31, 2**70, "7", 7.5, True, None)), ("id", "j" + "9" * 5000), ("id", "x\x1b[31m"), ("marker", None)],
)  # fmt: skip
async def test_a_record_with_a_value_that_can_not_be_is_removed(world: World, name: str, value: object) -> None:
    facts = {**msgspec.to_builtins(record(2**22 + 6, None)), name: value}
    world.records.folder.mkdir()
    (world.records.folder / "bad.json").write_text(json.dumps(facts))
    assert list(world.records.found()) == []
    assert list(world.records.folder.iterdir()) == []


async def test_only_outputs_of_sessions_are_read(world: World) -> None:
    sessions = world.root / "sessions"
    outputs = sessions / "p" / "a.jsonl.outputs"
    outputs.mkdir(parents=True)
    secret, good = world.root / "output-secret.txt", outputs / "output-1.txt"
    secret.write_text("secret")
    good.write_text("printed")
    (outputs / "output-link.txt").symlink_to(secret)
    os.link(secret, outputs / "output-hard.txt")
    (outputs / "notes.txt").write_text("x")
    (sessions / "p" / "output-2.txt").write_text("x")
    os.mkfifo(outputs / "output-pipe.txt")
    records = Records(world.root / "records", (sessions,))

    def read(file: str | None) -> Path | None:
        return records.output_of(record(5, None, file=file))

    assert read(str(good)) == good.resolve()
    for bad in (
        None, "", "/etc/passwd", "/dev/zero", "output-1.txt", "a\0b", "x" * 5000, str(secret), f"{outputs}/../../../output-secret.txt",
        str(sessions / "p" / "output-2.txt"), *(str(outputs / n) for n in ("output-link.txt", "output-hard.txt", "output-pipe.txt", "notes.txt", "")),
    ):  # fmt: skip
        assert read(bad) is None, bad
    assert records.output_of(record(5, None, file=str(secret)), world.root) is None, "it has a second name"
    os.unlink(outputs / "output-hard.txt")
    assert records.output_of(record(5, None, file=str(secret)), world.root) == secret.resolve()


async def test_the_file_of_a_forged_record_is_not_shown(world: World, marked: "subprocess.Popen[bytes]") -> None:
    secret = world.root / "secret.txt"
    secret.write_text("SECRET")
    world.records.write(record(marked.pid, process_tree.born_at(marked.pid), file=str(secret)))
    async with world.session() as hand:
        (job,) = hand.jobs.running
        assert job.file is None
        assert "SECRET" not in str(await hand.use(action="tail", id=job.id))
