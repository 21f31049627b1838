"""The subagents of one session: which there are, which work now, and how one is put to work.

task ──▶ Crew.work ──at most `parallel` at a time──▶ run_subagent ──▶ Report
              └── Worker: what it does, how far it is, what it took so far: `/agents`
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

import anyio

from trimtab.coding.agents.agent_file import BUILT_IN, Subagent
from trimtab.config.settings import AgentSettings
from trimtab.types.errors import UsageError

if TYPE_CHECKING:
    from trimtab.coding.session import Session
    from trimtab.coding.subagent import ChildResult

REMEMBERED = 50
"""Children that are done and still listed."""
Update: TypeAlias = Callable[[str], Awaitable[None]]
"""Shows what a child does."""


@dataclass(slots=True)
class Worker:
    """One child. `doing` is the call that it made last, in words; `ending` is empty while it works."""

    agent: str
    prompt: str
    doing: str = "waits for its turn"
    steps: int = 0
    ending: str = ""
    session_id: str = ""
    session_file: str | None = None
    cost_usd: float | None = 0.0


@dataclass(slots=True)
class Crew:
    """Puts children to work. `attach` says for whom."""

    settings: AgentSettings
    workers: list[Worker] = field(default_factory=list)
    taken: set[Path] = field(default_factory=set)
    """Files of children that were given away."""
    naming: Lock = field(default_factory=Lock)
    """Held while one is chosen."""
    noted: set[str] = field(default_factory=set)
    """What a person was told about the files of agents that were used."""
    _session: "Session | None" = None
    _room: anyio.CapacityLimiter | None = None

    def attach(self, session: "Session") -> None:
        """They work for this session."""
        self._session = session

    @property
    def agents(self) -> Mapping[str, Subagent]:
        """Those that there are now, by name."""
        return self._session.instructions.found.agents if self._session is not None else BUILT_IN

    @property
    def running(self) -> tuple[Worker, ...]:
        """Those that work, or wait for their turn."""
        return tuple(worker for worker in self.workers if not worker.ending)

    def get(self, name: str) -> Subagent:
        """The agent of that name. Raises `UsageError`."""
        if (agent := self.agents.get(name)) is None:
            raise UsageError(f"there is no agent {name!r}", hint=f"Agents: {', '.join(self.agents)}.")
        return agent

    async def work(self, name: str, prompt: str, *, max_steps: int | None = None, update: Update) -> "ChildResult":
        """Let a child work on `prompt`, and return what came of it. Raises `UsageError` for an unknown agent, and as `open_session` does."""
        from trimtab.coding.subagent import run_subagent  # noqa: PLC0415 - it opens sessions, which know crews

        if self._session is None:
            raise UsageError("no agent can work before the session is open")
        agent = self.get(name)
        if self._room is None:
            self._room = anyio.CapacityLimiter(self.settings.parallel)
        worker = Worker(name, prompt)
        self.workers.append(worker)
        past = [one for one in self.workers if one.ending]
        for one in past[: max(len(past) - REMEMBERED, 0)]:
            self.workers.remove(one)
        try:
            async with self._room:
                result = await run_subagent(
                    self._session,
                    prompt,
                    agent=agent,
                    max_result_tokens=self.settings.result_tokens,
                    max_steps=max_steps,
                    worker=worker,
                    update=update,
                )
            worker.ending = result.reason
            return result
        finally:
            worker.ending = worker.ending or "cut off"
