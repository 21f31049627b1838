"""A skill: a folder with a `SKILL.md`, as the open specification has it (https://agentskills.io/specification).

SKILL.md ──front matter──▶ checked: name, description, … ──▶ Skill, whose text is read when it is needed
                            └─ a sentence that says what is wrong; the skill is left out
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from trimtab.coding.instructions.front_matter import BadFrontMatter, Field, split
from trimtab.coding.instructions.texts import SourceText, Unread

Whose: TypeAlias = Literal["user", "project"]

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_LONGEST_NAME, _LONGEST_DESCRIPTION, _LONGEST_COMPATIBILITY = 64, 1024, 500


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill. `text` is what stands behind the front matter; `rest` the line from which the file goes on, where it was cut.

    `model_may_load` is False where only a person may call for it: since the skill says so, or since it is `spoilt`: what a person doesn't see stands in
    its file. `allowed_tools` is the field as it was written.
    """

    name: str
    description: str
    path: Path
    whose: Whose
    text: str
    license: str = ""
    compatibility: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    allowed_tools: str = ""
    model_may_load: bool = True
    spoilt: bool = False
    hidden: tuple[str, ...] = ()
    rest: int | None = None

    @property
    def folder(self) -> Path:
        """Where its relative paths start."""
        return self.path.parent


def parse_skill(source: SourceText, *, whose: Whose) -> Skill:
    """The skill in a file. Raises `Unread` for one that breaks the specification."""
    try:
        fields, text = split(source.text)
        return _skill(source, fields, text, whose)
    except BadFrontMatter as why:
        raise Unread(f"{source.shown} is left out: {why}") from None


def _skill(source: SourceText, fields: dict[str, Field], text: str, whose: Whose) -> Skill:
    if not fields:
        raise BadFrontMatter("it has no front matter with name and description")
    name = _text(fields, "name", _LONGEST_NAME)
    if not _NAME.fullmatch(name):
        raise BadFrontMatter(f"its name {name!r} is not lower-case letters, digits and single hyphens")
    if name != source.path.parent.name:
        raise BadFrontMatter(f"its name {name!r} is not that of its folder, {source.path.parent.name!r}")
    metadata = fields.get("metadata", {})
    pairs = tuple((key, str(value)) for key, value in metadata.items()) if isinstance(metadata, dict) else ()
    tools = fields.get("allowed-tools", "")
    disabled = str(fields.get("disable-model-invocation", "")).lower() in ("true", "yes", "on")
    return Skill(
        name,
        " ".join(_text(fields, "description", _LONGEST_DESCRIPTION).split()),
        source.path,
        whose,
        text.strip("\n") + "\n",
        license=_text(fields, "license", _LONGEST_DESCRIPTION, required=False),
        compatibility=_text(fields, "compatibility", _LONGEST_COMPATIBILITY, required=False),
        metadata=pairs,
        allowed_tools=" ".join(map(str, tools)) if isinstance(tools, list) else str(tools),
        model_may_load=not (disabled or source.spoilt),
        spoilt=source.spoilt,
        hidden=source.hidden,
        rest=source.rest,
    )


def _text(fields: dict[str, Field], key: str, most: int, *, required: bool = True) -> str:
    value = fields.get(key, "")
    if not isinstance(value, str):
        raise BadFrontMatter(f"its {key} is no text")
    if required and not value.strip():
        raise BadFrontMatter(f"its {key} is missing")
    if len(value.strip()) > most:
        raise BadFrontMatter(f"its {key} has {len(value.strip()):,} characters; {most:,} are allowed")
    return value.strip()
