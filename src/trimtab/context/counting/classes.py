"""How much of each kind of character a text holds: the ground on which sizes are guessed without a tokenizer.

    text ──UTF-8──▶ masks (one `bytes.translate` each) ──`bytes.count`──▶ counts ──· weights──▶ tokens

A tokenizer cuts between kinds of characters and splits what is rare. So words, long words, capitals, digits, signs, indentation, lines and
each script are counted apart, and a table of weights, fitted on real texts, says what each costs (`weights.py`). There is no loop over
characters here: every count is one pass of compiled code over a mask, and only what has a weight is counted.

The one rule: every count only grows when text is appended, and no weight is negative; so no text has fewer tokens than its head.
"""

from functools import cache
from typing import TypeAlias

CLASSES = (
    "word",
    "long",
    "upper",
    "hump",
    "digit",
    "number",
    "punct",
    "signs",
    "gap",
    "indent",
    "line",
    "control",
    "latin",
    "script",
    "kana",
    "han",
    "hangul",
    "symbol",
    "astral",
)
"""What is counted, in the order of weights.

word: runs of Latin letters; long: pieces of five letters inside them; upper: capitals; hump: a small letter before a capital; digit;
number: runs of digits; punct: ASCII signs; signs: runs of them; gap: blanks before a digit; indent: whitespace behind whitespace; line:
line ends; control: other control characters; latin: accented Latin letters; script: letters of other alphabets (Greek, Cyrillic, Hebrew,
Arabic, Indic, Thai); kana (and CJK punctuation); han; hangul; symbol: arrows, boxes, dashes, typographic quotes; astral: emoji and whatever
else takes four bytes. Base64, hex and hashes need no class of their own: capitals, humps and short runs of digits give them away.
"""

Weights: TypeAlias = tuple[float, ...]
"""Tokens for each thing counted, in the order of `CLASSES`; none negative."""


def weights(**by_class: float) -> Weights:
    """Return weights in the order of `CLASSES`; a class that isn't named costs nothing."""
    unknown = set(by_class) - set(CLASSES)
    if unknown:
        raise ValueError(f"no such classes of characters: {sorted(unknown)!r}")
    return tuple(by_class.get(name, 0.0) for name in CLASSES)


def weigh(text: str, costs: Weights) -> float:
    """Return the tokens that the characters of `text` come to. Lone surrogates count as what stands in for them."""
    data = text.encode("utf-8", "replace")
    foreign = b"" if data.isascii() else data.translate(None, _ASCII)
    masked, members = _plan(costs)
    total = 0.0
    for table, patterns in masked:
        mask = data.translate(table)
        for pattern, cost in patterns:
            total += cost * mask.count(pattern)
            if pattern is _RUN and mask.startswith(b"\1"):
                total += cost
    for found, cost in members:
        within = foreign if found[0] in _FOREIGN else data
        if within:
            total += cost * (len(within) - len(within.translate(None, found)))
    return total


def _table(one: bytes, two: bytes = b"") -> bytes:
    """A translation table: 1 for each of `one`, 2 for each of `two`, 0 for the rest."""
    return bytes(1 if byte in one else 2 if byte in two else 0 for byte in range(256))


_ASCII = bytes(range(0x80))
_FOREIGN = bytes(range(0x80, 0x100))
_LOWER = bytes(range(0x61, 0x7B))
_UPPER = bytes(range(0x41, 0x5B))
_DIGITS = bytes(range(0x30, 0x3A))
_SIGNS = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())
_RUN = b"\0\1"
"""Where a run of 1 begins; one at the very start of a text is added."""

_MASKS: tuple[tuple[bytes, tuple[tuple[str, bytes], ...]], ...] = (
    (_table(_LOWER + _UPPER), (("word", _RUN), ("long", b"\1" * 5))),
    (_table(_LOWER, _UPPER), (("upper", b"\2"), ("hump", b"\1\2"))),
    (_table(_DIGITS), (("digit", b"\1"), ("number", _RUN))),
    (_table(_SIGNS), (("punct", b"\1"), ("signs", _RUN))),
    (_table(b" \t", _DIGITS), (("gap", b"\1\2"),)),
    (_table(b" \t\r", b"\n"), (("indent", b"\2\1"), ("indent", b"\0\1\1"), ("line", b"\2"))),
)
"""Each mask, and what is counted in it."""

# Lead bytes of UTF-8 (RFC 3629, 3). E2 begins the blocks U+2000-2FFF: punctuation, arrows, boxes; EF: half-width forms and specials.
_MEMBERS: dict[str, bytes] = {
    "control": bytes(c for c in range(0x20) if c not in b"\t\n\r") + b"\x7f",
    "latin": bytes(range(0xC2, 0xCD)),
    "script": bytes(range(0xCD, 0xE0)) + b"\xe0\xe1",
    "kana": b"\xe3\xef",
    "han": bytes(range(0xE4, 0xEA)),
    "hangul": bytes(range(0xEA, 0xEE)),
    "symbol": b"\xe2",
    "astral": bytes(range(0xF0, 0xF5)),
}
"""Bytes that are counted one by one."""

_Plan: TypeAlias = tuple[tuple[tuple[bytes, tuple[tuple[bytes, float], ...]], ...], tuple[tuple[bytes, float], ...]]


@cache
def _plan(costs: Weights) -> _Plan:
    """What must be counted for these weights: masks with patterns and their costs, bytes and their costs."""
    cost = dict(zip(CLASSES, costs, strict=True))
    masked = ((table, tuple((p, cost[name]) for name, p in found if cost[name])) for table, found in _MASKS)
    members = tuple((found, cost[name]) for name, found in _MEMBERS.items() if cost[name])
    return tuple((table, found) for table, found in masked if found), members
