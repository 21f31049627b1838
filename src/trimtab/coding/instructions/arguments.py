r"""What stands behind a template's name, put into its text.

    $1 $2 …       one argument; nothing where there is none      ${1:-default}   one argument, or else the default
    $@ $ARGUMENTS all of them, as they were typed                 ${@:2:3}        three of them from the second on; ${@:2} all from there
    \$            a dollar sign

What was put in is never looked through again.
"""

import re
import shlex
from collections.abc import Sequence

_PLACE = re.compile(
    r"""\\(?P<escaped>\$)
      | \$\{(?P<default_of>\d+|@|ARGUMENTS):-(?P<default>[^}]*)\}
      | \$\{@:(?P<first>\d+)(?::(?P<count>\d+))?\}
      | \$\{(?P<braced>\d+|@|ARGUMENTS)\}
      | \$(?P<plain>\d+|@|ARGUMENTS\b)""",
    re.VERBOSE,
)


def words_of(typed: str) -> tuple[str, ...]:
    """The arguments in what was typed: quotes keep blanks; where they don't pair, every blank parts."""
    try:
        return tuple(shlex.split(typed))
    except ValueError:
        return tuple(typed.split())


def fill(text: str, typed: str) -> str:
    """`text` with what was typed in its places; behind it where it has none."""
    typed = typed.strip()
    words = words_of(typed)
    used = False

    def place(found: re.Match[str]) -> str:
        nonlocal used
        if found["escaped"]:
            return "$"
        used = True
        if found["first"] is not None:
            start = max(0, int(found["first"]) - 1)
            end = None if found["count"] is None else start + int(found["count"])
            return " ".join(words[start:end])
        named = found["default_of"] or found["braced"] or found["plain"]
        return _one(named, words, typed) or found["default"] or ""

    filled = _PLACE.sub(place, text)
    return filled if used or not typed else f"{filled.rstrip()}\n\n{typed}"


def _one(name: str, words: Sequence[str], typed: str) -> str:
    if not name.isdecimal():
        return typed
    number = int(name) if len(name) < 6 else 0
    return words[number - 1] if 0 < number <= len(words) else ""
