"""A prompt template: a Markdown file whose name is a command, with places for what is typed behind it."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trimtab.coding.instructions.front_matter import BadFrontMatter, Field, split
from trimtab.coding.instructions.texts import SourceText, Unread
from trimtab.coding.telling.tables import shortened

NAME = re.compile(r"[A-Za-z0-9](?:[\w-]{0,62}[A-Za-z0-9])?", re.ASCII)
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Template:
    """One template. `hint` says what may stand behind its name; `text` has the places for it (`arguments.fill`)."""

    name: str
    description: str
    hint: str
    path: Path
    whose: Literal["user", "project"]
    text: str
    hidden: tuple[str, ...] = ()


def parse_template(source: SourceText, *, whose: Literal["user", "project"]) -> Template:
    """The template in a file. Raises `Unread`."""
    name = source.path.stem
    if not NAME.fullmatch(name):
        raise Unread(f"{source.shown} is left out: its name is no word of letters, digits, - and _, so no command")
    if source.rest is not None:
        raise Unread(f"{source.shown} is left out: it is larger than a prompt can be ({source.size:,} bytes)")
    try:
        fields, text = split(source.text)
    except BadFrontMatter as why:
        raise Unread(f"{source.shown} is left out: {why}") from None
    if not text.strip():
        raise Unread(f"{source.shown} is left out: it is empty")
    first = next(line.strip().lstrip("# ") for line in text.splitlines() if line.strip())
    description = _line(fields.get("description")) or first
    return Template(
        name,
        shortened(description, _LONGEST),
        shortened(_line(fields.get("argument-hint")), _LONGEST),
        source.path,
        whose,
        text.strip("\n"),
        source.hidden,
    )


def _line(value: "Field | None") -> str:
    """A field as one line; a list, which `argument-hint: [file]` is in YAML, as it was meant."""
    if isinstance(value, list):
        return " ".join(f"[{_line(one)}]" for one in value)
    return " ".join(value.split()) if isinstance(value, str) else ""
