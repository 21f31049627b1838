"""The structure of a long text: what kind it is, and the blocks that it is made of.

    json, jsonl, table   rows (`rows.py`)            log       a record with the lines that belong to it
    code                 a symbol with its body      markdown  a heading with its section
    text                 a paragraph

A block knows whether it is critical: a record that reports a failure, a section or symbol that was asked for. Pure rules, no parser of
any language, linear in the size of the text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["json", "jsonl", "table", "log", "code", "markdown", "text"]


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a text. `title` is its first line; `critical` blocks are kept verbatim as long as they can be."""

    text: str
    title: str
    critical: bool = False


_RECORD = re.compile(
    r"^(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|[A-Z][a-z]{2} +\d{1,2} \d\d:\d\d:\d\d|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)\b|(?:=== RUN|--- (?:PASS|FAIL)|ok  |FAIL\b))"
)
FAILURE = re.compile(
    r"\b(?:error|errors|fail(?:ed|ure|ures)?|fatal|critical|panic|exception|traceback|assert(?:ion)?|abort(?:ed)?|denied|refused|timed? ?out|segfault|cannot|undefined)\b|Error\b|Exception\b",
    re.I,
)
"""Words of a line that reports a failure."""
_SYMBOL = re.compile(
    r"^(?:export |default |pub(?:\([a-z]+\))? |public |private |protected |static |async |abstract |final )*"
    r"(?:(?:def|class|func|fn|function|impl|struct|enum|trait|interface|type|module|namespace|const|let|var)\b.*[({:=;<]"
    r"|(?:package|import) [\w\"'{*.]|from \S+ import\b|use [\w:]+;|#include\b|@\w)"
)
_HEADING = re.compile(r"^#{1,6} \S")
_BEGINS: tuple[tuple[Kind, re.Pattern[str], float], ...] = (
    ("log", _RECORD, 0.3),
    ("markdown", _HEADING, 0.0),
    ("code", _SYMBOL, 0.01),
)
"""How a block of each kind begins, and the share of lines that must do so for a text to be of that kind."""
_SEPARATOR = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")


@dataclass(frozen=True, slots=True)
class Table:
    """A table: where it stands in the lines, its head, its rows, and how its cells are joined."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    separator: str

    def render(self, cells: Sequence[str]) -> str:
        """One row as a line."""
        return f"| {' | '.join(cells)} |" if self.separator == "|" else self.separator.join(cells)


def kind_of(text: str) -> Kind:
    """Return what kind of text it is; `text` when nothing tells."""
    start = text.lstrip()[:1]
    lines = [line for line in text.split("\n", 2_000)[:2_000] if line.strip()]
    if start in ("{", "["):
        if json_of(text) is not None:
            return "json"
        if len(lines) > 1 and all(line.lstrip().startswith(("{", "[")) for line in lines[:20]):
            return "jsonl"
    if table_of(text) is not None:
        return "table"
    for kind, pattern, share in _BEGINS:
        hits = sum(1 for line in lines if pattern.match(line))
        if hits >= 2 and hits >= share * len(lines):
            return kind
    return "text"


def json_of(text: str) -> Any | None:
    """The JSON object or array that `text` is, or None."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def json_lines_of(text: str) -> list[Any]:
    """The values of JSON lines; a line that is none stays a string."""
    values: list[Any] = []
    for line in text.split("\n"):
        if line.strip():
            value = json_of(line)
            values.append(line if value is None else value)
    return values


def table_of(text: str) -> Table | None:
    """The table that `text` is as a whole: of Markdown, or separated by tabs, semicolons or commas with one width throughout."""
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 3:
        return None
    if "|" in lines[0] and _SEPARATOR.match(lines[1]) and sum("|" in line for line in lines) == len(lines):
        cells = [tuple(cell.strip() for cell in line.strip().strip("|").split("|")) for line in lines]
        return Table(cells[0], tuple(cells[2:]), "|")
    for separator in ("\t", ";", ","):
        width = lines[0].count(separator)
        if width and all(line.count(separator) == width for line in lines):
            cells = [tuple(line.split(separator)) for line in lines]
            return Table(cells[0], tuple(cells[1:]), separator)
    return None


def blocks_of(text: str, kind: Kind, *, needed: Sequence[str] = ()) -> tuple[Block, ...]:
    """Return the blocks of a log, code, Markdown or plain text. Joined by newlines they are the text.

    `needed` are words: a block whose title holds one is critical.
    """
    lines = text.split("\n")
    begins = next((pattern for name, pattern, _ in _BEGINS if name == kind), None)
    groups: list[list[str]] = [[]]
    for n, line in enumerate(lines):
        begins_here = begins.match(line) if begins else n > 0 and line.strip() and not lines[n - 1].strip()
        if begins_here and groups[-1]:
            groups.append([])
        groups[-1].append(line)
    words = [word.casefold() for word in needed]
    return tuple(_block(group, kind, words) for group in groups)


def _block(lines: list[str], kind: Kind, words: Sequence[str]) -> Block:
    text = "\n".join(lines)
    title = next((line for line in lines if line.strip()), "")
    folded = title.casefold()
    critical = any(word in folded for word in words) or (kind == "log" and bool(FAILURE.search(text[:2_000])))
    return Block(text, title, critical)
