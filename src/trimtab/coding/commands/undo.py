"""`/undo [N] [files|talk]`: take the last turns back."""

from collections.abc import Sequence

from trimtab.coding.checkpoints.undo import Outcome, What
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.errors import UsageError

_PROMPT = 200
_WHATS: dict[str, What] = {"files": "files", "talk": "talk", "both": "both"}


async def _run(desk: Desk, rest: str) -> None:
    number, what = read(rest)
    outcome = await desk.session.undo(number, what=what)
    desk.tell("\n".join(told(outcome, "took back")))
    if what != "talk" and (running := desk.session.jobs.running):
        names = ", ".join(job.name for job in running)
        desk.tell(f"still running, and what they change isn't taken back: {names}")
    desk.tell("/redo does it again")


def read(rest: str) -> tuple[int, What]:
    """How many turns, and what of them. Raises `UsageError`."""
    number, what = 1, _WHATS["both"]
    for word in rest.split():
        if word.isdecimal() and int(word) > 0:
            number = int(word)
        elif word in _WHATS:
            what = _WHATS[word]
        else:
            raise UsageError(
                f"/undo doesn't know {word!r}", hint="/undo [N] [files|talk]: by default the last turn, all of it."
            )
    return number, what


def told(outcome: Outcome, did: str) -> list[str]:
    """What was done, in lines."""
    lines = [one_line(f"{did}: {shortened(' '.join(text.split()), _PROMPT)}") for text in outcome.turns if outcome.talk]
    for change in outcome.put_back:
        how = "removed" if change.after is None else "made again" if change.before is None else "as it was"
        lines.append(one_line(f"  {change.path}: {how}"))
    lines += [one_line(f"  {left.path}: left as it is: {left.why}") for left in outcome.left]
    return lines or [f"{did} {counted(len(outcome.turns), 'turn')}; no file had to change"]


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (Completion("files", "only what was changed in files"), Completion("talk", "only what was said"))


COMMAND = Command(
    "undo", "[N] [files|talk]", "take the last turn back, or N: what was said and changed", _run, _complete
)
