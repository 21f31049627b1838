"""The commands in the background, for a client: what there is, what one printed, its end; and a record when one starts or ends.

trimtab.jobs ──▶ rows │ last lines │ ended, with all that it started          a job starts, ends ──heard──▶ trimtab.job
"""

import anyio

from trimtab.coding.jobs.job import Job
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Answer, Call
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.values import Json
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub

_MOST_LINES = 10_000
_BY_CLIENT = "ended by the person"


async def jobs(host: Host, request: verbs.Jobs, call: Call) -> Answer:
    """List them, show what one printed, or end one."""
    every = host.session.jobs
    match request.action:
        case "list":
            return {"jobs": [_row(job) for job in every.all.values()]}
        case "tail":
            if not 0 < request.lines <= _MOST_LINES:
                raise UsageError(f"lines is {request.lines}", hint=f"From 1 to {_MOST_LINES:,}.")
            job = every.get(request.job_id or "")
            text = await anyio.to_thread.run_sync(job.last_lines, request.lines)
            return {"job": _row(job), "text": scrub(text)}
        case "kill":
            chosen = every.running if request.job_id == "all" else (every.get(request.job_id or ""),)
            await _end(host.session, chosen)
            return {"jobs": [_row(job) for job in chosen]}


async def _end(session: Session, chosen: tuple[Job, ...]) -> None:
    """End them side by side. Raises `UsageError` for what can't be ended."""
    left: list[str] = []

    async def end(job: Job) -> None:
        if not await session.jobs.kill(job, asked=_BY_CLIENT):
            left.append(f"{job.id} (pid {job.group.leader})")

    async with anyio.create_task_group() as group:
        for job in chosen:
            group.start_soon(end, job)
    if left:
        raise UsageError(f"some of the processes of {', '.join(left)} can't be stopped", hint="Look at them by hand.")


def told(session: Session, job: Job) -> Json:
    """The record that a job started or ended."""
    event = "started" if job.running else "ended"
    return {"type": "trimtab.job", "event": event, "sessionId": session.id, "job": _row(job)}


def _row(job: Job) -> Json:
    return {
        "id": job.id,
        "command": scrub(job.command),
        "pid": job.group.leader,
        "running": job.running,
        "startedAt": round(job.began * 1000),
        "kept": job.kept,
        **({"by": one_line(job.by)} if job.by else {}),
        **({"outputPath": scrub(str(job.file))} if job.file else {}),
        **({} if job.running else {"ending": job.ending, "failed": job.failed, "tookMs": round(job.took_s * 1000)}),
    }
