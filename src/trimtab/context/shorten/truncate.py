"""Truncate: the verbatim span between two sentences.

A model quotes with its own line breaks; so a sentence that doesn't occur exactly is looked for again with any white space between
its words. What is kept is always the recorded text.
"""

import re
from itertools import pairwise

from trimtab.context.shorten.pieces import Fences, Piece, Refused, Shortened, lines_of, render


def truncate(text: str, *, first: str = "", last: str = "", key: str = "") -> Shortened | Refused:
    """Return what lies from `first` through `last`, both included, or why that can't be said.

    The first place of `first` counts, and the first place of `last` that ends behind it. An empty `first` is the start of the
    text, an empty `last` its end.
    """
    if not first.strip() and not last.strip():
        return Refused("truncate needs the first or the last sentence to keep, quoted from the text")
    begin = _find(text, first, 0) if first.strip() else (0, 0)
    if begin is None:
        return Refused(f"the first sentence {_quoted(first)} is not in the text; quote it exactly as it stands there")
    end = (
        (len(text), len(text))
        if not last.strip()
        else _find(text, last, begin[0] if first.strip() == last.strip() else begin[1])
    )
    if end is None:
        if _find(text, last, 0) is not None:
            return Refused(f"the last sentence {_quoted(last)} stands only in front of the first one {_quoted(first)}")
        return Refused(f"the last sentence {_quoted(last)} is not in the text; quote it exactly as it stands there")
    return _span(text, *_to_lines(text, begin[0], end[1]), key=key)


def _to_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The span with the indent in front of it and the newline behind it, so that whole lines stay whole."""
    line = text.rfind("\n", 0, start) + 1
    if not text[line:start].strip():
        start = line
    return start, end + 1 if text.startswith("\n", end) else end


def _span(text: str, start: int, end: int, *, key: str) -> Shortened:
    """The span as pieces, so that gaps, fences and the cut are those of every shortener."""
    pieces: list[Piece] = []
    keep: list[bool] = []
    lines = lines_of(text)
    offset = 0
    for at, line in enumerate(lines):
        bounds = sorted({0, len(line), *(b - offset for b in (start, end) if 0 < b - offset < len(line))})
        for a, b in pairwise(bounds):
            pieces.append(Piece(line[a:b], at))
            keep.append(start <= offset + a and offset + b <= end)
        offset += len(line)
    return render(pieces, keep, key=key, fences=Fences(lines), worth=0)


def _find(text: str, sentence: str, start: int) -> tuple[int, int] | None:
    wanted = sentence.strip()
    at = text.find(wanted, start)
    if at >= 0:
        return at, at + len(wanted)
    loose = re.compile(r"\s++".join(re.escape(word) for word in wanted.split()))
    found = loose.search(text, start)
    return found.span() if found else None


def _quoted(sentence: str) -> str:
    said = " ".join(sentence.split())
    return repr(said if len(said) <= 80 else f"{said[:79]}…")
