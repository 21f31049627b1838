"""The jobs of a session from its opening to its end: who hears of them, and what the log is told at last."""

from contextlib import suppress

import anyio

from trimtab.agent.events import JobEnded, JobStarted, Notice
from trimtab.agent.run import Agent
from trimtab.coding.jobs.job import Job
from trimtab.coding.jobs.jobs import Jobs, Surroundings
from trimtab.coding.services import Services
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionError, StoreError
from trimtab.types.messages import user
from trimtab.types.text import scrub

_LONGEST = 300
"""Characters of a note to the model."""
_LINES, _CHARS = 20, 2_000
"""Of the end of an output, as an event tells it."""


async def open_jobs(jobs: Jobs, agent: Agent, log: SessionLog, beside: Services) -> tuple[str, ...]:
    """Let jobs be started; return what a person should know of those that run already."""

    async def tell(text: str) -> None:
        await agent.feed.publish(Notice(message=text))

    async def emit(job: Job) -> None:
        await agent.feed.publish(await anyio.to_thread.run_sync(event_of, job))

    def note(text: str) -> None:
        agent.inbox.note(user(f"[notice: {text[:_LONGEST]}]", origin="note"))

    jobs.attach(Surroundings(beside, tell, note, log.header.id, recorded=log.path is not None, emit=emit))
    return await jobs.look_back()


async def close_jobs(jobs: Jobs, agent: Agent) -> None:
    """End those that aren't kept; what the model wasn't told yet stands in the log for whoever opens the session again."""
    await jobs.finish()
    if agent.busy:
        return
    notes = agent.inbox.take_notes()
    if notes:
        with anyio.CancelScope(shield=True), suppress(StoreError, SessionError):
            await agent.transcript.append(notes)


def event_of(job: Job) -> JobStarted | JobEnded:
    """What watchers are told of a job as it is now. Reads the disk."""
    file = scrub(str(job.file)) if job.file else None
    if not job.ending:
        return JobStarted(
            job_id=job.id, command=scrub(job.command), pid=job.group.leader, by=scrub(job.by), output_file=file
        )
    return JobEnded(
        job_id=job.id,
        ending=job.ending,
        failed=job.failed,
        took_s=round(job.took_s, 3),
        text=scrub(job.last_lines(_LINES))[-_CHARS:],
        output_file=file,
    )
