"""From one open session to another: the next one is whole before the old one is let go.

/resume, /new, /fork, … ──prepare──▶ a candidate, open ──adopted──▶ the old one is closed
                            └─ anything fails, or the person says no ──▶ the candidate is gone, the old one as it was, its file byte for byte
"""

import os
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from typing import Any

from trimtab.coding.choose import AtFile, Choice, New
from trimtab.coding.opening import open_session
from trimtab.coding.permissions.policy import narrower
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line, one_path
from trimtab.coding.telling.tables import shortened
from trimtab.types.errors import TrimtabError

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


def same_again(session: Session) -> Choice:
    """What opens a session anew that is kept in a file: one in which nothing happened leaves none behind."""
    log = session.log
    assert log.path is not None
    unborn = not len(log.archive) and log.path.is_relative_to(os.path.realpath(session.project.home.sessions))
    return New(log.header.parent_session) if unborn else AtFile(log.path)


async def carry_over(old: Session, new: Session, *, reopened: bool = False) -> tuple[str, ...]:
    """Let what the person chose in `old` hold in `new`, and return what they should know of that.

    The mode of permissions goes along in one project, and elsewhere where it lets no more run; in the same session `reopened` answers do too. Model and level stay where it is that session, or a copy of it.
    """
    notes = _carry_mode(old, new)
    if reopened:
        new.permissions.answers = old.permissions.answers
    else:
        new.choices.told |= old.choices.told
    if reopened or new.log.header.parent_session == old.id:
        await _carry_model(old, new, reopened=reopened)
    return notes


def _carry_mode(old: Session, new: Session) -> tuple[str, ...]:
    mode, there = old.permissions.chosen_mode, new.permissions.current.mode
    if mode is None or mode == there:
        return ()
    if old.project.trust.root == new.project.trust.root or narrower(mode, there) == mode:
        new.set_mode(mode)
        return ()
    root = one_path(old.project.trust.root)
    return (
        f"permissions are {there} here: you chose {mode} for {root}, and this is another project; /permissions {mode} chooses it here too",
    )


async def _carry_model(old: Session, new: Session, *, reopened: bool) -> None:
    """What was chosen by a command is newer than the flags that the project repeats, and than nothing in a log."""
    home = old.choices.standby.home
    wanted, level = home.model.ref if home else old.model.ref, old.choices.level
    if old.choices.switched and (reopened or new.project.named_now("model")) and new.model.ref != wanted:
        with suppress(TrimtabError):  # settings were changed: it is there no more
            await new.set_model(wanted)
    if level is not None and level in new.model.thinking:
        new.set_thinking(level)


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
