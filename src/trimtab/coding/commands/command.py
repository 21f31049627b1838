"""What a command is, and what it acts on.

    "/compact keep the port" ──registry.parse──▶ ("compact", "keep the port") ──▶ Command.run(desk, "keep the port") ──▶ desk.tell, desk.work, …

A command knows a session and a desk, and no frontend: what it says are lines, what takes long is work that the desk runs beside its own.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from trimtab.coding.choose import Choice
from trimtab.coding.project import Project
from trimtab.coding.session import Session


class Desk(Protocol):
    """Where a person sits: a session, and the means of a frontend. Who can be asked is `session.permissions.person`."""

    session: Session

    def tell(self, text: str) -> None:
        """Say something to the person; lines of ours, with what comes from outside already made harmless."""
        ...

    def answer(self, call_id: str, text: str) -> None:
        """Answer a parked call; the turn goes on meanwhile."""
        ...

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Run a turn, or something else that takes a while, beside the desk. Raises `AgentBusy` when something runs."""
        ...

    async def switch(self, project: Project, choice: Choice) -> None:
        """Go on with another session: it is opened first, then this one is let go. Raises as `open_session` does, and then all is as it was;
        `AgentBusy` while a turn runs.
        """
        ...

    def reload(self, project: Project) -> None:
        """Let this session go and open it again in `project`, or as it was when that fails. Raises `AgentBusy` while a turn runs."""
        ...

    def leave(self) -> None:
        """Take no more lines."""
        ...


@dataclass(frozen=True, slots=True)
class Completion:
    """What may stand behind a command's name, and what that is."""

    value: str
    help: str = ""


Complete: TypeAlias = Callable[[Session, str], Sequence[Completion]]
"""From what is typed behind the name to what may stand there. May touch the disk: call it in a thread."""


def no_completion(session: Session, typed: str) -> Sequence[Completion]:
    """Nothing to choose from."""
    return ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, how it is written after that, what it does, and the doing. `run` raises a `TrimtabError` for what the person should read."""

    name: str
    arguments: str
    help: str
    run: Callable[[Desk, str], Awaitable[None]]
    complete: Complete = no_completion
