"""Front matter: a few YAML fields in front of a Markdown text, between two lines of three dashes.

---                         every value is text, a list or a table of texts: no type is guessed and no tag means anything,
name: pdf-processing        so nothing in it can act; without anchors (which can stand for gigabytes), without escapes that spell what nobody sees, not deep, not long
description: |
  Fills forms.
---
The text.
"""

import json
import re
from collections.abc import Iterator
from typing import TypeAlias

from trimtab.coding.telling.hidden import invisible_text

Field: TypeAlias = "str | list[Field] | dict[str, Field]"

_BLOCK = re.compile(r"\s*---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LINE = re.compile(r"^([A-Za-z][\w-]*):[ \t]+(?![|>&*!])(.*\S)[ \t]*$", re.MULTILINE)
_LONGEST = 16_384
_DEEPEST = 20


class BadFrontMatter(Exception):
    """The fields can't be read; the text says why."""


class _NoYaml(BadFrontMatter):
    pass


def split(text: str) -> tuple[dict[str, Field], str]:
    """The fields and the text behind them; no fields when there is no front matter. Raises `BadFrontMatter`."""
    found = _BLOCK.match(text)
    if found is None:
        if re.match(r"\s*---[ \t]*\n", text):
            raise BadFrontMatter("its front matter has no end (a line of three dashes)")
        return {}, text
    return _fields(found[1]), text[found.end() :]


def _fields(block: str) -> dict[str, Field]:
    if len(block) > _LONGEST:
        raise BadFrontMatter(f"its front matter has more than {_LONGEST:,} characters")
    try:
        value = _parsed(block)
    except _NoYaml as first:
        try:
            value = _parsed(_LINE.sub(_as_text, block))
        except _NoYaml:
            raise first from None
    if not isinstance(value, dict):
        raise BadFrontMatter("its front matter is no table of fields")
    if any(map(invisible_text, _texts(value))):
        raise BadFrontMatter("its front matter spells text that nobody sees, in escapes")
    return value


def _texts(value: Field) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    else:
        for key, one in value.items():
            yield key
            yield from _texts(one)


def _as_text(line: re.Match[str]) -> str:
    """`description: Use when: …` and `argument-hint: [a] [b]` are no YAML, and what many write: such a value is taken as it stands."""
    try:
        _parsed(line[0])
    except _NoYaml:
        return f"{line[1]}: {json.dumps(line[2], ensure_ascii=False)}"
    return line[0]


def _parsed(block: str) -> "Field | None":
    import yaml  # noqa: PLC0415 - only who has skills or templates pays for it

    # The same, and several times as fast, where PyYAML was built with it.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    depth = 0
    try:
        for event in yaml.parse(block, Loader=loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise BadFrontMatter("its front matter has anchors or aliases, which aren't taken")
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:
                raise BadFrontMatter("its front matter is nested too deeply")
        value: Field | None = yaml.load(block, Loader=loader)
    except yaml.MarkedYAMLError as error:
        place = f" (line {error.problem_mark.line + 2})" if error.problem_mark else ""
        raise _NoYaml(f"its front matter is no YAML: {error.problem}{place}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise _NoYaml(f"its front matter is no YAML: {error}") from None
    return value
