"""Words of a text, as search compares them.

    text ──plain()──▶ one form of each letter ──runs──▶ identifiers: whole and in parts      parseURL → parseurl parse url
                                                    └─▶ scripts without spaces: pairs        日本語 → 日本 本語 (日 本 語)

The one rule: a query and a document go through the same forms, so what the one calls a word the other does too. An index also holds the
single letters of scripts without spaces, because a query may be one letter; a longer query asks for pairs alone, which mean more.
"""

import re
import unicodedata
from functools import cache, lru_cache

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"  # iteration marks, Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\uac00-\ud7af\u1100-\u11ff"  # Hangul
    "\U00020000-\U000323af"  # Han, further planes
)
_MARKS = "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u200d"
"""Marks that belong to the letter before them, which `\\w` leaves out."""
_RUN = rf"[\w{_MARKS}{_UNSPACED}]+"
_PIECE = rf"[{_UNSPACED}]+|[^{_UNSPACED}]+"
_IS_UNSPACED = f"[{_UNSPACED}]"
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_LONGEST = 64
"""Characters of a word that count. Longer runs are data (base64, minified code), and parts of data are noise."""
_CUT = 4 * _LONGEST
"""Characters of a run that are looked at, so that data isn't kept."""


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """The ranges of all scripts take long to compile; whoever never searches never pays for it."""
    return re.compile(pattern)


def plain(text: str) -> str:
    """Return `text` with one form for letters that look alike: full width, ligatures and accents are gone; case stays."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENT.sub("", unicodedata.normalize("NFKD", text)))


def index_words(text: str) -> list[str]:
    """Return the words to index, in order and with repeats."""
    return _words(text, letters=True)


def query_words(text: str) -> list[str]:
    """Return the distinct words that a query asks for, in order."""
    return list(dict.fromkeys(_words(text, letters=False)))


def _words(text: str, *, letters: bool) -> list[str]:
    found: list[str] = []
    for run in _compiled(_RUN).findall(plain(text)):
        if run.isascii():
            found += _identifier(run[:_CUT])
            continue
        for piece in _compiled(_PIECE).findall(run):
            if _compiled(_IS_UNSPACED).match(piece):
                _pairs(piece.casefold(), found, letters=letters or len(piece) == 1)
            else:
                found += _identifier(piece[:_CUT])
    return found


@lru_cache(maxsize=1 << 14)
def _identifier(run: str) -> tuple[str, ...]:
    """A name whole, and in its parts where it has several. Kept, for a session says the same names over and over."""
    whole = run.casefold().strip("_")
    if len(whole) > _LONGEST or not whole:
        return (whole[:_LONGEST],) if whole else ()
    parts = _PART.findall(run) if run.isascii() else run.split("_")
    return (whole, *(part.casefold() for part in parts if len(part) > 1)) if len(parts) > 1 else (whole,)


def _pairs(run: str, found: list[str], *, letters: bool) -> None:
    if letters:
        found.extend(run)
    found.extend(run[at : at + 2] for at in range(len(run) - 1))
