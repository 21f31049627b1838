"""What a person says by a command: a template filled in, a skill with a request.

    /review 12 @notes.md ──expand──▶ the template's text with its arguments, then the files that the person named ──say──▶ a turn, or a word to the running one

The one rule: files are attached only where the person named them, never because a template does.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import anyio

from trimtab.agent.loop import Turn
from trimtab.coding.attachments import attached
from trimtab.coding.commands.command import Desk
from trimtab.coding.instructions.arguments import fill
from trimtab.coding.instructions.skill_index import skill_text
from trimtab.coding.instructions.skills import Skill
from trimtab.coding.instructions.templates import Template
from trimtab.coding.session import Session
from trimtab.types.messages import Part, Text, User
from trimtab.types.text import scrub

SKILL = "skill:"
"""What stands before a skill's name in a command."""


@dataclass(frozen=True, slots=True)
class Said:
    """What a command says to the model, the skill that comes with it, what the person should know of it, and the command as it was typed."""

    parts: tuple[Part, ...]
    skill: Skill | None = None
    notes: tuple[str, ...] = ()
    """For the person."""
    typed: str = ""


def of_template(template: Template, typed: str, session: Session) -> Said:
    """A template with what was typed. Raises `UsageError` for a file that can't be read. Touches the disk."""
    return _with_files(fill(template.text, scrub(typed)), template.name, typed, session, None)


def of_skill(skill: Skill, typed: str, session: Session) -> Said:
    """A skill's text, then what was typed. Raises and touches the disk as `of_template` does."""
    text = "\n\n".join(filter(None, (skill_text(skill), scrub(typed))))
    return _with_files(text, SKILL + skill.name, typed, session, skill)


def expand(line: str, session: Session) -> Said | None:
    """What a line means that begins with a template's or skill's command; None for any other text. Raises and touches the disk as `of_template` does."""
    if not line.startswith("/"):
        return None
    name, typed = (*line[1:].split(maxsplit=1), "", "")[:2]
    found = session.instructions.found
    if (template := found.templates.get(name)) is not None:
        return of_template(template, typed.strip(), session)
    skill = found.skills.get(name.removeprefix(SKILL)) if name.startswith(SKILL) else None
    return of_skill(skill, typed.strip(), session) if skill else None


async def say(desk: Desk, make: Callable[[], Said]) -> None:
    """Say what `make` makes, which may touch the disk: as a prompt, or as a word to the running turn. Raises as `make` does."""
    session = desk.session
    said = await anyio.to_thread.run_sync(make)
    for note in said.notes:
        desk.tell(note)
    if session.busy:
        if said.skill is not None:
            session.instructions.load(said.skill, running=True)
        session.steer(User(said.parts, origin="steering", typed=said.typed))
        desk.tell("(will be told before its next step)")
    else:
        desk.work(partial(prompt, session, said))


async def prompt(session: Session, said: Said) -> Turn:
    """Run a turn with it. Raises as `Session.prompt` does."""
    if said.skill is not None:
        session.instructions.load(said.skill, running=False)
    return await session.prompt(User(said.parts, typed=said.typed))


def _with_files(text: str, name: str, typed: str, session: Session, skill: Skill | None) -> Said:
    files = attached(typed, session.project)
    said = (Text(text + ("\n\n" if files.parts else "")), *files.parts)
    return Said(said, skill, files.notes, scrub(f"/{name} {typed}".rstrip()))
