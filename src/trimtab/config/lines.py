"""Where in a TOML file a setting stands, for messages and for changes.

A statement is named only if the parser itself proves it: the text before it is valid TOML without the setting, and with the statement that begins
there it is valid TOML with it.
"""

import tomllib
from collections.abc import Iterator
from typing import Any

from trimtab.config.mistakes import Path

_TRIED = 20
_STATEMENT_LINES = 100


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, on which the statement that sets `path` begins; None when it can't be told for certain."""
    found = statement_of(text, path)
    return None if found is None else found[0] + 1


def statement_of(text: str, path: Path) -> tuple[int, int] | None:
    """The lines, from 0, of the statement that sets `path`, and the one behind it; None when they can't be told for certain."""
    lines = text.split("\n")
    for at in _candidates(lines, path):
        before = _parse(lines[:at])
        if before is None or _holds(before, path):
            continue
        for end in range(at + 1, min(at + _STATEMENT_LINES, len(lines)) + 1):
            after = _parse(lines[:end])
            if after is not None:
                if _holds(after, path):
                    return at, end
                break
    return None


def _candidates(lines: list[str], path: Path) -> Iterator[int]:
    """Lines that hold the last name of the path, then those with an outer one: a statement may set a whole list of tables."""
    for name in dict.fromkeys(part for part in reversed(path) if isinstance(part, str) and part):
        yield from [at for at, line in enumerate(lines) if name in line][:_TRIED]


def _parse(lines: list[str]) -> dict[str, Any] | None:
    try:
        return tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _holds(tree: Any, path: Path) -> bool:
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True
