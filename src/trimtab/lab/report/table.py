"""A table as data: columns that say how their cells are written, rows, and what it is made of. The page, the CSV file and the JSON file are written from it alone.

Cells are words, numbers, intervals, or nothing; a column's `form` says how a number is told:

    count  1,234      share  12.3 %      change  −4.5 %      number  0.123      signed  +0.123      points  +1.2      decimal  1.23      text
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.bearing import bounded, known

Form: TypeAlias = Literal["text", "count", "share", "change", "number", "signed", "points", "decimal"]
Cell: TypeAlias = str | float | Interval | None
NOTHING = "–"
"""What stands in a cell without a figure."""
_MINUS = "\u2212"
_BESIDE = "-tables"


def tables_beside(page: Path) -> Path:
    """Return the folder of a page's tables."""
    return page.with_name(f"{page.stem}{_BESIDE}")


def is_table(file: Path) -> bool:
    """Whether a file is a table that lies beside a page: none is read as what a page is made of, though it may have the name of that."""
    return file.parent.name.endswith(_BESIDE) and file.with_suffix(".csv").is_file()


@dataclass(frozen=True, slots=True)
class Column:
    """`key` names it in files, `title` on the page; `about` is one line for whoever doesn't know it."""

    key: str
    title: str
    form: Form = "text"
    about: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """`name` is its file's, `scope` says tier, part, n and seeds. `marks`: rows to be seen first, by their number. `missing`: why it has no rows, where it has none."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Cell], ...]
    scope: str = ""
    about: str = ""
    marks: frozenset[int] = frozenset()
    missing: str = ""

    def as_csv(self) -> str:
        """Return it as CSV; an interval takes three columns, of which the last two are its ends."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        plain = [_plain(row, self.columns) for row in self.rows]
        names = list(dict.fromkeys(name for row in plain for name in row)) or [column.key for column in self.columns]
        writer.writerow(names)
        writer.writerows([row.get(name, "") for name in names] for row in plain)
        return out.getvalue()

    def as_json(self) -> bytes:
        """Return it as JSON: what it says of itself, and a record a row."""
        said = {"name": self.name, "title": self.title, "scope": self.scope, "about": self.about}
        if self.missing:
            said["missing"] = self.missing
        columns = {column.key: column.about or column.title for column in self.columns}
        rows = [_plain(row, self.columns) for row in self.rows]
        return msgspec.json.format(msgspec.json.encode({**said, "columns": columns, "rows": rows})) + b"\n"


def _plain(row: Mapping[str, Cell], columns: Sequence[Column]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for column in columns:
        cell = row.get(column.key)
        if isinstance(cell, Interval):
            found |= {
                column.key: _finite(cell.value),
                f"{column.key}_low": _finite(cell.low),
                f"{column.key}_high": _finite(cell.high),
            }
        else:
            found[column.key] = _finite(cell) if isinstance(cell, float) else cell
    return found


def _finite(value: float) -> float | None:
    return round(value, 6) if math.isfinite(value) else None


def told(cell: Cell, form: Form) -> str:
    """Return a cell as a person reads it."""
    match cell:
        case None:
            return NOTHING
        case str():
            return cell
        case Interval():
            return _interval(cell, form)
        case _:
            return number(cell, form)


def _interval(cell: Interval, form: Form) -> str:
    if not known(cell):
        return NOTHING
    value = number(cell.value, form)
    if not bounded(cell):
        return f"{value} [{NOTHING}]"
    low, high = (number(end, form).removesuffix(" %") for end in (cell.low, cell.high))
    return f"{value} [{low}, {high}]"


def number(value: float, form: Form) -> str:
    """Return a number as its form says; what isn't one is a dash."""
    if not math.isfinite(value):
        return NOTHING
    match form:
        case "count":
            text = f"{value:,.0f}"
        case "share":
            text = f"{100 * value:.1f} %"
        case "change":
            text = f"{100 * value:+.1f} %"
        case "points":
            text = f"{100 * value:+.1f}"
        case "signed":
            text = f"{value:+.3f}"
        case "decimal":
            text = f"{value:,.2f}"
        case _:
            text = f"{value:.3f}"
    return _unsigned_zero(text).replace("-", _MINUS)


def _unsigned_zero(text: str) -> str:
    """Nothing, rounded, has no sign."""
    return text[1:] if text[:1] in "+-" and not any(digit in text for digit in "123456789") else text
