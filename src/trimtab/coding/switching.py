"""From one open session to another: the next one is whole before the old one is let go.

/resume, /new, /fork, … ──prepare──▶ a candidate, open ──adopted──▶ the old one is closed
                            └─ anything fails, or the person says no ──▶ the candidate is gone, the old one as it was, its file byte for byte
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from trimtab.coding.choose import Choice
from trimtab.coding.opening import open_session
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_TITLE = 60


@dataclass(frozen=True, slots=True)
class Candidate:
    """An open session that nobody uses yet. Whoever adopts it, or doesn't, closes it."""

    session: Session
    stack: AsyncExitStack

    async def aclose(self) -> None:
        """Close the session."""
        await self.stack.aclose()


async def prepare(project: Project, choice: Choice, *, person: Person, **more: Any) -> Candidate:
    """Open the session that `choice` means. Raises as `open_session` does, and then nothing is open."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(open_session(project, choice, person=person, **more))
        return Candidate(session, stack.pop_all())


def carry_over(old: Session, new: Session, *, reopened: bool = False) -> None:
    """Let what the person said about permissions in `old` hold in `new`: the mode, and where that is the same session `reopened`, answers too."""
    if (mode := old.permissions.chosen_mode) is not None:
        new.set_mode(mode)
    if reopened:
        new.permissions.answers = old.permissions.answers
    else:
        new.choices.told |= old.choices.told


def words_of(old: Session, new: Session, *, reopened: bool = False) -> str:
    """What happened, for the person: which session goes on, where it is kept, what became of the one before, and the way back."""
    log, before = new.log, old.log
    if reopened:
        return one_line(
            f"settings, instructions, skills and prompts of {new.project.cwd} were read again; session {log.header.id} goes on"
        )
    copied = log.header.parent_session == before.header.id
    kind = "a copy of" if copied else "another one than"
    where = f"kept in {log.path}" if log.path else "kept nowhere"
    title = f" ({shortened(before.archive.title, _TITLE)})" if before.archive.title else ""
    back = f"/resume {before.header.id} goes back to it"
    if before.path is None:
        left = "which was kept nowhere and is gone"
    elif copied:
        left = f"which stays as it is; {back}"
    else:
        left = back
    return one_line(f"session {log.header.id}, {where}; {kind} {before.header.id}{title}, {left}")
