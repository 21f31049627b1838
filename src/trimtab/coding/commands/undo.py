"""`/undo [N] [files|talk] [force] [?]`: take the last turns back, and say what was, what was left, why, and what helps; `?` says it before anything is touched."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from trimtab.coding.checkpoints.history import Change
from trimtab.coding.checkpoints.left import Remedy
from trimtab.coding.checkpoints.patch import shown_from
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
_PREVIEW = ("?", "preview")
_Tense: TypeAlias = Literal["before", "done", "again"]
_HELP: dict[Remedy, str] = {
    "force": "To put back what was changed since, too: /undo force. What stands there now comes back with /redo.",
    "again": "Mend what hinders (permissions, room on the disk, what is in the way), then /redo and /undo once more.",
    "yourself": "The rest only you can put right, by hand, from git or from a backup.",
}
_HELP_BEFORE: dict[Remedy, str] = {
    "force": _HELP["force"],
    "again": "Mend what hinders first (permissions, room on the disk, what is in the way).",
    "yourself": _HELP["yourself"],
}
_HELP_AGAIN: dict[Remedy, str] = {
    "force": "What was changed since stays; ask for the change once more if you still want it.",
    "again": "Mend what hinders (permissions, room on the disk, what is in the way), then /undo and /redo once more.",
    "yourself": _HELP["yourself"],
}


@dataclass(frozen=True, slots=True)
class Asked:
    """How many turns (None: not said), what of them, whether files too that were changed since, and whether only to say what would be."""

    number: int | None
    what: What
    force: bool
    preview: bool = False


async def _run(desk: Desk, rest: str) -> None:
    asked = read(rest)
    session = desk.session
    outcome = await session.undo(asked.number, what=asked.what, force=asked.force, preview=asked.preview)
    desk.tell("\n".join(told(outcome, session.project.cwd, tense="before" if asked.preview else "done")))
    if asked.what != "talk" and (running := session.jobs.running):
        names = ", ".join(job.name for job in running)
        desk.tell(f"still running, and what they change isn't taken back: {names}")
    if asked.preview:
        desk.tell(
            "nothing was touched; without the ? it is done"
            + ("" if asked.what == "talk" else ", and /diff shows what changed")
        )
    else:
        desk.tell("/redo does it again")


def read(rest: str) -> Asked:
    """What is asked for. Raises `UsageError`."""
    number: int | None = None
    what, force, preview = _WHATS["both"], False, False
    for word in rest.split():
        if word.isdecimal() and int(word) > 0:
            number = int(word)
        elif word in _WHATS:
            what = _WHATS[word]
        elif word == "force":
            force = True
        elif word in _PREVIEW:
            preview = True
        else:
            raise UsageError(
                f"/undo doesn't know {word!r}",
                hint="/undo [N] [files|talk] [force] [?]: by default the last turn, all of it; ? only says what would be.",
            )
    return Asked(number, what, force, preview)


def told(outcome: Outcome, root: Path, *, tense: _Tense = "done") -> list[str]:
    """What was done in the project `root`, in lines; `before`: what an undo would do; `again`: it was a redo."""
    before, again, left = tense == "before", tense == "again", outcome.left
    did = {"before": "would take back", "done": "took back", "again": "did again"}[tense]
    part = " in part" if left else ""
    prompts = [shortened(" ".join(text.split()), _PROMPT) for text in outcome.turns if outcome.talk]
    lines = [f"{did}{part}: {prompt}" for prompt in prompts]
    if not outcome.talk:
        lines = [f"{did}{part} what {counted(len(outcome.turns), 'turn')} changed in files"]
    lines += _some([f"  {shown_from(c.path, root)}: {_how(c, tense=tense)}" for c in outcome.put_back], _NAMED)
    if outcome.aside is not None and not before:
        lines += [
            f"What was moved away comes back with {'/undo' if again else '/redo'}; until then it takes room in {outcome.aside}."
        ]
    if left:
        one = len(left) == 1
        stays = ("would stay as it is" if one else "would stay as they are") if before else f"left as {'it is' if one else 'they are'}"  # fmt: skip
        lines += [f"{stays}, {counted(len(left), 'file')}:"]
        lines += _some([f"  {shown_from(file.path, root)}: {file.why}" for file in left], 10 * _NAMED)
        helps = {"before": _HELP_BEFORE, "done": _HELP, "again": _HELP_AGAIN}[tense]
        lines += [words for remedy, words in helps.items() if any(file.remedy == remedy for file in left)]
    elif not outcome.put_back and not outcome.talk:
        lines += ["no file would have to change" if before else "no file had to change"]
    return [one_line(line) for line in lines]


def _some(lines: list[str], most: int) -> list[str]:
    more = len(lines) - most
    return lines if more <= 0 else [*lines[:most], f"  … and {more:,} more"]


def _how(change: Change, *, tense: _Tense) -> str:
    if change.after is None:
        kept = change.before is not None and change.before.loose
        away, gone = ("to be moved away", "to be removed") if tense == "before" else ("moved away", "removed")
        return f"{away}, since it is too large to be copied" if kept else gone
    if change.before is None:
        return "to be made again" if tense == "before" else "made again"
    return {"before": "to be as it was", "done": "as it was", "again": "changed again"}[tense]


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return (
        Completion("files", "only what was changed in files"),
        Completion("talk", "only what was said"),
        Completion("force", "files too that were changed since"),
        Completion("?", "only say what would be taken back"),
    )


COMMAND = Command(
    "undo",
    "[N] [files|talk] [force] [?]",
    "take the last turn back, or N: what was said and changed; ? only says what would be",
    _run,
    _complete,
)
