"""The settings in force, leaf by leaf, each with where it comes from.

    Loaded ──walk of the structs──▶ Row(key, value, origin) ──▶ "tools.bash.timeout_s = 60.0", "user config (…), line 3"

All of it is derived from the structs, so a new section is here by itself. The one rule: the value of a secret never becomes part of a row.
"""

import datetime
import re
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from trimtab.config.lines import line_of
from trimtab.config.load import Layer, Loaded
from trimtab.config.mistakes import element_of, fields_of, options_of
from trimtab.config.settings import Settings
from trimtab.context.summary.redact import redact
from trimtab.types.text import scrub_deep

Key: TypeAlias = tuple[str | int, ...]
SET = "(set)"
"""What is said in place of a secret."""
_SECRET_NAME = re.compile(r"(?:^|[_-])(?:api[_-]?key|key|token|secret|password|authorization)$", re.I)
_LOGIN = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: a layer's name as people read it (`user config (FILE)`, `environment (NAME)`, `--set KEY`), and in a file the line of its statement, where that is certain."""

    name: str
    file: Path | None = None
    line: int | None = None

    def __str__(self) -> str:
        return self.name if self.line is None else f"{self.name}, line {self.line}"


@dataclass(frozen=True, slots=True)
class Row:
    """One value. `value` holds no secret; None: nothing is set. Without an `origin` it is the default."""

    key: Key
    value: Any
    origin: Origin | None = None
    secret: bool = False


def in_force(loaded: Loaded) -> tuple[Row, ...]:
    """Every leaf of the settings, in the order of the structs, defaults too."""
    rows = _walk(loaded.settings, Settings, (), secret=False)
    said = (row for row in rows if row.value is not None or all(isinstance(part, str) for part in row.key))
    return tuple(replace(row, origin=origin_of(loaded, row.key)) for row in said)


def secret_values(loaded: Loaded) -> Iterator[str]:
    """The texts of which rows say only that they are set: for whoever has to find them elsewhere, and shows none."""
    for row in _walk(loaded.settings, Settings, (), secret=False):
        if row.secret:
            value: Any = loaded.settings
            for part in row.key:
                value = getattr(value, str(part)) if isinstance(value, msgspec.Struct) else value[part]
            if isinstance(value, str):
                yield value


def origin_of(loaded: Loaded, key: Key) -> Origin | None:
    """Where the value at `key` comes from; None for a default."""
    named = tuple(part for part in key[: _first_place(key)] if isinstance(part, str))
    layer = next((layer for layer in reversed(loaded.layers) if _holds(layer, named)), None)
    if layer is None:
        return None
    return Origin(layer.name, layer.file, line_of(layer.text, key) if layer.file else None)


def harmless(value: Any, *, name: str = "") -> Any:
    """`value` without what opens a door: texts under a secret's name, logins in addresses, keys of known shapes."""
    match value:
        case str():
            return SET if _SECRET_NAME.search(name) and value else redact(_LOGIN.sub(SET, value))
        case list() | tuple():
            return [harmless(inner, name=name) for inner in value]
        case Mapping():
            return {str(key): harmless(inner, name=str(key)) for key, inner in value.items()}
        case _:
            return value


def _walk(value: Any, kind: Any, key: Key, *, secret: bool) -> Iterator[Row]:
    kind = next((option for option in options_of(kind) if option is not types.NoneType), kind)
    secret = secret or _is_secret(kind)
    fields, element = fields_of(kind), element_of(kind)
    if fields and value is not None:
        for name, inner in fields.items():
            yield from _walk(getattr(value, name), inner, (*key, name), secret=secret)
    elif typing.get_origin(kind) is dict and isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _walk(inner, element, (*key, name), secret=secret)
    elif fields_of(element) and isinstance(value, tuple):
        for at, inner in enumerate(value):
            yield from _walk(inner, element, (*key, at), secret=secret)
    elif not fields:
        name = next((part for part in reversed(key) if isinstance(part, str)), "")
        plain = scrub_deep(msgspec.to_builtins(value, builtin_types=_TIMES))
        shown = harmless(plain, name="" if name.endswith("_env") else name)
        yield Row(key, SET if secret and value is not None else shown, secret=secret or shown == SET)


_TIMES = (datetime.datetime, datetime.date, datetime.time)


def _is_secret(kind: Any) -> bool:
    if typing.get_origin(kind) is not typing.Annotated:
        return False
    return any(isinstance(part, msgspec.Meta) and (part.extra or {}).get("secret") for part in typing.get_args(kind))


def _first_place(key: Key) -> int:
    """How many names stand before the first place in a list: a list is set as a whole."""
    return next((at for at, part in enumerate(key) if isinstance(part, int)), len(key))


def _holds(layer: Layer, key: tuple[str, ...]) -> bool:
    tree: Any = layer.values
    for part in key:
        if not isinstance(tree, Mapping) or part not in tree:
            return False
        tree = tree[part]
    return True
