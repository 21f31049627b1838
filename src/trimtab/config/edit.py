"""Change one setting in a person's TOML file; all else of it, comments and blank lines too, stays as it was.

    file ──▶ text ──one key──▶ text ──parse──▶ just that key changed? ──structs──▶ no new mistake? ──▶ a file beside it, renamed over it

A new key is a line more and one that goes is a line less, so that what was set and is taken out again leaves the file as it was, byte for byte (but for a
table that was empty before). `tomlkit` changes values that stand there. The one rule: a file that is no TOML, or would have a mistake more after the change, is left as it is. Who writes at the same time waits.
"""

import copy
import os
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from trimtab.config.lines import statement_of
from trimtab.config.load import file_layer
from trimtab.config.mistakes import mistakes, show_path
from trimtab.config.settings import Settings
from trimtab.config.toml_text import value_text
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.private import make_private
from trimtab.types.errors import ConfigError, StoreError

Key: TypeAlias = tuple[str, ...]
_Change: TypeAlias = Callable[[str], str]
_BOM = "\ufeff"
_ABOVE = 4
"""Lines above a statement that may have come with it: headings of its table, and the blank ones before."""


@dataclass(frozen=True, slots=True)
class Target:
    """A file of settings that is changed. `lock` is the file that keeps writers apart, by default one beside it.

    With `within` (a real path) the file belongs to that folder and to whoever works in it: a link that leads out of there is refused.
    """

    file: Path
    lock: Path | None = None
    within: Path | None = None


def set_value(target: Path | Target, key: Key, value: Any) -> None:
    """Set the setting `key`; the file is made where there is none. Raises `ConfigError` when it can't be, and then nothing is changed."""
    _edit(target, key, lambda text: with_value(text, key, value))


def add_table(target: Path | Target, key: Key, values: Mapping[str, Any]) -> None:
    """Put a table there with these values, a line each. Raises `ConfigError` as `set_value` does, and where something stands at `key` already."""

    def change(text: str) -> str:
        if _value_at(tomllib.loads(text), key) is not None:
            raise ConfigError(f"{show_path(key)} is there already", hint="Take it out first, or choose another name.")
        for name, value in values.items():
            text = with_value(text, (*key, name), value)
        return text

    _edit(target, key, change)


def unset_value(target: Path | Target, key: Key) -> bool:
    """Take the setting `key` out; False when it wasn't there. Raises `ConfigError` as `set_value` does."""
    found = False

    def change(text: str) -> str:
        nonlocal found
        found = _value_at(tomllib.loads(text), key) is not None
        return without_value(text, key) if found else text

    _edit(target, key, change)
    return found


def add_to_list(target: Path | Target, key: Key, value: str) -> None:
    """Put `value` at the end of the list `key`, unless it is there. Raises `ConfigError` as `set_value` does."""

    def change(text: str) -> str:
        listed = _value_at(tomllib.loads(text), key)
        if listed is None:
            return with_value(text, key, [value])
        if not isinstance(listed, list):
            raise ConfigError(f"{'.'.join(key)} is no list", hint="Make it one, or set it as a whole.")
        if value in listed:
            return text
        document = tomlkit.parse(text)
        _table(document, key).get(key[-1]).append(value)
        return tomlkit.dumps(document)

    _edit(target, key, change)


def remove_from_list(target: Path | Target, key: Key, value: str) -> bool:
    """Take `value` out of the list `key`; False when it wasn't in there. Raises `ConfigError` as `set_value` does."""
    found = False

    def change(text: str) -> str:
        nonlocal found
        listed = _value_at(tomllib.loads(text), key)
        found = isinstance(listed, list) and value in listed
        return with_value(text, key, [item for item in listed if item != value]) if found else text

    _edit(target, key, change)
    return found


def with_value(text: str, key: Key, value: Any) -> str:
    """`text` with `key` set to `value`. Raises `ConfigError` where a part of the key is no table, or where no more than that can't be changed."""
    before = tomllib.loads(text)
    _require_tables(before, key)
    wanted = copy.deepcopy(before)
    tree = wanted
    for part in key[:-1]:
        tree = tree.setdefault(part, {})
    tree[key[-1]] = value
    if _value_at(before, key) is None:
        for candidate in _added(text, before, key, value_text(value)):
            if _parsed(candidate) == wanted:
                return candidate
    document = tomlkit.parse(text)
    _table(document, key)[key[-1]] = tomlkit.parse(f"v = {value_text(value)}")["v"]
    return _require(tomlkit.dumps(document), (wanted,), key)


def _added(text: str, before: dict[str, Any], key: Key, value: str) -> Iterator[str]:
    """`text` with a line more: behind the last of its table, below the heading of it, at the top, or in a table of its own at the end."""
    lines = text.split("\n")
    table = _value_at(before, key[:-1])
    own, whole = (f"{show_path(names)} = {value}" for names in (key[-1:], key))
    for start, end in _behind(text, table, key):
        indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
        for line in (own, whole):
            yield "\n".join([*lines[:end], indent + line, *lines[end:]])
    end_mark = "" if text and not text.endswith("\n") else "\n"
    begun = text + ("" if end_mark else "\n")
    if len(key) == 1:
        yield f"{begun}{own}{end_mark}"
        yield f"{own}\n\n{text}"
    elif table is None:
        gap = "\n" if text else ""
        yield f"{begun}{gap}[{show_path(key[:-1])}]\n{own}{end_mark}"


def _behind(text: str, table: Any, key: Key) -> Iterator[tuple[int, int]]:
    """The last statement that sets a plain value of the table, then the one that begins the table."""
    plain = [name for name, value in (table or {}).items() if not isinstance(value, dict)]
    found = [lines for name in plain if (lines := statement_of(text, (*key[:-1], name)))]
    if found:
        yield max(found)
    if len(key) > 1 and (heading := statement_of(text, key[:-1])):
        yield heading


def without_value(text: str, key: Key) -> str:
    """`text` without the value that stands at `key`: as it was before `with_value`, where that can be told. Raises `ConfigError` as that does."""
    before = tomllib.loads(text)
    value = _value_at(before, key)
    wanted = tuple(_without(before, key))
    candidates = [c for c in _cut(text, key) if _parsed(c) in wanted]
    for candidate in candidates:
        with suppress(ConfigError):
            if with_value(candidate, key, value) == text:
                return candidate
    if candidates:
        return candidates[-1]
    document = tomlkit.parse(text)
    _table(document, key).pop(key[-1])
    return _require(tomlkit.dumps(document), wanted, key)


def _cut(text: str, key: Key) -> Iterator[str]:
    """The text without the statement of `key` and what may have come with it, then with more and more of that: a heading above, blank lines beside."""
    found = statement_of(text, key)
    if found is None:
        return
    start, end = found
    lines = text.split("\n")
    blank_below = end < len(lines) - 1 and not lines[end].strip()
    for first in range(_came_with(lines, start), start + 1):
        for below in (0, 1) if blank_below else (0,):
            cut = "\n".join(lines[:first] + lines[end + below :])
            yield cut
            yield cut.removesuffix("\n")
    yield "\n".join(lines[:start] + lines[end:])


def _came_with(lines: list[str], start: int) -> int:
    """The first of the lines above `start` that are headings or blank."""
    first = start
    while first > max(start - _ABOVE, 0) and (
        not lines[first - 1].strip() or lines[first - 1].lstrip().startswith("[")
    ):
        first -= 1
    return first


def _without(tree: dict[str, Any], key: Key) -> Iterator[dict[str, Any]]:
    """The tree without `key`, and without the tables that are empty then."""
    tree = copy.deepcopy(tree)
    _parent(tree, key).pop(key[-1])
    yield copy.deepcopy(tree)
    for depth in range(len(key) - 1, 0, -1):
        if _value_at(tree, key[:depth]) != {}:
            return
        _parent(tree, key[:depth]).pop(key[depth - 1])
        yield copy.deepcopy(tree)


def _parent(tree: dict[str, Any], key: Key) -> dict[str, Any]:
    for part in key[:-1]:
        tree = tree[part]
    return tree


def _value_at(tree: Any, key: Key) -> Any:
    for part in key:
        tree = tree.get(part) if isinstance(tree, dict) else None
    return tree


def _require_tables(tree: dict[str, Any], key: Key) -> None:
    for at in range(1, len(key)):
        if not isinstance(_value_at(tree, key[:at]), dict | NoneType):
            raise ConfigError(
                f"{show_path(key[:at])} is a value, not a table", hint="Set that key, or take it out first."
            )


def _table(document: Any, key: Key) -> Any:
    """The table of the document that holds `key`, made where there is none."""
    for part in key[:-1]:
        if part not in document:
            document[part] = tomlkit.table()
        document = document[part]
    return document


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _require(text: str, wanted: tuple[dict[str, Any], ...], key: Key) -> str:
    if _parsed(text) not in wanted:
        raise ConfigError(
            f"{'.'.join(key)} can't be changed without changing more than that", hint="Edit the file by hand."
        )
    return text


def _edit(target: Path | Target, key: Key, change: _Change) -> None:
    target = Target(target) if isinstance(target, Path) else target
    real = Path(os.path.realpath(target.file))  # a link to a file in somebody's own repository stays one
    shared = target.within is not None
    try:
        if target.within is not None and not real.is_relative_to(target.within):
            raise ConfigError(
                f"{target.file} is a link that leads out of {target.within}", hint="Put a file there instead."
            )
        if shared:
            real.parent.mkdir(parents=True, exist_ok=True)
        else:
            make_private(real.parent)
        lock = target.lock or real.with_name(f".{real.name}.lock")
        make_private(lock.parent)
        with exclusive(lock):
            layer = file_layer(real, name="config")  # says better than tomlkit what is wrong with it
            before = real.read_bytes().decode("utf-8") if layer else ""
            after = _in_its_own_way(before, change)
            _require_no_new_mistake(layer.values if layer else {}, tomllib.loads(after.removeprefix(_BOM)), target.file)
            if after != before:
                _replace(real, after.encode(), mode=0o644 if shared else 0o600)
    except (OSError, StoreError, TOMLKitError, UnicodeEncodeError) as e:
        why = "what is no Unicode text can't be written" if isinstance(e, UnicodeEncodeError) else str(e)
        why = (e.strerror if isinstance(e, OSError) else None) or why
        raise ConfigError(
            f"{target.file} can't be changed: {why}", hint="Check the file's permissions, or edit it by hand."
        ) from None


def _require_no_new_mistake(before: dict[str, Any], after: dict[str, Any], file: Path) -> None:
    """What was wrong may stay: one mistake of several can be mended, or something else be changed."""
    known = {mistake.problem for mistake in mistakes(before, Settings)}
    for mistake in mistakes(after, Settings):
        if mistake.problem not in known:
            raise ConfigError(f"{mistake.problem} (in {file})", hint=mistake.hint)


def _in_its_own_way(text: str, change: _Change) -> str:
    """`text` changed, with the mark at its begin and the ends of its lines as they were."""
    mark = _BOM if text.startswith(_BOM) else ""
    body = text.removeprefix(_BOM)
    crlf = "\r\n" in body and body.count("\n") == body.count("\r\n")
    after = change(body.replace("\r\n", "\n") if crlf else body)
    return mark + (after.replace("\n", "\r\n") if crlf else after)


def _replace(file: Path, data: bytes, *, mode: int) -> None:
    mode = file.stat().st_mode & 0o777 if file.exists() else mode
    fd, name = tempfile.mkstemp(
        prefix=f".{file.name}.", suffix=".tmp", dir=file.parent
    )  # a name that nobody can have put there
    beside = Path(name)
    try:
        with open(fd, "wb") as out:
            out.write(data)
            out.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
        beside.replace(file)
    except OSError:
        beside.unlink(missing_ok=True)
        raise
