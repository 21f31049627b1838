"""Where in a TOML file a setting stands, for messages.

A line is named only if the parser itself proves it: the text before it is valid TOML without the setting, and with the statement that begins there it
is valid TOML with it.
"""

import tomllib
from typing import Any

from trimtab.config.mistakes import Path

_TRIED = 20
_STATEMENT_LINES = 100


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, on which the statement that sets `path` begins; None when it can't be told for certain."""
    lines = text.split("\n")
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    candidates = [at for at, line in enumerate(lines) if name and name in line]
    for at in candidates[:_TRIED]:
        before = _parse(lines[:at])
        if before is None or _holds(before, path):
            continue
        for end in range(at + 1, min(at + _STATEMENT_LINES, len(lines)) + 1):
            after = _parse(lines[:end])
            if after is not None:
                if _holds(after, path):
                    return at + 1
                break
    return None


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
