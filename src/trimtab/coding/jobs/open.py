"""The jobs of a session from its opening to its end: who hears of them, and what the log is told at last."""

from contextlib import suppress

import anyio

from trimtab.agent.events import Notice
from trimtab.agent.run import Agent
from trimtab.coding.jobs.jobs import Jobs, Surroundings
from trimtab.coding.services import Services
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionError, StoreError
from trimtab.types.messages import user

_LONGEST = 300
"""Characters of a note to the model."""


async def open_jobs(jobs: Jobs, agent: Agent, log: SessionLog, beside: Services) -> tuple[str, ...]:
    """Let jobs be started; return what a person should know of those that run already."""

    async def tell(text: str) -> None:
        await agent.feed.publish(Notice(message=text))

    def note(text: str) -> None:
        agent.inbox.note(user(f"[notice: {text[:_LONGEST]}]", origin="note"))

    jobs.attach(Surroundings(beside, tell, note, log.header.id, recorded=log.path is not None))
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
