"""Pages: texts of about a size, made of lines, with lines that matter somewhere among them.

Sizes are given in characters, because a count of tokens depends on who counts. `CHARS` says how many characters of a material make a token,
about: measured with the guess for `o200k_base`.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeAlias

Line: TypeAlias = Callable[[Random], str]
"""Draws one line (or paragraph) of a material."""

CHARS = {
    "prose": 5.0,
    "log": 2.8,
    "code": 3.5,
    "table": 2.4,
    "measures": 2.2,
    "changes": 2.7,
    "json": 2.85,
    "document": 4.3,
}
"""Characters a token, by material."""


def page(rng: Random, line: Line, chars: int, keys: Sequence[str] = (), *, head: str = "", gap: str = "\n") -> str:
    """Return a page of about `chars` characters. `keys` stand in it as lines of their own, in their order, anywhere.

    Where lines are separated by an empty one, the last of them is cut to size: a chunk of a document ends anywhere.
    """
    left = chars - len(head) - sum(map(len, keys))
    lines: list[str] = []
    end = 0
    while left > 0 or not (lines or keys):
        drawn = line(rng)
        if gap == "\n\n" and len(drawn) > left > 0:
            drawn, end, left = drawn[: max(left, 20)].rpartition(" ")[0], 1, 0
        elif lines and len(drawn) > 2 * left:
            break
        lines.append(drawn)
        left -= len(drawn) + len(gap)
    places = sorted((rng.randint(0, len(lines) - end) for _ in keys), reverse=True)
    for at, key in zip(places, reversed(keys), strict=True):
        lines.insert(at, key)
    return gap.join([*([head] if head else []), *lines])
