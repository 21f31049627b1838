"""Jobs of a session that is played: services of its own, and a list of what was said."""

import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from support.cli import Cli
from trimtab.agent.ports import ToolOutput, ToolRun
from trimtab.coding.jobs.background import BackgroundJobs
from trimtab.coding.jobs.jobs import Jobs, Surroundings
from trimtab.coding.jobs.records import Record, Records, boot_id
from trimtab.coding.jobs.tool import jobs_tool
from trimtab.coding.services import services
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.tools.environment import command_environment
from trimtab.coding.tools.process_tree import new_marker
from trimtab.types.messages import Text

MINE = new_marker()
"""The mark of a process that `sleeper` starts, where it is said; other tests that run at the same time have others."""


@dataclass
class World:
    """A folder to work in, and what was said there."""

    root: Path
    told: list[str] = field(default_factory=list)
    noted: list[str] = field(default_factory=list)
    pids: set[int] = field(default_factory=set)

    @property
    def work(self) -> Path:
        return self.root / "work"

    @property
    def records(self) -> Records:
        return Records(self.root / "records")

    @asynccontextmanager
    async def session(self, *, most: int = 8) -> AsyncIterator["Hand"]:
        """A session that is open for as long as this holds."""
        jobs = Jobs(PrivateFolder(self.root / "outputs"), self.records, time.time, most=most)
        async with services() as beside:
            jobs.attach(Surroundings(beside, self.tell, self.noted.append, "s1"))
            self.told += await jobs.look_back()
            try:
                yield Hand(self, jobs)
            finally:
                await jobs.finish()

    async def tell(self, text: str) -> None:
        self.told.append(text)

    def content(self, name: str) -> str:
        return (self.work / name).read_text()


@dataclass
class Hand:
    """What the model of that session does."""

    world: World
    jobs: Jobs

    async def bash(self, command: str, **more: object) -> ToolOutput:
        tool = BashTool(
            self.world.work,
            command_environment(os.environ),
            PrivateFolder(self.world.root / "outputs"),
            background=BackgroundJobs(self.jobs),
        )
        output = await tool.run({"command": command, **more}, ToolRun("call", _ignore))
        self.world.pids |= {job.group.leader for job in self.jobs.all.values()}
        return output

    async def start(self, command: str, **more: object) -> ToolOutput:
        return await self.bash(command, background=True, **more)

    async def use(self, **arguments: object) -> ToolOutput:
        return await jobs_tool(self.jobs).run(arguments, ToolRun("call", _ignore))

    async def written(self, name: str) -> str:
        """What the file `name` holds, once it holds a whole line."""
        path = self.world.work / name
        await until(lambda: path.exists() and path.read_text().endswith("\n"))
        return await anyio.Path(path).read_text()


async def until(true: Callable[[], bool]) -> None:
    """Wait for what another process does, which tells nobody."""
    with anyio.fail_after(20):
        while not true():  # noqa: ASYNC110
            await anyio.sleep(0.02)


async def _ignore(_text: str) -> None: ...


def said(output: ToolOutput) -> str:
    (part,) = output.parts
    assert isinstance(part, Text)
    return part.text


def alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def sleeper(**variables: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["sleep", "81"], start_new_session=True, env={**os.environ, **variables})


def record(pid: int, born: int | None, marker: str = MINE, **more: object) -> Record:
    facts = {
        "id": "j1",
        "command": "server",
        "session": "s0",
        "began": 0.0,
        "boot": boot_id(),
        "owner": 2**22 + 5,
        "owner_born": 1,
        "kept": True,
    }
    return Record(pid=pid, born=born, marker=marker, **{**facts, **more})  # type: ignore[arg-type]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """What still runs at the end of a test is killed, by the sessions that it started."""
    made = World(tmp_path)
    made.work.mkdir()
    yield made
    for pid in made.pids:
        with suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)
