"""A session inside a session: a child works on its own, and only its answer comes back.

    run_subagent(parent, prompt, agent) ──▶ child: own log, engine, policy, context tools ──▶ answer ──capped──▶ ChildResult
                                                                        └ whole: a memo or a file of the parent, and the child's session

The one rule: of what a child read and did nothing reaches the parent but its last words, as many as the parent can afford.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import anyio

from trimtab.agent.events import Notice, StepEnded, StepStarted, ToolStarted, TurnReason
from trimtab.agent.feed import Watcher
from trimtab.agent.limits import Allowance, Limits
from trimtab.agent.ports import Provider
from trimtab.coding.agents.agent_file import BUILT_IN, Subagent
from trimtab.coding.agents.crew import Worker
from trimtab.coding.choose import AtFile, Choice, Ephemeral
from trimtab.coding.mcp.narrowed import names_in
from trimtab.coding.opening import open_session
from trimtab.coding.permissions.asking import visible
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.under import Purse, lent
from trimtab.context.shorten.cap import cap_text
from trimtab.context.stores.folder import child_path
from trimtab.types.usage import Usage

KEY = "subagent-"
"""What the name of a child's whole answer begins with; the child's session id follows."""
RESULT_TOKENS = 2_000
"""How many tokens of a child's answer its parent gets when nobody says how many."""
_TITLE = 60
_SHOWN = 120


async def _nobody_watches(_text: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class ChildResult:
    """What came of it. `text` is what the parent may be shown; `cut`: it is less than the child said.

    `session_id` and `session_file` name the child's session, where the whole stands; the file is None when the parent keeps none either.
    """

    text: str
    reason: TurnReason
    cut: bool
    session_id: str
    session_file: str | None
    usage: Usage
    cost_usd: float | None
    steps: int = 0
    changed_files: tuple[str, ...] = ()
    error: str = ""


async def run_subagent(
    parent: Session,
    prompt: str,
    *,
    agent: Subagent = BUILT_IN["general"],
    max_result_tokens: int = RESULT_TOKENS,
    max_steps: int | None = None,
    provider: Provider | None = None,
    worker: Worker | None = None,
    update: Callable[[str], Awaitable[None]] = _nobody_watches,
) -> ChildResult:
    """Let a child session that is `agent` work on `prompt`, under the parent's rules and out of its limits, and return what it said.

    Its session file lies beside the parent's. `provider` answers instead of the model's own; `update` shows what it does, `worker` keeps count. Raises as
    `open_session` does.
    """
    worker = worker or Worker(agent.name, prompt)
    title = shortened(visible(" ".join(prompt.split())), _TITLE)
    under = replace(lent(parent, agent), task=title)
    choice = await anyio.to_thread.run_sync(_beside, parent)
    async with open_session(
        parent.project, choice, provider=provider, extra_tools=under.tools, person=under.person, under=under
    ) as child:
        settings = parent.project.settings.agents
        child.agent.allowance = Allowance(
            Limits(time_s=settings.timeout_s), above=Purse(parent, lambda: child.model.ref)
        )
        steps = (max_steps, agent.max_steps, settings.max_steps, parent.agent.max_steps)
        child.agent.max_steps = min(step for step in steps if step is not None)
        if child.model.ref == parent.model.ref:
            child.agent.thinking = parent.agent.thinking
        await _tell_notes(parent, agent)
        worker.session_id = child.log.header.id
        worker.session_file = str(child.log.path) if child.log.path else None
        await anyio.to_thread.run_sync(child.log.set_title, f"agent {agent.name}: {title}")
        async with anyio.create_task_group() as watching:
            watching.start_soon(_follow, child.feed.subscribe(), parent, worker, update)
            turn = await child.prompt(prompt)
            child.feed.close()  # what waits is still read
        result = child.result(turn)
    worker.steps, worker.cost_usd = turn.steps, turn.cost_usd
    text, cut = cap_text(turn.text, max_result_tokens, parent.context.engine.tally.text, where=result.session_file)
    if cut is not None:
        way = await anyio.to_thread.run_sync(_keep, parent, f"{KEY}{result.session_id}", turn.text)
        text += f"\n[cut; all of it: {way}]" if way else "\n[cut]"
    return ChildResult(
        text,
        turn.reason,
        cut is not None,
        result.session_id,
        result.session_file,
        turn.usage,
        turn.cost_usd,
        turn.steps,
        result.changed_files,
        turn.error.message if turn.error else "",
    )


async def _tell_notes(parent: Session, agent: Subagent) -> None:
    """Say, once, what in the file of an agent that is used means nothing here."""
    lost = agent.unmet({name for tool in parent.agent.tools for name in names_in(tool)})
    notes = [*agent.notes, *(f"agent {agent.name}: no tool here fits {one_line(name)!r}" for name in lost)]
    for note in notes:
        if note not in parent.crew.noted:
            parent.crew.noted.add(note)
            await parent.tell(note)


async def _follow(watcher: Watcher, parent: Session, worker: Worker, update: Callable[[str], Awaitable[None]]) -> None:
    """Show what the child does; what a person should know goes to its parent's."""
    async for event in watcher:
        match event:
            case StepStarted(step=step):
                worker.steps, worker.doing = step, "thinks"
            case ToolStarted(name=name, arguments=arguments):
                said = next((str(arguments[key]) for key in _TELLING if key in arguments), "") if arguments else ""
                worker.doing = one_line(shortened(f"{name} {said}".rstrip(), _SHOWN))
                await update(f"{worker.agent}: {worker.doing}\n")
            case StepEnded():
                worker.doing = "thinks"
            case Notice(message=message):
                await parent.tell(f"agent {worker.agent}: {message}")
            case _:
                pass


_TELLING = ("command", "path", "pattern", "prompt", "action")
"""The arguments by which a person knows a call."""


def _beside(parent: Session) -> Choice:
    """A new file beside the parent's, or none when that has none."""
    if parent.log.path is None:
        return Ephemeral()
    with parent.crew.naming:
        path = child_path(parent.log.path, parent.crew.taken)
        parent.crew.taken.add(path)
    return AtFile(path)


def _keep(parent: Session, key: str, text: str) -> str:
    return parent.context.keep(key, text, summary="the whole answer of a subagent")
