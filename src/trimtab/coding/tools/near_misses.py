"""Why a text wasn't found: the place in the file that was most likely meant, and how it differs.

Nothing here ever leads to a replacement: a likeness is shown to the model, which then sends the exact text. First the file is
searched with quotes, dashes and blanks made equal; failing that, lines that share most words with the longest wanted line are
compared. Both look at the first 8 million characters, so that a miss in a huge file costs a moment.
"""

import difflib
import heapq
import re
from dataclasses import dataclass

_SEARCHED = 8_000_000
_LINES = 12
_LINE = 240
_LIKE = 0.6
_TYPOGRAPHY = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u205f\u3000", " "),
    }
)
_PLAIN = {
    **{c: None if to == " " else to for c, to in _TYPOGRAPHY.items()},
    **dict.fromkeys(map(ord, " \t\r\f\v")),
}
_WORD = re.compile(r"\w{2,}")


@dataclass(frozen=True, slots=True)
class NearMiss:
    """Lines of the file that look like the wanted text: `line` is the first (1-based), `differs` says in what."""

    line: int
    text: str
    differs: str


def nearest_text(text: str, wanted: str) -> NearMiss | None:
    """Return the place of `text` most like `wanted` (both with LF line ends), or None when nothing is like it."""
    text = text[:_SEARCHED]
    lines = text.split("\n")
    wanted_lines = wanted.strip("\n").split("\n")
    start = _same_but_for_blanks(text, wanted_lines)
    if start is None:
        start = _like(lines, wanted_lines)
    if start is None:
        return None
    found = lines[start : start + len(wanted_lines)]
    return NearMiss(start + 1, _shown(found), _difference(found, wanted_lines))


def _plain(text: str) -> str:
    """The text without blanks, line ends kept, with quotes and dashes of one kind."""
    return text.translate(_PLAIN)


def _same_but_for_blanks(text: str, wanted: list[str]) -> int | None:
    """The line (from 0) where `text` is like `wanted`, all blanks and typography left aside."""
    target = _plain("\n".join(wanted))
    if not target.strip("\n"):
        return None
    plain = _plain(text)
    at = plain.find(target)
    return None if at < 0 else plain.count("\n", 0, at)


def _like(lines: list[str], wanted: list[str]) -> int | None:
    anchor = max(range(len(wanted)), key=lambda i: len(_plain(wanted[i])))
    line = _plain(wanted[anchor])[:_LINE]
    words = sorted(set(_WORD.findall(wanted[anchor][: 2 * _LINE])), key=len, reverse=True)[:12]
    if not words:
        return None
    scored = ((sum(len(w) for w in words if w in other), -n) for n, other in enumerate(lines))
    best, best_ratio = None, _LIKE
    for score, minus in heapq.nlargest(20, scored):
        other = _plain(lines[-minus][: 2 * _LINE])[:_LINE]
        ratio = difflib.SequenceMatcher(None, line, other, autojunk=False).ratio() if score else 0.0
        if ratio > best_ratio:
            best, best_ratio = -minus, ratio
    return None if best is None else max(best - anchor, 0)


def _difference(found: list[str], wanted: list[str]) -> str:
    if [_plain(a) for a in found] != [_plain(b) for b in wanted] and not _inside(found, wanted):
        return "the words"
    kinds = []
    typeset_found, typeset_wanted = _typography(found), _typography(wanted)
    if typeset_found != typeset_wanted:
        kinds.append("quotes, dashes or special spaces" + (f" (the file has {typeset_found})" if typeset_found else ""))
    if any(_indent(a) != _indent(b) for a, b in zip(found[1:], wanted[1:], strict=False)) or (
        _indent(wanted[0]) and _indent(wanted[0]) != _indent(found[0])
    ):
        kinds.append(f"indentation (the file has {_indent_words(found)})")
    if any(a.rstrip() != a or b.rstrip() != b for a, b in zip(found, wanted, strict=False)):
        kinds.append("blanks at line ends")
    return ", ".join(kinds) or "blanks inside a line"


def _inside(found: list[str], wanted: list[str]) -> bool:
    return "\n".join(map(_plain, wanted)) in "\n".join(map(_plain, found))


def _typography(lines: list[str]) -> str:
    return " ".join(sorted({c for line in lines for c in line if c.translate(_TYPOGRAPHY) != c}))


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indent_words(lines: list[str]) -> str:
    indents = "".join(_indent(line) for line in lines)
    if "\t" in indents:
        return "tabs and spaces" if " " in indents else "tabs"
    return f"{min((len(_indent(line)) for line in lines if line.strip()), default=0)} spaces or more"


def _shown(lines: list[str]) -> str:
    kept = [line if len(line) <= _LINE else line[:_LINE] + "…" for line in lines[:_LINES]]
    return "\n".join(kept) + (f"\n… {len(lines) - _LINES} more lines" if len(lines) > _LINES else "")
