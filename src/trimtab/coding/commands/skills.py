"""`/skills`: the skills there are, where they come from, what each costs; and `/skill:NAME`, which brings one into the talk."""

from collections.abc import Iterator, Mapping
from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.files import complete_files
from trimtab.coding.commands.saying import SKILL, of_skill, say
from trimtab.coding.instructions.skills import Skill
from trimtab.coding.instructions.texts import shown_path
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_NONE = "no skills. One is a folder with a SKILL.md: in {home}/skills for all projects, in .trimtab/skills or .agents/skills for one that you trust"
_HELP = 80


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    skills = session.instructions.found.skills
    lines = [line for skill in skills.values() for line in _lines(skill, session)]
    lines += [f"problem: {text}" for text in session.instructions.found.left_out("skills")]
    if not skills:
        lines.append(_NONE.format(home=session.project.home.config))
    desk.tell("\n".join(map(one_line, lines)))


def _lines(skill: Skill, session: Session) -> Iterator[str]:
    count = session.context.engine.tally.text
    who = "" if skill.model_may_load else "; only you can load it"
    yield f"{skill.name} ({skill.whose}, {count(skill.description):,} tokens always, {count(skill.text):,} when loaded{who}): {skill.description}"
    yield f"  {shown_path(skill.path)}"
    if skill.allowed_tools:
        yield f"  runs unasked once it is loaded: {skill.allowed_tools}"
    told = {"license": skill.license, "needs": skill.compatibility, **dict(skill.metadata)}
    if shown := "; ".join(f"{key}: {value}" for key, value in told.items() if value):
        yield f"  {shortened(shown, 400)}"
    for finding in skill.hidden:
        yield f"  hidden in it: {finding}"


def skill_commands(session: Session) -> Mapping[str, Command]:
    """A command for each skill."""
    return {f"{SKILL}{name}": _command(skill) for name, skill in session.instructions.found.skills.items()}


def _command(skill: Skill) -> Command:
    async def run(desk: Desk, rest: str) -> None:
        await say(desk, partial(of_skill, skill, rest, desk.session))

    return Command(
        f"{SKILL}{skill.name}", "[REQUEST]", one_line(shortened(skill.description, _HELP)), run, complete_files
    )


COMMAND = Command("skills", "", "the skills, where they come from and what they cost", _run)
