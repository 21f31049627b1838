"""The skills as a model learns of them: a line each in the system prompt, their text when it is needed."""

from collections.abc import Iterable, Sequence

from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.skills import Skill
from trimtab.coding.instructions.texts import shown_path
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_HEAD = "Skills. Before you do what one of them is for, read its file; the paths in it are relative to its folder."
_LENGTHS = (1024, 200, 80, 0)
"""Characters of each description, tried until the list is short enough."""


def skill_section(skills: Iterable[Skill], *, most: int) -> Section | None:
    """The list, in at most `most` bytes: descriptions get shorter, then skills are left out, and it says so. None where a model may load none."""
    offered = [skill for skill in skills if skill.model_may_load]
    if not offered:
        return None
    whose = sorted({skill.whose for skill in offered})
    for length in _LENGTHS:
        lines = [_row(skill, length) for skill in offered]
        if _bytes(lines) <= most:
            return Section("skills", f"skills of {' and '.join(whose)}", "\n".join((_HEAD, *lines)))
    kept = _fitting(lines, most)
    folders = ", ".join(dict.fromkeys(shown_path(skill.folder.parent) for skill in offered[len(kept) :]))
    rest = f"- and {len(offered) - len(kept)} more in {shortened(folders, 400)}"
    return Section("skills", f"skills of {' and '.join(whose)}", "\n".join((_HEAD, *kept, rest)))


def skill_text(skill: Skill) -> str:
    """A skill as it is told when a person calls for it."""
    path = shown_path(skill.path)
    folder = shown_path(skill.folder)
    cut = f"\n[cut; read {path} from line {skill.rest} on for the rest]" if skill.rest else ""
    return f'<skill name="{skill.name}" folder="{folder}">\nPaths in it are relative to its folder.\n\n{skill.text.strip()}{cut}\n</skill>'


def _row(skill: Skill, length: int) -> str:
    described = f": {shortened(one_line(skill.description), length)}" if length else ""
    return f"- {skill.name}{described} ({shown_path(skill.path)})"


def _bytes(lines: Sequence[str]) -> int:
    return sum(len(line.encode()) + 1 for line in (_HEAD, *lines))


def _fitting(lines: Sequence[str], most: int) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if _bytes([*kept, line]) > most:
            break
        kept.append(line)
    return kept
