"""Fold: head, tail and the lines that matter, with gap marks that count what lies between.

A line matters when it speaks of a failure or holds a word that was asked for (of the goal, say). Words are literal: they may come from a
model, and a pattern of a model could run for ever. Patterns are code's own. When more lines match than may be kept, a word counts
one, a failure two, and each further line of one shape (digits aside) less; so a thousand equal warnings don't crowd out the one error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.shorten.failures import speaks_of_failure
from trimtab.context.shorten.pieces import Fences, Piece, Shortened, lines_of, render

_DIGITS = re.compile(r"\d+")
_MARK = 48
"""Characters left for the mark in a long line, so that the shown line isn't a long one again."""
_SHAPE = 200
"""Characters by which two lines are alike."""
_LONGEST = 4_000
"""Characters of a line that patterns look at; a match further in is found by its words."""


@dataclass(frozen=True, slots=True)
class FoldRule:
    """How much a fold keeps. `line_chars` is the longest line that is shown whole; `context` are lines around a match.

    `failures`: whether lines that speak of one match. `patterns` are more of them.
    """

    head: int = 20
    tail: int = 20
    matches: int = 40
    context: int = 0
    line_chars: int = 2_000
    failures: bool = True
    patterns: tuple[re.Pattern[str], ...] = ()


def fold(text: str, *, words: Sequence[str] = (), rule: FoldRule | None = None, key: str = "") -> Shortened:
    """Return head, tail and matching lines of `text`; the text itself when that saves nothing.

    Linear in the text, also when it is one line of ten megabytes. `words` match anywhere in a line, in any case; `key` is what
    the gap marks carry.
    """
    rule = rule or FoldRule()
    lines = lines_of(text)
    chosen = set(range(min(rule.head, len(lines)))) | set(range(max(len(lines) - rule.tail, 0), len(lines)))
    for at in _matching(lines, chosen, words, rule):
        chosen.update(range(max(at - rule.context, 0), min(at + rule.context + 1, len(lines))))
    pieces: list[Piece] = []
    keep: list[bool] = []
    for at, line in enumerate(lines):
        if at in chosen and len(line) > rule.line_chars:
            tail = max((rule.line_chars - _MARK) // 3, 1)
            pieces += [Piece(line[: 2 * tail], at), Piece(line[2 * tail : -tail], at), Piece(line[-tail:], at)]
            keep += [True, False, True]
        else:
            pieces.append(Piece(line, at))
            keep.append(at in chosen)
    return render(pieces, keep, key=key, fences=Fences(lines))


def _matching(lines: Sequence[str], chosen: set[int], words: Sequence[str], rule: FoldRule) -> list[int]:
    """The numbers of the best matching lines outside `chosen`."""
    wanted = tuple(dict.fromkeys(word.lower() for word in words if word.strip()))
    shapes: dict[str, int] = {}
    ranked: list[tuple[float, int]] = []
    for at, line in enumerate(lines):
        if at in chosen:
            continue
        low = line.lower()
        worth = sum(word in low for word in wanted) + 2 * _fails(line, rule)
        if worth:
            shape = _DIGITS.sub("0", line[:_SHAPE])
            shapes[shape] = seen = shapes.get(shape, 0) + 1
            ranked.append((-worth / seen, at))
    return sorted(at for _, at in sorted(ranked)[: rule.matches])


def _fails(line: str, rule: FoldRule) -> bool:
    return (rule.failures and speaks_of_failure(line)) or any(p.search(line, 0, _LONGEST) for p in rule.patterns)
