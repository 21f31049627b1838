"""`/prompts`: the prompt templates there are; and `/NAME`, which says one."""

from collections.abc import Mapping
from functools import partial

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.files import complete_files
from trimtab.coding.commands.saying import of_template, say
from trimtab.coding.instructions.templates import Template
from trimtab.coding.instructions.texts import shown_path
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line

_NONE = "no prompt templates. One is a file NAME.md, said by /NAME: in {home}/prompts for all projects, in .trimtab/prompts for one that you trust"


async def _run(desk: Desk, rest: str) -> None:
    session = desk.session
    lines: list[str] = []
    for template in session.instructions.found.templates.values():
        lines.append(f"/{template.name} {template.hint}".rstrip() + f" ({template.whose}): {template.description}")
        lines.append(f"  {shown_path(template.path)}")
        lines += [f"  hidden in it: {finding}" for finding in template.hidden]
    lines += [f"problem: {text}" for text in session.instructions.found.left_out("prompts")]
    if not session.instructions.found.templates:
        lines.append(_NONE.format(home=session.project.home.config))
    desk.tell("\n".join(map(one_line, lines)))


def template_commands(session: Session) -> Mapping[str, Command]:
    """A command for each template."""
    return {name: _command(template) for name, template in session.instructions.found.templates.items()}


def _command(template: Template) -> Command:
    async def run(desk: Desk, rest: str) -> None:
        await say(desk, partial(of_template, template, rest, desk.session))

    return Command(template.name, one_line(template.hint), one_line(template.description), run, complete_files)


COMMAND = Command("prompts", "", "the prompt templates", _run)
