"""Data of many rows (JSON, JSON lines, tables): every row survives as long as it can, with the fields that are needed.

    all of it ─▶ long texts and lists shortened ─▶ harder ─▶ needed and naming fields only ─▶ needed fields as a table ─▶ fewer rows

The first form that fits is taken. What is missing is said in the text and beside it: how many rows were kept of how many.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.context.summary.fit import Count, fit

_NAMING = ("id", "name", "sku", "title", "key", "code", "slug", "path", "symbol")
"""Fields that say which row it is; the first one that a row has is kept with the needed ones."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A shortened document of rows. `complete`: every row is there."""

    text: str
    kept: int
    total: int

    @property
    def complete(self) -> bool:
        """Whether every row is in the text."""
        return self.kept == self.total


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of a value stays: characters of a text, elements of a list that holds no rows, and whether only needed fields do."""

    text: int
    elements: int
    needed_only: bool = False


_DETAILS = (
    _Detail(400, 20),
    _Detail(120, 5),
    _Detail(40, 0),
    _Detail(120, 5, needed_only=True),
    _Detail(40, 0, needed_only=True),
)


def shorten_json(
    value: Any,
    *,
    max_tokens: int,
    count: Count,
    keep_fields: Sequence[str] = (),
    keep_first: int = 0,
    keep_last: int = 0,
) -> Rows:
    """Return a JSON value in at most `max_tokens`. `keep_fields` are names of fields, or dotted paths; they are never shortened.

    `keep_first` and `keep_last` rows of the longest list stay when not all rows can; without them both ends share what room there is.
    """
    needed = frozenset(keep_fields)
    rows = _longest(value)
    whole = _dump(value)
    if _fits(whole, max_tokens, count):
        return Rows(whole, len(rows), len(rows))
    for detail in _DETAILS:
        if detail.needed_only and not needed:
            continue
        text = _dump(_reduce(value, needed, detail, ()))
        if _fits(text, max_tokens, count):
            return Rows(text, len(rows), len(rows))
    lines = [_line(row, needed) for row in rows]
    head = f"{len(rows)} rows: {', '.join(keep_fields)}" if needed else f"{len(rows)} rows"
    return fewer_rows(head, lines, max_tokens=max_tokens, count=count, keep_first=keep_first, keep_last=keep_last)


def shorten_table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    render: Callable[[Sequence[str]], str],
    max_tokens: int,
    count: Count,
    keep_fields: Sequence[str] = (),
    keep_first: int = 0,
    keep_last: int = 0,
) -> Rows:
    """Return a table in at most `max_tokens`: first long cells give way, then columns that nobody needs, then rows."""
    needed = {field.casefold() for field in keep_fields}
    kept = [n for n, name in enumerate(head) if name.strip().casefold() in needed]
    columns = sorted({0, *kept}) if kept else list(range(len(head)))
    text = ""
    for shown, width in ((range(len(head)), 400), (range(len(head)), 60), (columns, 120), (columns, 40)):
        lines = [render([_cell(row, n, width, whole=n in kept) for n in shown]) for row in rows]
        text = render([head[n] for n in shown])
        if _fits("\n".join((text, *lines)), max_tokens, count):
            return Rows("\n".join((text, *lines)), len(rows), len(rows))
    return fewer_rows(text, lines, max_tokens=max_tokens, count=count, keep_first=keep_first, keep_last=keep_last)


def fewer_rows(
    head: str, lines: Sequence[str], *, max_tokens: int, count: Count, keep_first: int = 0, keep_last: int = 0
) -> Rows:
    """Return `head` and as many lines as fit, from both ends, with a note in place of the others."""
    total = len(lines)

    def shown(number: int) -> str:
        last = min(keep_last, number) if keep_first or keep_last else number // 2
        first = number - last
        note = [f"[… {total - number:,} of {total:,} rows left out …]"] if number < total else []
        return "\n".join((*([head] if head else []), *lines[:first], *note, *lines[total - last :]))

    low, high = 0, total
    while low < high:
        middle = (low + high + 1) // 2
        if _fits(shown(middle), max_tokens, count):
            low = middle
        else:
            high = middle - 1
    return Rows(fit(shown(low), max_tokens=max_tokens, count=count).text, low, total)


def _fits(text: str, max_tokens: int, count: Count) -> bool:
    return len(text) <= 8 * max_tokens and count(text) <= max_tokens


def _longest(value: Any) -> list[Any]:
    """The longest list of objects in `value`, or the elements of an object of objects; else one row, the value itself."""
    best: list[Any] = []
    todo = [value]
    while todo:
        here = todo.pop()
        inside = list(here.values()) if isinstance(here, dict) else here if isinstance(here, list) else []
        objects = [item for item in inside if isinstance(item, dict)]
        if len(objects) > len(best) and (isinstance(here, list) or len(objects) == len(inside) > 3):
            best = [{"key": k, **v} for k, v in here.items()] if isinstance(here, dict) else objects
            continue
        todo.extend(inside)
    return best or [value]


def _reduce(value: Any, needed: frozenset[str], detail: _Detail, path: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return _reduce_object(value, needed, detail, path)
    if isinstance(value, list):
        holds_rows = (
            _holds_needed(value, needed) if needed else any(isinstance(item, dict) for item in value) and not path[1:]
        )
        shown = value if holds_rows else value[: detail.elements]
        reduced = [_reduce(item, needed, detail, path) for item in shown]
        return reduced if len(shown) == len(value) else [*reduced, f"… {len(value) - len(shown)} more"]
    if isinstance(value, str) and len(value) > detail.text:
        return f"{value[: detail.text]}… ({len(value)} characters)"
    return value


def _reduce_object(value: dict[str, Any], needed: frozenset[str], detail: _Detail, path: tuple[str, ...]) -> Any:
    naming = next((name for name in _NAMING if name in value), None)
    reduced: dict[str, Any] = {}
    for name, item in value.items():
        here = (*path, name)
        if _is_needed(here, needed):
            reduced[name] = item
        elif not detail.needed_only or name == naming or _holds_needed(item, needed):
            reduced[name] = _reduce(item, needed, detail, here)
    return reduced


def _is_needed(path: tuple[str, ...], needed: frozenset[str]) -> bool:
    return path[-1] in needed or any(".".join(path[n:]) in needed for n in range(len(path) - 1))


def _holds_needed(value: Any, needed: frozenset[str]) -> bool:
    """Whether a needed field is somewhere inside; of a dotted path its last name counts."""
    names = {name.rpartition(".")[2] for name in needed}
    todo = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            if names & here.keys():
                return True
            todo.extend(here.values())
        elif isinstance(here, list):
            todo.extend(here)
    return False


def _line(row: Any, needed: frozenset[str]) -> str:
    """A row in the least words: its name and its needed fields, or the beginnings of its plain ones."""
    if not isinstance(row, dict):
        return _clip(_dump(row), 200)
    naming = next((name for name in _NAMING if name in row), None)
    found = list(_needed_values(row, needed, ()))
    if not needed:
        found = [(k, v) for k, v in row.items() if not isinstance(v, dict | list) and k != naming]
    cells = [_clip(str(row[naming]), 80)] if naming and naming not in needed else []
    cells += [f"{name}={_dump(value) if needed else _clip(_dump(value), 40)}" for name, value in found]
    return " | ".join(cells)


def _needed_values(value: Any, needed: frozenset[str], path: tuple[str, ...]) -> Iterable[tuple[str, Any]]:
    for name, item in value.items() if isinstance(value, dict) else ():
        here = (*path, name)
        if _is_needed(here, needed):
            yield ".".join(here), item
        else:
            yield from _needed_values(item, needed, here)


def _cell(row: Sequence[str], column: int, width: int, *, whole: bool) -> str:
    text = row[column] if column < len(row) else ""
    return text if whole else _clip(text, width)


def _clip(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[:width]}…"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
