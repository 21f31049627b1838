"""What `bash` does with a command that isn't waited for, with one that takes a while, and with what another one left running."""

from dataclasses import dataclass
from pathlib import Path

import anyio

from trimtab.agent.ports import ToolOutput
from trimtab.coding.jobs.job import Job
from trimtab.coding.jobs.jobs import Jobs
from trimtab.coding.sandbox.sandbox import Started
from trimtab.coding.tools.process import Finished, Group
from trimtab.types.errors import UsageError

_AT_ONCE_S = 0.5
"""How long a command gets to fail at once, in seconds: most that can't start say so by then."""
_GOES_ON_S = 0.15
"""How long one that has printed something gets to end, in seconds: what fails says why and exits."""
_LINES = 20


@dataclass(frozen=True, slots=True)
class BackgroundJobs:
    """The jobs of a session, for the commands of `by` (empty: its own model)."""

    jobs: Jobs
    by: str = ""

    async def start(self, started: Started, *, command: str, cwd: Path, limit_s: float | None) -> ToolOutput:
        """Start a command and say how it is to be found; how it ended, where it did so at once. Raises `OSError` and `ValueError` when it can't be started."""
        try:
            job = await self.jobs.start(started, command=command, cwd=cwd, limit_s=limit_s, by=self.by)
        except UsageError as refusal:
            return ToolOutput.text(f"Not run: {refusal.message}. {refusal.hint}".strip(), is_error=True)
        with anyio.move_on_after(_AT_ONCE_S):
            await _shown(job)
        printed = await anyio.to_thread.run_sync(job.last_lines, _LINES)
        details = {"job": job.id, "pid": job.group.leader, "output_file": str(job.file) if job.file else None}
        if not job.running:
            lines = [printed or "(no output)", f"[job {job.id} is over: {job.ending}]"]
            return ToolOutput.text("\n".join(lines), is_error=job.failed, details=details)
        why = job.capture.failure if job.capture else ""
        where = (
            f"; it prints to {job.file}" if job.file else f"; its output can't be kept in a file: {why}" if why else ""
        )
        lines = [
            f"job {job.id} runs in the background (pid {job.group.leader}){where}",
            "You are told when it ends; the session's end ends it.",
        ]
        return ToolOutput.text("\n".join([*lines, *([printed] if printed else [])]), details=details)

    async def mind(self, group: Group, *, command: str) -> None:
        """Record a command that is waited for, while it runs."""
        await self.jobs.mind(group, command=command, by=self.by)

    async def adopt(self, finished: Finished, *, command: str) -> str:
        """Take what a command left running for a job; say so in words, or nothing."""
        job = await self.jobs.adopt(finished, command=command, by=self.by)
        return f"; that is job {job.id}, which ends with the session" if job else ""


async def _shown(job: Job) -> None:
    """Wait until it ended, or printed something and goes on."""
    news = job.news
    if job.running and not job.printed_once:
        await news.wait()
    with anyio.move_on_after(_GOES_ON_S):
        await job.ended.wait()
