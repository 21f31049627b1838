"""Fold: head, tail and the lines that matter, with gap marks that count what lies between.

A line matters when it speaks of a failure or holds a word that was asked for (of the goal, say). Words are literal: they may come from a
model, and a pattern of a model could run for ever. Patterns are code's own. When more lines match than may be kept, those with the most
words win, then failures, then the rarer shape; so a thousand equal warnings don't crowd out the one error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.shorten.pieces import Fences, Piece, Shortened, lines_of, render

FAILURES = re.compile(
    r"\b(?:error|errors|fail|fails|failed|failure|failures|failing|fatal|panic|panicked|exception|traceback|warning|warnings|warn|"
    r"undefined|unresolved|denied|refused|timed out|timeout|not found|no such|cannot|can't|unable|unexpected|mismatch|aborted|"
    r"segmentation fault|killed|expected|got)\b|\w(?:Error|Exception|Warning)\b|^E {3}|--- FAIL|[✗✘✖❌]",
    re.IGNORECASE,
)
"""What failures and warnings of compilers, test runners and shells have in their lines."""

_DIGITS = re.compile(r"\d+")
_LONGEST_SEARCH = 4_000
"""Characters of a line that patterns look at; a match further in is found by its words."""


@dataclass(frozen=True, slots=True)
class FoldRule:
    """How much a fold keeps. `line_chars` is the longest line that is shown whole; `context` are lines around a match."""

    head: int = 20
    tail: int = 20
    matches: int = 40
    context: int = 0
    line_chars: int = 2_000
    patterns: tuple[re.Pattern[str], ...] = (FAILURES,)


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
            third = max(rule.line_chars // 3, 1)
            pieces += [Piece(line[: 2 * third], at), Piece(line[2 * third : -third], at), Piece(line[-third:], at)]
            keep += [True, False, True]
        else:
            pieces.append(Piece(line, at))
            keep.append(at in chosen)
    return render(pieces, keep, key=key, fences=Fences(lines))


def _matching(lines: Sequence[str], chosen: set[int], words: Sequence[str], rule: FoldRule) -> list[int]:
    """The numbers of the best matching lines outside `chosen`."""
    wanted = tuple(dict.fromkeys(word.lower() for word in words if word.strip()))
    shapes: dict[str, int] = {}
    ranked: list[tuple[int, int, int, int]] = []
    for at, line in enumerate(lines):
        if at in chosen:
            continue
        low = line.lower()
        hits = sum(word in low for word in wanted)
        fails = any(pattern.search(line, 0, _LONGEST_SEARCH) for pattern in rule.patterns)
        if hits or fails:
            shape = _DIGITS.sub("0", line[:200])
            shapes[shape] = seen = shapes.get(shape, -1) + 1
            ranked.append((-hits, seen, not fails, at))
    return sorted(at for *_, at in sorted(ranked)[: rule.matches])
