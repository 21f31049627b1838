"""A slash command for a program: what it said, and how the turn ended that it began.

    "/compact keep the port" ──parse──▶ command ──over a desk that gathers──▶ its work, awaited here ──▶ Commanded

The one rule: what opens another session or ends this one is the program's own to do, so such commands are refused.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn

import anyio

from trimtab.agent.run import AgentBusy
from trimtab.coding.choose import Choice
from trimtab.coding.commands.registry import commands_of, parse, run_command
from trimtab.coding.project import Project
from trimtab.coding.sdk.reply import Reply
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError


@dataclass(frozen=True, slots=True)
class Commanded:
    """What came of a command: the `text` that it said, and the `reply` where it began a turn (a template, a skill)."""

    text: str
    reply: Reply | None = None


@dataclass(slots=True)
class GatheringDesk:
    """A `Desk` that keeps what is said, and what is to be done."""

    session: Session
    said: list[str] = field(default_factory=list)
    todo: list[Callable[[], Awaitable[object]]] = field(default_factory=list)

    def tell(self, text: str) -> None:
        """Keep it."""
        self.said.append(text)

    def answer(self, call_id: str, text: str) -> None:
        """Answer a parked call."""
        self.work(partial(self.session.answer, call_id, text))

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Do it once the command is done. Raises `AgentBusy` while a turn runs."""
        if self.session.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done.")
        self.todo.append(turn)

    async def switch(self, project: Project, choice: Choice) -> None:
        """Refused."""
        await anyio.lowlevel.checkpoint()
        _refuse()

    def reload(self, project: Project) -> None:
        """Refused."""
        _refuse()

    def leave(self) -> None:
        """Refused."""
        _refuse()


def _refuse() -> NoReturn:
    raise UsageError(
        "a program opens and closes sessions itself", hint="Leave the block of Session.open, or open another one."
    )


async def commanded(session: Session, line: str) -> Commanded:
    """Run the command that `line` is, and what it begins. Raises `UsageError` for what is none, and what the command raises."""
    found = parse(line.strip(), commands_of(session))
    if found is None:
        raise UsageError(f"{line[:100]!r} is no command", hint="One begins with /; /help lists them.")
    desk = GatheringDesk(session)
    await run_command(desk, *found)
    reply: Reply | None = None
    for turn in desk.todo:
        outcome = await turn()
        reply = outcome if isinstance(outcome, Reply) else reply
    return Commanded("\n".join(desk.said), reply)
