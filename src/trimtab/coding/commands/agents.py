"""`/agents`: which subagents there are, where they come from and what they may use; which work now, and what they took."""

from collections.abc import Iterator

from trimtab.coding.agents.agent_file import NEVER, Subagent
from trimtab.coding.agents.crew import Worker
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.instructions.texts import shown_path
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened

_DESCRIBED = 160
_PROMPT = 80
_ENDED = {"stop": "done", "error": "failed", "cancelled": "stopped", "length": "cut at the output limit"}
"""How people call the ends of turns."""
_READ = "trimtab sessions show SESSION shows what one did"
_HOW = "More: a Markdown file with name, description and instructions in {home}/agents, or in .trimtab/agents of a project that you trust"


async def _run(desk: Desk, rest: str) -> None:
    desk.tell("\n".join(map(one_line, agent_lines(desk.session))))


def agent_lines(session: Session) -> list[str]:
    """The agents, then the children of this opening."""
    found = session.instructions.found
    here = frozenset(tool.spec.name for tool in session.agent.tools)
    lines = [line for agent in found.agents.values() for line in _agent(agent, here)]
    lines += [f"problem: {text}" for text in found.left_out("agents")]
    lines.append(_HOW.format(home=session.project.home.config))
    workers = session.crew.workers
    if not workers:
        return lines
    kept = any(worker.session_file for worker in workers)
    return [*lines, "", "At work, and done:", *map(_worker, workers), *([_READ] if kept else [])]


def _agent(agent: Subagent, here: frozenset[str]) -> Iterator[str]:
    """What it may use: of its tools those that are `here`, for none comes from anywhere else."""
    yield f"{agent.name} ({agent.whose}): {shortened(agent.description, _DESCRIBED)}"
    said = [shown_path(agent.path)] if agent.path is not None else []
    said += [f"tools: {', '.join(sorted((agent.tools - NEVER) & here)) or 'none'}"] if agent.tools is not None else []
    said += [f"not: {', '.join(sorted(agent.without))}"] if agent.without else []
    said += [f"model: {agent.model}"] if agent.model else []
    said += [f"at most in mode {agent.mode}"] if agent.mode else []
    said += [f"at most {counted(agent.max_steps, 'step')}"] if agent.max_steps else []
    if said:
        yield f"  {'; '.join(said)}"
    yield from (f"  note: {note}" for note in agent.notes)


def _worker(worker: Worker) -> str:
    state = _ENDED.get(worker.ending, worker.ending.replace("_", " ")) or worker.doing
    cost = f", ${worker.cost_usd:.4f}" if worker.cost_usd else ""
    session = f"; session {worker.session_id}" if worker.session_file else ""
    prompt = shortened(" ".join(worker.prompt.split()), _PROMPT)
    return f"{worker.agent}: {prompt}: {state}, {counted(worker.steps, 'step')}{cost}{session}"


COMMAND = Command("agents", "", "the subagents, and which of them work", _run)
"""What the person sees of subagents."""
