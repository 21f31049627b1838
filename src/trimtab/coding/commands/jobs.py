"""`/jobs`: the commands in the background; their last lines, their end, and which goes on without the session."""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.jobs.job import Job
from trimtab.coding.jobs.jobs import Jobs
from trimtab.coding.jobs.tool import LINES
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line, one_path, set_in
from trimtab.coding.telling.tables import shortened, table
from trimtab.types.errors import UsageError

_BY_PERSON = "ended by the person"
_MOST_LINES = 10_000
_COMMAND = 44
"""Signs of a command that a row names."""
_HINT = "/jobs, or /jobs tail ID [LINES], /jobs wait ID, /jobs kill ID|all, /jobs keep ID."


async def _run(desk: Desk, rest: str) -> None:
    jobs = desk.session.jobs
    words = rest.split()
    match words:
        case []:
            desk.tell("\n".join(_listed(jobs)) or "no command runs in the background")
        case ["tail", name]:
            await _tail(desk, jobs.get(name), LINES)
        case ["tail", name, number] if number.isdecimal() and 0 < int(number) <= _MOST_LINES:
            await _tail(desk, jobs.get(name), int(number))
        case ["wait", name]:
            desk.work(partial(_wait, desk, jobs.get(name)), is_turn=False)
        case ["kill", "all"]:
            await _kill(desk, *jobs.running)
        case ["kill", name]:
            await _kill(desk, jobs.get(name))
        case ["keep", name]:
            await jobs.keep(jobs.get(name))
        case _:
            raise UsageError(f"/jobs doesn't know {rest!r}", hint=_HINT)


def _listed(jobs: Jobs) -> list[str]:
    """A line for each, which fits a narrow terminal."""
    if not jobs.all:
        return []
    rows = []
    for job in jobs.all.values():
        who = f"{one_line(job.by)}: " if job.by else ""
        rows.append((job.id, job.state_now(), shortened(one_line(f"{who}{job.command}"), _COMMAND)))
    return [*table(rows, None), "/jobs tail ID shows the last lines of one, and where all of it stands"]


async def _tail(desk: Desk, job: Job, number: int) -> None:
    printed = await anyio.to_thread.run_sync(job.last_lines, number)
    where = f"\nall of it: {one_path(job.file)}" if job.file and not printed.startswith("[all of it: ") else ""
    desk.tell(f"{one_line(job.name)} {job.state_now()}{where}\n{set_in(printed or '(no output)')}".rstrip("\n"))


async def _wait(desk: Desk, job: Job) -> None:
    await job.ended.wait()
    await _tail(desk, job, LINES)


async def _kill(desk: Desk, *jobs: Job) -> None:
    """End them side by side: each may take a moment to obey."""
    left: list[Job] = []

    async def end(job: Job) -> None:
        if not await desk.session.jobs.kill(job, asked=_BY_PERSON):
            left.append(job)

    async with anyio.create_task_group() as group:
        for job in jobs:
            if job.running:
                group.start_soon(end, job)
            else:
                desk.tell(one_line(f"{job.name} {job.state_now()}"))
    if left:
        names = ", ".join(job.name for job in left)
        pids = ", ".join(str(job.group.leader) for job in left)
        raise UsageError(f"some of the processes of {names} can't be stopped", hint=f"Look at pid {pids}.")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    verbs = {
        "tail": "its last lines",
        "wait": "until it ends",
        "kill": "end it, and all that it started",
        "keep": "let it go on when the session ends",
    }
    rows = [
        Completion(f"{verb} {job.id}", f"{told}: {job.name}")
        for verb, told in verbs.items()
        for job in session.jobs.running
    ]
    return [*rows, Completion("kill all", "end all of them")] if rows else []


COMMAND = Command("jobs", "[tail|wait|kill|keep ID]", "the commands that run in the background", _run, _complete)
"""What the person does with jobs."""
