"""Data of many rows (JSON, JSON lines, tables): every row survives as long as it can, with the fields that are needed.

    all of it ─▶ long texts and lists shortened ─▶ harder ─▶ needed and naming fields only ─▶ needed fields as a table ─▶ fewer rows

The first form that fits is taken. First and last rows that were asked for stay whole as long as a form fits with them; in a table that shows only some columns they
have only those. What is missing is said in the text and beside it: how many rows were kept of how many.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.context.summary.fit import Count, fit

_NAMING = ("id", "name", "sku", "title", "key", "code", "slug", "path", "symbol")
"""Fields that say which row it is, most telling first."""


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
class _Kept:
    """What is never shortened: fields by name or dotted path, and objects by their identity."""

    fields: frozenset[str]
    objects: frozenset[int]


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of a value stays: characters of a text, elements of a list that holds no rows.

    `short_only`: fields with longer texts or lists go altogether. `needed_only`: all fields but the needed and the naming ones go.
    """

    text: int
    elements: int
    short_only: bool = False
    needed_only: bool = False


_DETAILS = (
    _Detail(400, 20),
    _Detail(120, 5),
    _Detail(40, 0),
    _Detail(120, 5, needed_only=True),
    _Detail(40, 0, short_only=True),
    _Detail(40, 0, needed_only=True, short_only=True),
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

    `keep_first` and `keep_last` rows of the longest list stay whole as long as all rows fit beside them in some form, or, where not all do, as long as they take half of
    the room at most; they go last. Without them both ends share what room there is.
    """
    needed = frozenset(keep_fields)
    rows, holders = _longest(value)
    asked = frozenset((*range(len(rows))[:keep_first], *range(len(rows))[max(0, len(rows) - keep_last) :]))
    whole_rows = frozenset(id(holder) for n, holder in enumerate(holders) if n in asked)
    whole = _dump(value)
    if _fits(whole, max_tokens, count):
        return Rows(whole, len(rows), len(rows))
    for whole_ids in (whole_rows, frozenset[int]()) if whole_rows else (whole_rows,):
        for detail in _DETAILS:
            if detail.needed_only and not needed:
                continue
            text = _dump(_reduce(value, _Kept(needed, whole_ids), detail, ()))
            if _fits(text, max_tokens, count):
                return Rows(text, len(rows), len(rows))
    lines = [_line(row, needed) for row in rows]
    full = {n: _dump(rows[n]) for n in asked}
    if _fits("\n".join(full.values()), max_tokens // 2, count):
        lines = [full.get(n, line) for n, line in enumerate(lines)]
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
    """Return a table in at most `max_tokens`: first long cells give way, then columns that nobody needs, then rows.

    The cells of `keep_first` and `keep_last` rows give way after those of all others.
    """
    needed = {field.casefold() for field in keep_fields}
    kept = [n for n, name in enumerate(head) if name.strip().casefold() in needed]
    columns = tuple(sorted({0, *kept})) if kept else tuple(range(len(head)))
    every = tuple(range(len(head)))
    asked = frozenset((*range(len(rows))[:keep_first], *range(len(rows))[max(0, len(rows) - keep_last) :]))
    forms: list[tuple[Sequence[int], int, frozenset[int]]]
    forms = [(shown, width, asked) for shown, width in ((every, 400), (every, 60)) if asked]
    forms += [(shown, width, frozenset[int]()) for shown, width in ((every, 400), (every, 60))]
    forms += [(columns, 120, asked), (columns, 40, frozenset[int]())]
    text = ""
    for shown, width, whole in forms:
        lines = [
            render([_cell(row, n, width, whole=n in kept or at in whole) for n in shown]) for at, row in enumerate(rows)
        ]
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


def _longest(value: Any) -> tuple[list[Any], list[Any]]:
    """The longest list of objects in `value`, or the elements of an object of objects; else one row, the value itself.

    Beside the rows those objects as they stand in `value`, without the key that a row has; none for the value itself.
    """
    best: list[Any] = []
    holders: list[Any] = []
    todo = [value]
    while todo:
        here = todo.pop()
        inside = list(here.values()) if isinstance(here, dict) else here if isinstance(here, list) else []
        objects = [item for item in inside if isinstance(item, dict)]
        if len(objects) > len(best) and (isinstance(here, list) or len(objects) == len(inside) > 3):
            best = [{"key": k, **v} for k, v in here.items()] if isinstance(here, dict) else objects
            holders = objects
            continue
        todo.extend(inside)
    return (best, holders) if best else ([value], [])


def _reduce(value: Any, kept: _Kept, detail: _Detail, path: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return value if id(value) in kept.objects else _reduce_object(value, kept, detail, path)
    if isinstance(value, list):
        holds_rows = _holds_kept(value, kept) or (
            not kept.fields and any(isinstance(item, dict) for item in value) and not path[1:]
        )
        shown = value if holds_rows else value[: detail.elements]
        reduced = [_reduce(item, kept, detail, path) for item in shown]
        return reduced if len(shown) == len(value) else [*reduced, f"… {len(value) - len(shown)} more"]
    if isinstance(value, str) and len(value) > detail.text:
        return f"{value[: detail.text]}… ({len(value)} characters)"
    return value


def _reduce_object(value: dict[str, Any], kept: _Kept, detail: _Detail, path: tuple[str, ...]) -> Any:
    naming = _naming(value)
    reduced: dict[str, Any] = {}
    for name, item in value.items():
        here = (*path, name)
        if _is_needed(here, kept.fields):
            reduced[name] = item
        elif name in naming or _stays(item, detail, kept, top=not path):
            reduced[name] = _reduce(item, kept, detail, here)
    return reduced


def _stays(item: Any, detail: _Detail, kept: _Kept, *, top: bool) -> bool:
    if _holds_kept(item, kept):
        return True
    if detail.needed_only:
        return False
    return not detail.short_only or (top and _holds_rows(item)) or _is_short(item, detail.text)


def _is_short(item: Any, width: int) -> bool:
    return not isinstance(item, dict | list) and len(str(item)) <= width


def _holds_rows(item: Any) -> bool:
    """Whether an object or list has objects in it, so that it may hold the rows themselves."""
    inside = item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
    return any(isinstance(part, dict | list) for part in inside)


def _naming(row: dict[str, Any]) -> tuple[str, ...]:
    """The fields that say which row it is: at most two, such as a number and a name."""
    return tuple(name for name in _NAMING if name in row and not isinstance(row[name], dict | list))[:2]


def _is_needed(path: tuple[str, ...], needed: frozenset[str]) -> bool:
    return path[-1] in needed or any(".".join(path[n:]) in needed for n in range(len(path) - 1))


def _holds_kept(value: Any, kept: _Kept) -> bool:
    """Whether something that stays as it is is somewhere inside; of a dotted path its last name counts."""
    if not kept.fields and not kept.objects:
        return False
    names = {name.rpartition(".")[2] for name in kept.fields}
    todo = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            if id(here) in kept.objects or names & here.keys():
                return True
            todo.extend(here.values())
        elif isinstance(here, list):
            todo.extend(here)
    return False


def _line(row: Any, needed: frozenset[str]) -> str:
    """A row in the least words: its name and its needed fields, or the beginnings of its plain ones."""
    if not isinstance(row, dict):
        return _clip(_dump(row), 200)
    naming = [name for name in _naming(row) if name not in needed]
    found = list(_needed_values(row, needed, ()))
    if not needed:
        found = [(k, v) for k, v in row.items() if k not in naming and _is_short(v, 40)]
    cells = [_clip(str(row[name]), 80) for name in naming]
    return " | ".join((*cells, *(f"{name}={_dump(value)}" for name, value in found)))


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
