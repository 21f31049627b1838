"""`/system [NAME]`: what the model is told before anyone speaks, section by section: where each comes from and what it costs, or its text."""

from collections.abc import Sequence

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.instructions.section import Section
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.coding.telling.tables import table
from trimtab.types.errors import UsageError
from trimtab.types.near import nearest


async def _run(desk: Desk, rest: str) -> None:
    sections = _sections(desk.session)
    if not rest:
        desk.tell("\n".join(_overview(desk.session, sections)))
        return
    section = next((section for section in sections if section.name == rest), None)
    if section is None:
        names = [section.name for section in sections]
        meant = nearest(rest, names)
        guess = f"Did you mean {meant}? " if meant else ""
        raise UsageError(f"no section {rest!r}", hint=f"{guess}Sections: {', '.join(names)}.")
    desk.tell(f"{one_line(section.name)}, from {one_line(section.source)}:\n{set_in(section.text)}".rstrip("\n"))


def _sections(session: Session) -> tuple[Section, ...]:
    return session.instructions.sections(session.agent.tools, window=session.model.context_window)


def _overview(session: Session, sections: Sequence[Section]) -> list[str]:
    count = session.context.engine.tally.text
    sizes = [count(section.text) for section in sections]
    rows = [("SECTION", "TOKENS", "FROM")]
    rows += [
        (one_line(section.name), f"{size:,}", one_line(section.source))
        for section, size in zip(sections, sizes, strict=True)
    ]
    rows.append(("all", f"{sum(sizes):,}", "/system NAME shows one"))
    lines = table(rows, None, right=(1,))
    for guidance in session.instructions.found.guidance:
        lines += [one_line(f"hidden in {guidance.name}: {finding}") for finding in guidance.source.hidden]
    return lines


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    return [Completion(s.name, s.source) for s in _sections(session) if s.name.startswith(typed)]


COMMAND = Command(
    "system", "[NAME]", "the system prompt: where each part comes from and what it costs", _run, _complete
)
