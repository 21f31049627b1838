"""`/trust [ANSWER]`: whether this folder is trusted, and another answer, which counts from the next reading of the folder on."""

from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.coding.telling.trust_text import standing_lines
from trimtab.coding.trust.answers import ANSWERS, STORED, TrustAnswer
from trimtab.coding.trust.decide import keep_answer
from trimtab.coding.trust.place import place_of
from trimtab.coding.trust.standing import standing
from trimtab.types.errors import UsageError

_KEPT = {
    "folder": "this folder, from now on",
    "parent": "all that lies in the folder above it",
    "never": "no, and don't ask again",
}


async def _run(desk: Desk, rest: str) -> None:
    project = desk.session.project
    if rest:
        answer = _answer(rest)
        await anyio.to_thread.run_sync(keep_answer, project.home.trust_file, place_of(project.trust.root), answer)
    desk.tell("\n".join(await anyio.to_thread.run_sync(partial(_lines, project))))
    if rest:
        desk.tell("This session goes on with what it has read; the answer counts from /reload, or the next start.")


def _answer(word: str) -> TrustAnswer:
    if word == "once":
        raise UsageError("`once` is said when a session starts", hint="Start it with --trust once.")
    answer = next((answer for answer in ANSWERS if answer == word), None)
    if answer is None:
        raise UsageError(f"{word!r} is no answer", hint=f"Use one of {', '.join(STORED)}.")
    return answer


def _lines(project: Project) -> tuple[str, ...]:
    lines = standing_lines(standing(project.cwd, project.home.trust_file, home=project.env.get("HOME")))
    return (*lines, "  in this session it acts" if project.trusted else "  in this session nothing of it acts")


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return [Completion(word, words) for word, words in _KEPT.items() if word.startswith(typed)]


COMMAND = Command(
    "trust", "[ANSWER]", "whether this folder is trusted; folder, parent or never answers anew", _run, _complete
)
