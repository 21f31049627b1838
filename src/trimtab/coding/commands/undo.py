"""`/undo [N] [files|talk] [force]`: take the last turns back, and say what was, what was left, why, and what helps."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.coding.checkpoints.history import Change
from trimtab.coding.checkpoints.moving import Remedy
from trimtab.coding.checkpoints.undo import Outcome, What
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.errors import UsageError

_PROMPT = 200
_NAMED = 40
"""Files that are named of those that were put back; of those that were left, ten times as many."""
_WHATS: dict[str, What] = {"files": "files", "talk": "talk", "both": "both"}
_HELP: dict[Remedy, str] = {
    "force": "To put back what was changed since: /redo, then /undo force. What stands there now comes back with /redo.",
    "again": "Mend what hinders (permissions, room on the disk, what is in the way), then /redo and /undo once more.",
    "yourself": "The rest only you can put right, by hand, from git or from a backup.",
}
_HELP_AGAIN: dict[Remedy, str] = {
    "force": "What was changed since stays; ask for the change once more if you still want it.",
    "again": "Mend what hinders (permissions, room on the disk, what is in the way), then /undo and /redo once more.",
    "yourself": _HELP["yourself"],
}


@dataclass(frozen=True, slots=True)
class Asked:
    """How many turns, what of them, and whether files too that were changed since."""

    number: int
    what: What
    force: bool


async def _run(desk: Desk, rest: str) -> None:
    asked = read(rest)
    outcome = await desk.session.undo(asked.number, what=asked.what, force=asked.force)
    desk.tell("\n".join(told(outcome)))
    if asked.what != "talk" and (running := desk.session.jobs.running):
        names = ", ".join(job.name for job in running)
        desk.tell(f"still running, and what they change isn't taken back: {names}")
    desk.tell("/redo does it again")


def read(rest: str) -> Asked:
    """What is asked for. Raises `UsageError`."""
    number, what, force = 1, _WHATS["both"], False
    for word in rest.split():
        if word.isdecimal() and int(word) > 0:
            number = int(word)
        elif word in _WHATS:
            what = _WHATS[word]
        elif word == "force":
            force = True
        else:
            raise UsageError(
                f"/undo doesn't know {word!r}",
                hint="/undo [N] [files|talk] [force]: by default the last turn, all of it.",
            )
    return Asked(number, what, force)


def told(outcome: Outcome, *, again: bool = False) -> list[str]:
    """What was done, in lines; `again`: it was a redo."""
    did, left = "did again" if again else "took back", outcome.left
    part = " in part" if left else ""
    prompts = [shortened(" ".join(text.split()), _PROMPT) for text in outcome.turns if outcome.talk]
    lines = [f"{did}{part}: {prompt}" for prompt in prompts]
    if not outcome.talk:
        lines = [f"{did}{part} what {counted(len(outcome.turns), 'turn')} changed in files"]
    lines += _some([f"  {change.path}: {_how(change, again=again)}" for change in outcome.put_back], _NAMED)
    if outcome.aside is not None:
        lines += [
            f"What was moved away comes back with {'/undo' if again else '/redo'}; until then it takes room in {outcome.aside}."
        ]
    if left:
        lines += [f"left as {'it is' if len(left) == 1 else 'they are'}, {counted(len(left), 'file')}:"]
        lines += _some([f"  {one.path}: {one.why}" for one in left], 10 * _NAMED)
        helps = _HELP_AGAIN if again else _HELP
        lines += [words for remedy, words in helps.items() if any(one.remedy == remedy for one in left)]
    elif not outcome.put_back and not outcome.talk:
        lines += ["no file had to change"]
    return [one_line(line) for line in lines]


def _some(lines: list[str], most: int) -> list[str]:
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"  … and {more:,} more"]


def _how(change: Change, *, again: bool) -> str:
    if change.after is None:
        kept = change.before is not None and change.before.loose
        return "moved away, since it is too large to be copied" if kept else "removed"
    if change.before is None:
        return "made again"
    return "changed again" if again else "as it was"


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (
        Completion("files", "only what was changed in files"),
        Completion("talk", "only what was said"),
        Completion("force", "files too that were changed since"),
    )


COMMAND = Command(
    "undo", "[N] [files|talk] [force]", "take the last turn back, or N: what was said and changed", _run, _complete
)
