"""What a line that begins with `/` does in a talk: a table of commands, from which `/help` is made.

`/etc/passwd is a file` is no command but text: a command's name is one word of letters.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from trimtab.coding.session import Session
from trimtab.frontends.cli import chat_context
from trimtab.frontends.cli.slips import nearest
from trimtab.types.errors import UsageError

_COMMAND = re.compile(r"/([a-z]*)(?:\s+(.*))?", re.S)


class Talk(Protocol):
    """What commands act on."""

    session: Session

    def tell(self, text: str) -> None:
        """Say something to the person."""
        ...

    def answer(self, call_id: str, text: str) -> None:
        """Answer a parked call; the turn goes on meanwhile."""
        ...

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Run a turn, or something else that takes a while, beside the loop. Raises `AgentBusy` when something runs."""
        ...

    def leave(self) -> None:
        """Take no more lines."""
        ...


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """A command: how it is written after its name, what it does, and the doing."""

    arguments: str
    help: str
    run: Callable[[Talk, str], Awaitable[None]]


def parse(line: str) -> tuple[str, str] | None:
    """`line` as a command's name and what follows it; None when it is text."""
    found = _COMMAND.fullmatch(line)
    return (found[1], (found[2] or "").strip()) if found else None


async def run_command(talk: Talk, name: str, rest: str) -> None:
    """Run the command of that name. Raises `UsageError` when there is none."""
    command = COMMANDS.get(name)
    if command is None:
        meant = nearest(name, COMMANDS)
        guess = f"Did you mean /{meant}? " if meant else ""
        raise UsageError(
            f"no command /{name}", hint=f"{guess}/help lists them. To send it as text, put a space before it."
        )
    await command.run(talk, rest)


def help_text() -> str:
    """The list of commands, and what else one can type."""
    heads = {f"/{name} {command.arguments}".strip(): command.help for name, command in COMMANDS.items()}
    width = max(map(len, heads))
    return "\n".join(
        [
            *(f"{head:{width}}   {text}" for head, text in heads.items()),
            "@FILE in a line attaches that file. Anything typed while the agent works steers it. Ctrl-C stops it.",
        ]
    )


async def _help(talk: Talk, rest: str) -> None:
    talk.tell(help_text())


async def _model(talk: Talk, rest: str) -> None:
    if rest:
        await talk.session.set_model(rest)
    when = ", from the next turn on" if rest and talk.session.busy else ""
    talk.tell(f"model: {talk.session.model.ref}{when}")


async def _answer(talk: Talk, rest: str) -> None:
    call_id, _, text = rest.partition(" ")
    waiting = talk.session.agent.parked
    if call_id not in waiting:
        raise UsageError(f"no call {call_id!r} waits for an answer", hint=f"Waiting: {', '.join(waiting) or 'none'}.")
    talk.answer(call_id, text.strip())


async def _context(talk: Talk, rest: str) -> None:
    await chat_context.show_context(talk)


async def _compact(talk: Talk, rest: str) -> None:
    talk.work(partial(chat_context.compact, talk, rest), is_turn=False)


async def _revert(talk: Talk, rest: str) -> None:
    await chat_context.revert(talk, rest)


async def _quit(talk: Talk, rest: str) -> None:
    talk.leave()


COMMANDS: Mapping[str, ChatCommand] = {
    "model": ChatCommand("[P/M]", "say which model answers, or switch to another one", _model),
    "context": ChatCommand("", "how full the window is, and what takes the most", _context),
    "compact": ChatCommand(
        "[WISHES]", "replace all but the end by a summary; WISHES go to whoever writes it", _compact
    ),
    "revert": ChatCommand("[EDIT]", "take an edit of the context back, by default the last one (last)", _revert),
    "answer": ChatCommand("ID TEXT", "answer a call that waits for you", _answer),
    "help": ChatCommand("", "this list", _help),
    "quit": ChatCommand("", "leave (Ctrl-D does too)", _quit),
}
