"""A slash command as a whole run: `trimtab --continue -p /compact`.

    "/compact keep the port" ──needs no person?──▶ its work, done at once ──▶ what it says: standard output, or notices in JSON mode
                              └─otherwise──▶ why not, and what does it from a shell

The one rule: a line that looks like a command and is none goes to no model.
"""

import os
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Never

from trimtab.agent.loop import Turn
from trimtab.coding.choose import Choice
from trimtab.coding.commands.extensions import extension_commands
from trimtab.coding.commands.registry import AS_TEXT, commands_of, meant_by, parse, run_command
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError

ALONE = frozenset(
    [
        "agents",
        "compact",
        "context",
        "cost",
        "diff",
        "export",
        "init",
        "label",
        "memo",
        "memory",
        "name",
        "pin",
        "prompts",
        "redo",
        "revert",
        "skills",
        "stats",
        "system",
        "tools",
        "undo",
        "unpin",
        "verify",
    ]
)
"""Commands that need nobody."""
_INSTEAD: Mapping[str, str] = {
    "answer": "trimtab answer SESSION CALL_ID TEXT does that.",
    "fork": "--fork ID goes on with a copy.",
    "import": "trimtab sessions import does that.",
    "jobs": "trimtab jobs does that.",
    "login": "trimtab login does that.",
    "logout": "trimtab logout does that.",
    "mcp": "trimtab mcp does that.",
    "model": "--model PROVIDER/MODEL chooses one.",
    "models": "trimtab models lists them.",
    "permissions": "trimtab permissions does that.",
    "resume": "--resume ID goes on with a session.",
    "settings": "trimtab config does that.",
    "theme": "trimtab config set theme NAME does that.",
    "thinking": "--model PROVIDER/MODEL:LEVEL sets it.",
    "trust": "trimtab trust does that.",
}
_WORD = re.compile(r"/([a-z][\w-]*)(?:\s.*)?", re.DOTALL | re.ASCII)


def refuse_own(words: str) -> None:
    """Raise `UsageError` for `!COMMAND`, which a person runs in a talk."""
    if re.match(r"!{1,2}\s*\S", words):
        raise UsageError(
            "!COMMAND is for a talk; a run takes a prompt",
            hint=f"Pipe in what it prints: COMMAND | trimtab -p TEXT. {AS_TEXT}",
        )


def command_in(line: str, session: Session) -> tuple[str, str] | None:
    """The command that `line` is, and what follows its name; None for text. Raises `UsageError` for one that is no run, and for what is the name of none."""
    commands = commands_of(session)
    name, rest = parse(line, commands) or ("", "")
    if not name and (word := _WORD.fullmatch(line)):
        name = word[1]
    if name in ALONE or any(command.name == name for command in extension_commands(session).values()):
        return name, rest
    if name in commands:
        raise UsageError(
            f"/{name} is a command of a talk, not of one turn",
            hint=f"{_INSTEAD.get(name, 'trimtab chat starts one.')} {AS_TEXT}",
        )
    if not name or os.path.lexists(f"/{name}"):
        return None
    meant = meant_by(name, commands)
    guess = f"Did you mean /{meant}?" if meant else "/help in trimtab chat lists them."
    raise UsageError(f"no command /{name}", hint=f"{guess} {AS_TEXT}")


async def run_alone(session: Session, name: str, rest: str, said: list[str]) -> Turn:
    """Run it; what it says goes to `said`. Returns the turn that it began, or one without an answer. Raises as the command does."""
    desk = _Alone(session, said)
    ended: object = None
    try:
        await run_command(desk, name, rest)
        while desk.waiting:
            ended = await desk.waiting.pop(0)()
    except OSError as e:
        raise UsageError(f"{e.filename}: {e.strerror}", hint="Name another file.") from e
    if isinstance(ended, Turn):
        return ended
    spent = session.spent
    turn = Turn("stop", None, spent.usage, 0, cost_usd=spent.usd)
    failed = name == "verify" and session.result(turn).verify == "failed"
    return Turn("verify_failed", None, spent.usage, 0, cost_usd=spent.usd) if failed else turn


class _Alone:
    """A desk at which nobody sits: work waits in a list, and nothing that needs a talk is there."""

    def __init__(self, session: Session, said: list[str]) -> None:
        self.session = session
        self.waiting: list[Callable[[], Awaitable[object]]] = []
        self._said = said

    def tell(self, text: str) -> None:
        """Keep it."""
        self._said.append(text)

    def work(self, turn: Callable[[], Awaitable[object]], *, is_turn: bool = True) -> None:
        """Do it after the command."""
        self.waiting.append(turn)

    def answer(self, call_id: str, text: str) -> None:
        """There is no talk."""
        _refuse()

    async def switch(self, project: Project, choice: Choice) -> None:
        """There is no talk."""
        _refuse()

    def reload(self, project: Project) -> None:
        """There is no talk."""
        _refuse()

    def leave(self) -> None:
        """There is no talk to leave."""


def _refuse() -> Never:
    raise UsageError("that needs a talk", hint="trimtab chat starts one.")
