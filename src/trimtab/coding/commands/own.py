"""`!COMMAND` and `!!COMMAND`: a command that the person runs; the model reads the first, and never sees the second."""

from trimtab.coding.commands.command import Desk
from trimtab.coding.commands.revert import require_idle
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.types.errors import UsageError
from trimtab.types.messages import Text

MARK = "!"
"""What such a line begins with."""


def read_own(line: str) -> tuple[str, bool] | None:
    """The command in a line, and whether the model reads it; None for a line that is none. Raises `UsageError` for one that names nothing."""
    if not line.startswith(MARK):
        return None
    shared = not line.startswith(MARK * 2)
    command = line.lstrip(MARK).strip()
    if not command:
        raise UsageError(
            f"no command stands behind {line.strip()}", hint="!COMMAND; to send it as text, put a space before it."
        )
    return command, shared


async def run_line(desk: Desk, command: str, *, shared: bool) -> None:
    """Run it and show what it prints while it does. Raises `AgentBusy` while a turn runs."""
    require_idle(desk.session)
    pending = ""
    shown = 0

    async def update(text: str) -> None:
        nonlocal pending, shown
        lines, newline, pending = (pending + text).rpartition("\n")
        if newline:
            shown += len(lines) + 1
            desk.tell(set_in(lines).rstrip("\n"))

    output = await desk.session.run_command(command, shared=shared, update=update)
    text = "".join(part.text for part in output.parts if isinstance(part, Text))
    if pending:
        desk.tell(set_in(pending).rstrip("\n"))
    elif not shown:
        desk.tell(set_in(text).rstrip("\n"))
    code = (output.details or {}).get("exit_code")
    ended = f"exit {code}" if code is not None else text.rpartition("\n")[2].strip("[]")
    said = [ended] if code != 0 else []
    if file := (output.details or {}).get("output_file"):
        said.append(f"all of it is in {file}")
    said.append("the model reads it with your next words" if shared else "the model doesn't see it")
    desk.tell(one_line(f"({'; '.join(said)})"))
