"""Where skills, prompt templates and agents lie, the weakest first: of two with one name, the later place's holds.

~/.claude, ~/.agents, HOME              the person's own: skills, prompts (.claude: commands), agents
.claude, .agents, .trimtab              of each folder from the project's root to the working folder, where it is trusted
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Protocol, TypeVar

from trimtab.coding.agents.agent_file import BUILT_IN, Subagent, parse_agent
from trimtab.coding.instructions.guidance import named
from trimtab.coding.instructions.reach import Reach
from trimtab.coding.instructions.remark import About, Remark
from trimtab.coding.instructions.skills import Skill, Whose, parse_skill
from trimtab.coding.instructions.templates import Template, parse_template
from trimtab.coding.instructions.texts import SourceText, Texts, Unread, shown_path
from trimtab.coding.project import Project

_Page = TypeVar("_Page", covariant=True)
_MOST = 500
"""Entries of one folder that are looked at."""
_MOST_BYTES = 256 * 1024
"""Of one file."""
_MOST_AGENT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Place:
    """One folder of skills or templates. `inside` is the folder that links must not lead out of, for what is a project's."""

    folder: Path
    whose: Whose
    inside: Path | None = None
    told: bool = True
    """Whether the person hears unasked of what can't be used: not of what they wrote for another agent."""

    def remark(self, text: str, about: About, *, left_out: bool = True) -> Remark:
        """A remark about something in it."""
        return Remark(text, about, left_out, self.told)


def skill_places(project: Project, reach: Reach) -> Iterator[Place]:
    """The folders of skills, the weakest first."""
    return _places(project, reach, {".claude": "skills", ".agents": "skills", ".trimtab": "skills"})


def template_places(project: Project, reach: Reach) -> Iterator[Place]:
    """The folders of prompt templates, the weakest first."""
    return _places(project, reach, {".claude": "commands", ".agents": "prompts", ".trimtab": "prompts"})


def agent_places(project: Project, reach: Reach) -> Iterator[Place]:
    """The folders of agents, the weakest first."""
    return _places(project, reach, {".claude": "agents", ".trimtab": "agents"})


def _places(project: Project, reach: Reach, names: Mapping[str, str]) -> Iterator[Place]:
    """The folders below those of `names`: of the person's home and Trimtab's, then of the project. Those of another agent are the weakest of each."""
    home = project.env.get("HOME")
    read = {of: name for of, name in names.items() if of != ".claude" or project.settings.instructions.other_agents}
    for of, name in read.items() if home else ():
        if of != ".trimtab":
            yield Place(Path(home or "") / of / name, "user", told=of != ".claude")
    yield Place(project.home.config / names[".trimtab"], "user")
    for folder in reach.folders:
        for of, name in read.items():
            yield Place(folder / of / name, "project", reach.folders[0])


def find_skills(places: Iterator[Place], texts: Texts, remarks: list[Remark]) -> dict[str, Skill]:
    """The skills by name; what is wrong with others goes to `remarks`."""
    found: dict[str, Skill] = {}
    for place in _once(places):
        for entry in _entries(place.folder, "skills", remarks):
            path = next(named(entry, ["SKILL.md"]), None) if os.path.isdir(entry) else None
            if path is None:
                continue
            try:
                source = texts.read(path, most=_MOST_BYTES, inside=place.inside)
                skill = texts.parsed(source, partial(parse_skill, whose=place.whose))
            except Unread as why:
                remarks.append(place.remark(str(why), "skills"))
                continue
            remarks += [place.remark(note, "skills", left_out=False) for note in source.notes]
            if skill.spoilt:
                who = f"{source.shown}: only you can load it (/skill:{skill.name}), since a model that reads it would see what you don't"
                remarks.append(place.remark(who, "skills", left_out=False))
            found[skill.name] = skill
    return dict(sorted(found.items()))


def find_templates(places: Iterator[Place], texts: Texts, remarks: list[Remark]) -> dict[str, Template]:
    """The templates by name; what is wrong with others goes to `remarks`."""
    pages = _pages(places, "prompts", texts, remarks, most=_MOST_BYTES, parse=parse_template)
    return dict(sorted({template.name: template for template in pages}.items()))


def find_agents(places: Iterator[Place], texts: Texts, remarks: list[Remark]) -> dict[str, Subagent]:
    """The agents by name, those that come with Trimtab among them. What is odd about one is said where agents are listed, and when it is used."""
    found = dict(BUILT_IN)
    for agent in _pages(places, "agents", texts, remarks, most=_MOST_AGENT_BYTES, parse=parse_agent):
        found[agent.name] = agent
    return found


class _Parse(Protocol[_Page]):
    def __call__(self, source: SourceText, *, whose: Whose) -> _Page: ...


def _pages(
    places: Iterator[Place], about: About, texts: Texts, remarks: list[Remark], *, most: int, parse: _Parse[_Page]
) -> Iterator[_Page]:
    """What is in the Markdown files of these places, in their order; what is wrong with others goes to `remarks`."""
    for place in _once(places):
        for entry in _entries(place.folder, about, remarks):
            if entry.suffix.lower() != ".md":
                continue
            try:
                source = texts.read(entry, most=most, inside=place.inside)
                page = texts.parsed(source, partial(parse, whose=place.whose))
            except Unread as why:
                remarks.append(place.remark(str(why), about))
                continue
            remarks += [place.remark(note, about, left_out=False) for note in source.notes]
            yield page


def _once(places: Iterator[Place]) -> Iterator[Place]:
    """Each folder the first time only: the home folder may be the project."""
    seen: set[str] = set()
    for place in places:
        real = os.path.realpath(place.folder)
        if real not in seen:
            seen.add(real)
            yield place


def _entries(folder: Path, about: About, remarks: list[Remark]) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, _MOST + 1) if not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        remarks.append(Remark(f"{shown_path(folder)} can't be read: {error.strerror}", about))
        return []
    if len(names) > _MOST:
        remarks.append(Remark(f"{shown_path(folder)} has more than {_MOST} entries; the rest is left out", about))
    return [folder / name for name in sorted(names)[:_MOST]]
