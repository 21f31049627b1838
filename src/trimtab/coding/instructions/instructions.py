"""All that an open session is told beside the conversation, and when it changes.

    turn begins ──refresh──▶ what the disk holds now ──▶ Found ──▶ sections ──joined──▶ the system prompt of the next request
    a call read or changed a file ──touched──▶ instructions of its folder, not told yet? ──▶ the same again

A file is read again only when its status says that it changed. Each change is a sentence for the person; how the model hears of it is the engine's
matter (`context/cycle/epochs.py`). The one rule: of a project that isn't trusted nothing is even looked at.
"""

import os
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.agent.ports import Tool
from trimtab.coding.agents.agent_file import BUILT_IN, Subagent
from trimtab.coding.agents.listing import agent_section
from trimtab.coding.guard import workspace_of
from trimtab.coding.instructions.allowed_tools import grant_of
from trimtab.coding.instructions.guidance import Finder, Guidance, guidance_sections, named
from trimtab.coding.instructions.places import (
    agent_places,
    find_agents,
    find_skills,
    find_templates,
    skill_places,
    template_places,
)
from trimtab.coding.instructions.reach import Reach, reach_of
from trimtab.coding.instructions.remark import About, Remark
from trimtab.coding.instructions.section import Section, joined
from trimtab.coding.instructions.skill_index import skill_section
from trimtab.coding.instructions.skills import Skill
from trimtab.coding.instructions.standing import docs_section, first_sections
from trimtab.coding.instructions.system_files import SystemFiles, find_system_files
from trimtab.coding.instructions.templates import Template
from trimtab.coding.instructions.texts import Texts, shown_path
from trimtab.coding.permissions.grants import Grant
from trimtab.coding.project import Project
from trimtab.types.messages import User


@dataclass(frozen=True, slots=True)
class Found:
    """What there was at one moment. `remarks` say what was left out, and what is odd about what was not."""

    guidance: tuple[Guidance, ...] = ()
    skills: Mapping[str, Skill] = field(default_factory=dict)
    templates: Mapping[str, Template] = field(default_factory=dict)
    agents: Mapping[str, Subagent] = field(default_factory=lambda: BUILT_IN)
    remarks: tuple[Remark, ...] = ()
    system: SystemFiles = field(default_factory=SystemFiles)

    def left_out(self, about: About) -> tuple[str, ...]:
        """What was left out of one kind, and why."""
        return tuple(remark.text for remark in self.remarks if remark.about == about and remark.left_out)


class Instructions:
    """The instructions of one session in one project. Methods that touch the disk say so: call them in a thread."""

    def __init__(self, project: Project, *, taken: Callable[[], Collection[str]] = tuple) -> None:
        """`taken` says which names no template can have; asked when there are templates. `last` are sections for the end, such as what an answer has to look like;
        `changed` hears of a change in the middle of a turn."""
        self.project = project
        self.found = Found()
        self.more: list[Callable[[], tuple[Section, ...]]] = []
        """Others that have sections, asked each time; theirs stand before the last."""
        self.last: tuple[Section, ...] = ()
        self.changed: Callable[[tuple[str, ...]], Awaitable[None]] = _nobody_listens
        self._texts = Texts()
        self._taken = taken
        self._skills_at: dict[str, Skill] = {}
        self._reach = Reach()
        self._below: dict[Path, None] = {}
        self._empty: set[Path] = set()
        self._told: frozenset[str] = frozenset()
        self._begun = False
        self._granted: dict[str, Grant] = {}
        self._next: dict[str, Grant] = {}
        self.named: list[User] = []
        """Words of the person whose attachments weren't looked at yet."""

    def begin(self, paths: Callable[[], Iterable[str]]) -> tuple[str, ...]:
        """The first look. `paths` gives the files (real paths) that the session has touched before. Returns as `refresh` does. Touches the disk."""
        if self.project.trusted and self.project.settings.instructions.enabled:
            self._reach = reach_of(self.project)
            self.touched(paths())
        return self.refresh()

    def refresh(self) -> tuple[str, ...]:
        """Look at everything again; return what a person should know that wasn't said yet. Touches the disk."""
        before, settings = self.found, self.project.settings.instructions
        if not settings.enabled:
            return ()
        self._reach = reach = reach_of(self.project)
        self._empty.clear()
        remarks: list[Remark] = []
        home = self.project.env.get("HOME")
        finder = Finder(
            self._texts,
            settings.files,
            settings.max_bytes,
            remarks,
            beside=settings.local_files,
            home=Path(home) if home else None,
            is_secret=workspace_of(self.project).is_secret,
        )
        top = reach.folders[0] if reach.folders else None
        guidance = [
            *(finder.own(Path(home) / ".agents", "~/.agents/") if home else ()),
            *finder.own(self.project.home.config),
            *finder.of_folders(reach.folders, top, below=False),
            *(finder.of_folders(self._below, top, below=True) if top else ()),
        ]
        skills = find_skills(skill_places(self.project, reach), self._texts, remarks)
        templates = find_templates(template_places(self.project, reach), self._texts, remarks)
        agents = find_agents(agent_places(self.project, reach), self._texts, remarks)
        for name in sorted(templates.keys() & set(self._taken())) if templates else ():
            remarks.append(
                Remark(
                    f"{shown_path(templates.pop(name).path)} is left out: /{name} is a command of Trimtab", "prompts"
                )
            )
        self._skills_at = {os.path.realpath(skill.path): skill for skill in skills.values()}
        system = find_system_files(self.project.home.config, reach.folders, self._texts, remarks)
        self.found = Found(tuple(guidance), skills, templates, agents, tuple(dict.fromkeys(remarks)), system)
        news = [remark.text for remark in self.found.remarks if remark.told and remark.text not in self._told]
        self._told |= set(news)
        if self._begun:
            news = [*_changes(before, self.found), *news]
        self._begun = True
        return tuple(news)

    def touched(self, paths: Iterable[str]) -> bool:
        """Whether instructions are to be looked at again because these files (real paths) were read or changed. Touches the disk."""
        if not self.project.settings.instructions.enabled:
            return False
        known = {os.path.realpath(g.source.path) for g in self.found.guidance}
        settings = self.project.settings.instructions
        names = {os.path.basename(name).casefold() for name in (*settings.files, *settings.local_files)}
        again = False
        for path in paths:
            folder_of, name = os.path.split(path)
            is_one = name.casefold() in names
            again = again or path in known or (is_one and Path(folder_of) in self._reach.folders)
            for folder in self._reach.below(path):
                if folder in self._below or (folder in self._empty and not is_one):
                    continue
                if self._has_files(folder):
                    self._below[folder] = None
                    again = True
                else:
                    self._empty.add(folder)
        return again

    def take_named(self) -> list[User]:
        """What is in `named`, which is then empty."""
        named, self.named = self.named, []
        return named

    def sections(self, tools: tuple[Tool, ...], *, window: int) -> tuple[Section, ...]:
        """The system prompt in parts, for a model with these tools and a window of so many tokens."""
        settings = self.project.settings.instructions
        can_read = any(tool.spec.name == "read" for tool in tools)
        skills = skill_section(self.found.skills.values(), most=settings.max_skills_bytes) if can_read else None
        most = min(settings.max_total_bytes, window)
        return tuple(
            section
            for section in (
                *first_sections(self.project, tools, self.found.system),
                *guidance_sections(self.found.guidance, most=most),
                skills,
                agent_section(self.found.agents.values()) if any(t.spec.name == "task" for t in tools) else None,
                docs_section(self.project, tools, self.found.system),
                *(section for more in self.more for section in more()),
                *self.last,
            )
            if section is not None
        )

    def system(self, tools: tuple[Tool, ...], *, window: int) -> str:
        """The system prompt."""
        return joined(self.sections(tools, window=window))

    def skill_at(self, path: str) -> Skill | None:
        """The skill whose file has this real path."""
        return self._skills_at.get(path)

    def begin_turn(self) -> None:
        """What earlier turns' skills granted ends; what was called for with this one begins."""
        self._granted, self._next = self._next, {}

    def end_turn(self) -> None:
        """What was granted ends."""
        self._granted = {}

    def load(self, skill: Skill, *, running: bool) -> None:
        """Grant what a skill's `allowed-tools` says: for the rest of the running turn, or for the one that comes."""
        (self._granted if running else self._next)[skill.name] = grant_of(skill)

    def granted(self) -> Grant:
        """What is granted now."""
        return sum(self._granted.values(), Grant())

    def _has_files(self, folder: Path) -> bool:
        settings = self.project.settings.instructions
        return any(True for _ in named(folder, (*settings.files, *settings.local_files)))


async def _nobody_listens(news: tuple[str, ...]) -> None:
    pass


def _changes(before: Found, now: Found) -> list[str]:
    """What became of files, skills and templates since; the model hears of the first two with its next request."""
    lines = _compared(_texts(before), _texts(now), "")
    lines += _compared(_listed(before.skills), _listed(now.skills), "skill ")
    lines += _compared(before.templates, now.templates, "template /")
    lines += _compared(before.agents, now.agents, "agent ")
    return lines


def _texts(found: Found) -> dict[str, str]:
    return {guidance.name: guidance.source.text for guidance in found.guidance} | found.system.texts()


def _listed(skills: Mapping[str, Skill]) -> dict[str, tuple[str, str, bool]]:
    return {name: (skill.description, str(skill.path), skill.model_may_load) for name, skill in skills.items()}


def _compared(before: Mapping[str, object], now: Mapping[str, object], kind: str) -> list[str]:
    new = [f"instructions: {kind}{name} is new" for name in now if name not in before]
    changed = [f"instructions: {kind}{name} changed" for name in now if name in before and before[name] != now[name]]
    gone = [f"instructions: {kind}{name} is gone" for name in before if name not in now]
    return [*new, *changed, *gone]
