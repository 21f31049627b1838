"""How much of each kind of character a text holds: the ground on which sizes are guessed without a tokenizer.

    text ──UTF-8──▶ masks (one `bytes.translate` each) ──`bytes.count`──▶ Profile ──· weights──▶ tokens

A tokenizer cuts between kinds of characters and splits what is rare. So words, long words, capitals, digits, punctuation, indentation, lines,
each script and long unbroken runs (base64, hex, hashes) are counted apart, and a table of weights, fitted on real texts, says what each
costs (`weights.py`). There is no loop over characters here: every count is one pass of compiled code, so a profile costs about as much as
parsing the same bytes as JSON.

The one rule: every entry of a profile only grows when text is appended, and no weight is negative; so no text has fewer tokens than its head.
"""

from operator import mul
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
"""What is counted, in the order of a profile.

word: runs of Latin letters; long: pieces of five letters inside them; upper: capitals; hump: a small letter before a capital; digit;
number: runs of digits; punct: ASCII signs; signs: runs of them; gap: blanks before a digit; indent: whitespace behind whitespace; line:
line ends; control: other control characters; latin: accented Latin letters; script: letters of other alphabets (Greek, Cyrillic, Hebrew,
Arabic, Indic, Thai); kana (and CJK punctuation); han; hangul; symbol: arrows, boxes, dashes, typographic quotes; astral: emoji and whatever
else takes four bytes. Base64, hex and hashes need no class of their own: capitals, humps and short runs of digits give them away.
"""

Profile: TypeAlias = tuple[int, ...]
"""One count for each of `CLASSES`."""


def _mask(**members: bytes) -> bytes:
    """A translation table: 1 for `one`, 2 for `two`, 0 for the rest."""
    table = bytearray(256)
    for byte in members["one"]:
        table[byte] = 1
    for byte in members.get("two", b""):
        table[byte] = 2
    return bytes(table)


_LOWER = bytes(range(0x61, 0x7B))
_UPPER = bytes(range(0x41, 0x5B))
_DIGITS = bytes(range(0x30, 0x3A))
_SIGNS = bytes(c for c in range(0x21, 0x7F) if not chr(c).isalnum())
_CONTROLS = bytes(c for c in range(0x20) if c not in b"\t\n\r") + b"\x7f"
_LETTERS = _mask(one=_LOWER + _UPPER)
_CASE = _mask(one=_LOWER, two=_UPPER)
_NUMBERS = _mask(one=_DIGITS)
_PUNCT = _mask(one=_SIGNS)
_SPACE = _mask(one=b" \t\r", two=b"\n")
_GAPS = _mask(one=b" \t", two=_DIGITS)
# Lead bytes of UTF-8 (RFC 3629, 3). E2 begins the blocks U+2000-2FFF: punctuation, arrows, boxes; EF: half-width forms and specials.
_LEAD_LATIN = bytes(range(0xC2, 0xCD))
_LEAD_SCRIPT = bytes(range(0xCD, 0xE0)) + b"\xe0\xe1"
_LEAD_KANA = b"\xe3\xef"
_LEAD_HAN = bytes(range(0xE4, 0xEA))
_LEAD_HANGUL = bytes(range(0xEA, 0xEE))
_LEAD_SYMBOL = b"\xe2"
_LEAD_ASTRAL = bytes(range(0xF0, 0xF5))
_FIVE = b"\1" * 5


def profile(text: str) -> Profile:
    """Return the counts of `text`, one for each of `CLASSES`. Lone surrogates count as what stands in for them."""
    data = text.encode("utf-8", "replace")
    letters = data.translate(_LETTERS)
    case = data.translate(_CASE)
    numbers = data.translate(_NUMBERS)
    signs = data.translate(_PUNCT)
    space = data.translate(_SPACE)
    foreign = b"" if data.isascii() else data.translate(None, bytes(range(0x80)))
    return (
        _runs(letters),
        letters.count(_FIVE),
        case.count(2),
        case.count(b"\1\2"),
        numbers.count(1),
        _runs(numbers),
        signs.count(1),
        _runs(signs),
        data.translate(_GAPS).count(b"\1\2"),
        space.count(b"\2\1") + space.count(b"\0\1\1"),
        space.count(2),
        _of(data, _CONTROLS),
        _of(foreign, _LEAD_LATIN),
        _of(foreign, _LEAD_SCRIPT),
        _of(foreign, _LEAD_KANA),
        _of(foreign, _LEAD_HAN),
        _of(foreign, _LEAD_HANGUL),
        _of(foreign, _LEAD_SYMBOL),
        _of(foreign, _LEAD_ASTRAL),
    )


def weigh(counts: Profile, weights: tuple[float, ...]) -> float:
    """Return the tokens that `counts` come to under `weights`, both in the order of `CLASSES`."""
    total: float = sum(map(mul, counts, weights))
    return total


def _runs(mask: bytes) -> int:
    return mask.count(b"\0\1") + mask.startswith(b"\1")


def _of(data: bytes, members: bytes) -> int:
    return len(data) - len(data.translate(None, members)) if data else 0
