"""The tool `jobs`: what the model does with commands in the background, beside starting them with `bash`."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

import anyio

from trimtab.agent.ports import SimpleTool, ToolOutput, ToolRun
from trimtab.coding.jobs.job import Job
from trimtab.coding.jobs.jobs import BY_MODEL, Jobs
from trimtab.coding.jobs.waiting import Waited, wait_for_text
from trimtab.coding.tools.arguments import number_argument, text_argument
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.types.errors import UsageError
from trimtab.types.tools import ToolSpec

LINES = 50
_MOST_LINES = 1_000
_WAIT_S = 60
_LONGEST_WAIT_S = 3_600
_SEARCHED = 400
"""Characters of a text that is waited for."""
_WAITED: Mapping[Waited, str] = {
    "printed": "; the text was printed",
    "ended": "; the text was never printed",
    "nothing": "; the text wasn't printed within {seconds:g} s",
}
_Act: TypeAlias = Callable[[Jobs, Job, Mapping[str, Any]], Awaitable[str]]

SPEC = ToolSpec(
    "jobs",
    "Background commands: list, tail (last lines), wait (for the end, or until text is printed), kill, keep (let it outlive the session).",
    {
        "type": "object",
        "properties": {
            "action": {"enum": ["list", "tail", "wait", "kill", "keep"]},
            "id": {"type": "string"},
            "lines": {"type": "integer"},
            "until": {"type": "string", "description": "text to wait for"},
            "timeout": {"type": "number", "description": "seconds to wait, default 60"},
        },
        "required": ["action"],
    },
)


def jobs_tool(jobs: Jobs) -> SimpleTool:
    """Return the tool over `jobs`."""

    @answering
    async def handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        try:
            text, about = await _answer(jobs, arguments)
        except UsageError as error:
            raise ToolFailure(f"{error.message}. {error.hint}".strip()) from None
        return ToolOutput.text(text, details={"jobs": [_facts(job) for job in about]})

    return SimpleTool(SPEC, handle, snippet="look at, wait for and end background commands")


async def _answer(jobs: Jobs, arguments: Mapping[str, Any]) -> tuple[str, Sequence[Job]]:
    action = text_argument(arguments, "action")
    if action == "list":
        return "\n".join(job_lines(jobs)) or "no jobs", tuple(jobs.all.values())
    act = _ACTS.get(action)
    if act is None:
        raise ToolFailure(f"action must be one of list, {', '.join(_ACTS)}")
    job = jobs.get(text_argument(arguments, "id", ""))
    return await act(jobs, job, arguments), (job,)


async def _tail(jobs: Jobs, job: Job, arguments: Mapping[str, Any]) -> str:
    number = min(number_argument(arguments, "lines", LINES, least=1), _MOST_LINES)
    return await _told(job, number)


async def _wait(jobs: Jobs, job: Job, arguments: Mapping[str, Any]) -> str:
    until = text_argument(arguments, "until", "")[:_SEARCHED]
    seconds = min(number_argument(arguments, "timeout", _WAIT_S, least=0), _LONGEST_WAIT_S)
    number = min(number_argument(arguments, "lines", LINES, least=1), _MOST_LINES)
    came: Waited = "nothing"
    with anyio.move_on_after(seconds):
        if until:
            came = await wait_for_text(job, until)
        else:
            await job.ended.wait()
    return await _told(job, number, _WAITED[came].format(seconds=seconds) if until else "")


async def _kill(jobs: Jobs, job: Job, arguments: Mapping[str, Any]) -> str:
    if not job.running:
        return await _told(job, LINES)
    if not await jobs.kill(job, asked=BY_MODEL):
        raise ToolFailure(f"job {job.id}: some of its processes can't be stopped")
    return await _told(job, LINES)


async def _keep(jobs: Jobs, job: Job, arguments: Mapping[str, Any]) -> str:
    await jobs.keep(job)
    return f"job {job.id} goes on when this session ends (pid {job.group.leader})"


_ACTS: Mapping[str, _Act] = {"tail": _tail, "wait": _wait, "kill": _kill, "keep": _keep}


async def _told(job: Job, number: int, waited: str = "") -> str:
    printed = await anyio.to_thread.run_sync(job.last_lines, number)
    return "\n".join([f"job {job.id} {job.state_now()}{waited}", printed or "(no output)"])


def job_lines(jobs: Jobs) -> list[str]:
    """All jobs, a line each."""
    return [
        f"{job.name} {job.state_now()}" + (f"; output: {job.file}" if job.file else "") for job in jobs.all.values()
    ]


def _facts(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "command": job.command,
        "pid": job.group.leader,
        "running": job.running,
        "kept": job.kept,
        "ending": job.ending or None,
        "output_file": str(job.file) if job.file else None,
    }
