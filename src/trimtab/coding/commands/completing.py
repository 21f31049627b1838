"""What may stand where a person is typing: names of commands, what comes behind them, files behind an `@`.

"/mo" ──▶ /model, /models      "/model op" ──▶ /model openai/…      "see @RE" ──▶ see @README.md
"""

from collections.abc import Sequence

from trimtab.coding.commands.command import Completion
from trimtab.coding.commands.files import complete_files
from trimtab.coding.commands.registry import commands_of, parse
from trimtab.coding.session import Session

MOST = 200
"""How many are offered."""


def completions(session: Session, line: str) -> Sequence[Completion]:
    """Whole lines that begin as `line` does, with what each is. Touches the disk: call it in a thread."""
    commands = commands_of(session)
    name, blank, typed = line[1:].partition(" ")
    if line.startswith("/") and not blank:
        return [Completion(f"/{one.name}", one.help) for one in commands.values() if one.name.startswith(name)][:MOST]
    if (found := complete_files(session, line)) or parse(line, commands) is None or name not in commands:
        return found
    typed = typed.lstrip()
    offered = commands[name].complete(session, typed)
    return [Completion(f"/{name} {one.value}", one.help) for one in offered if one.value.startswith(typed)][:MOST]
