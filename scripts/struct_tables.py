"""Structs as Markdown tables: each field with its type, its default and the text below it.

The source is read, not only the class: annotations and the docstrings below fields stand there as they were written.
"""

import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import msgspec

from trimtab.agent import events
from trimtab.config import settings
from trimtab.config.described import written
from trimtab.context.seeing import observation
from trimtab.types import errors, messages, models, stream

ALIASES = (settings, models, messages, stream, events, errors, observation)
"""Modules whose names may stand in an annotation."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `name` as in JSON and TOML, `default` as JSON (empty: required)."""

    name: str
    annotation: str
    default: str
    text: str


def section(struct: type[msgspec.Struct]) -> str:
    """Return the heading, the text and the table of one struct."""
    config = struct.__struct_config__
    name = f"`{config.tag_field}: {config.tag}`" if config.tag is not None else struct.__name__
    rows = [(f"`{f.name}`", code(spell(f.annotation)), code(f.default), f.text) for f in fields_of(struct)]
    return f"### {name}\n\n{doc(struct)}\n\n{table(('field', 'type', 'default', ''), rows)}"


def fields_of(struct: type[msgspec.Struct]) -> list[Field]:
    """Return the fields in the order in which they are written."""
    sources = written(struct)
    fields = []
    for field in msgspec.structs.fields(struct):
        annotation, text = sources[field.name]
        standard = field.default_factory() if callable(field.default_factory) else field.default
        default = "" if field.required else msgspec.json.encode(standard).decode()
        fields.append(Field(field.encode_name, annotation, default, text))
    return fields


def doc(thing: type) -> str:
    """Return a docstring without its indentation."""
    return inspect.cleandoc(thing.__doc__ or "")


def code(text: str) -> str:
    """Return `text` as code, or nothing for nothing."""
    return f"`{text}`" if text else ""


def spell(annotation: str) -> str:
    """Return an annotation with its short choices spelt out."""
    for name in re.findall(r"\w+", annotation):
        values = get_args(next((getattr(module, name) for module in ALIASES if hasattr(module, name)), None))
        if values and len(values) <= 7 and all(isinstance(value, str) for value in values):
            annotation = annotation.replace(name, " | ".join(f'"{value}"' for value in values))
    return re.sub(r"Literal\[([^\]]*)\]", lambda found: found[1].replace("'", '"').replace(", ", " | "), annotation)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines)
