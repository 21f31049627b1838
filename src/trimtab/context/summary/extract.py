"""Extracts: whole sentences and lines of a text, as many as fit, in their order.

    text ──units──▶ sentences of what was said, lines of what was printed ──the first, the last, then those with most facts for their size──▶ text

Half a sentence says something else than the whole one, and a cause mostly stands in the middle. So a unit is kept whole or left out, with `…` in its
place, and what is said twice is kept once; only a text whose first unit alone is too long is cut inside.
"""

import re
from collections.abc import Sequence
from functools import partial

from trimtab.context.summary.facts import facts_in
from trimtab.context.summary.fit import Count, fit, fits

GAP = "…"
_MOST_UNITS = 2_000
"""Units of one text that are looked at, from both ends."""
_LEAST = 4
"""Tokens of room below which no further unit is tried."""
_FENCED = re.compile(r"^(`{3,}|~{3,})[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.M | re.S)
_SENTENCE_END = re.compile(r"(?<=[.!?。！？…])[\"'»”’)*_`]*\s+|(?<=[。！？])|\n+")
_SAYS = re.compile(r"[^\W_]{2}|\d")
"""What a line must have to say anything: two letters, or a digit."""


def extract_said(text: str, *, max_tokens: int, count: Count) -> str:
    """Return whole sentences of what somebody said. Fenced code gives way before any of them."""
    if fits(text, max_tokens, count):
        return text
    bare = _FENCED.sub(GAP, text)
    units = [part.strip() for part in _SENTENCE_END.split(bare)]
    return _extract([unit for unit in units if unit == GAP or _SAYS.search(unit)], " ", max_tokens, count)


def extract_printed(text: str, *, max_tokens: int, count: Count) -> str:
    """Return whole lines of what a tool printed; lines of rules and brackets say nothing and go first."""
    if fits(text, max_tokens, count):
        return text
    lines = [line.rstrip() for line in text.split("\n") if _SAYS.search(line)]
    return _extract(lines, "\n", max_tokens, count)


def _extract(units: Sequence[str], joint: str, max_tokens: int, count: Count) -> str:
    half = _MOST_UNITS // 2
    known = [*range(len(units))] if len(units) <= _MOST_UNITS else [*range(half), *range(len(units) - half, len(units))]
    kept: set[int] = set()
    left = max(_LEAST, max_tokens)
    seen: set[str] = set()
    for n in _ranked(units, known):
        if left < _LEAST:
            break
        if units[n] in seen:
            continue
        seen.add(units[n])
        # A unit stands between two gaps at worst, which it then shares with its neighbours.
        size = count(units[n]) + 2
        if size <= left:
            kept.add(n)
            left -= size
        elif not kept:
            return fit(units[n].strip(), max_tokens=max_tokens, count=count, mark=lambda _left_out: GAP).text
    made = partial(_joined, units, joint)
    while kept and count(made(kept)) > max_tokens:
        kept.remove(max(kept, key=lambda n: (n not in (0, len(units) - 1), n)))
    return made(kept) if kept else ""


def _ranked(units: Sequence[str], known: Sequence[int]) -> list[int]:
    """The first, the last, then the rest by facts for their size, earlier ones first where that is the same."""
    known = [n for n in known if units[n] != GAP]
    if not known:
        return []
    ends = list(dict.fromkeys((known[0], known[-1])))
    middle = [n for n in known if n not in ends]
    return [*ends, *sorted(middle, key=lambda n: (-len(facts_in(units[n])) / (20 + len(units[n])), n))]


def _joined(units: Sequence[str], joint: str, kept: set[int]) -> str:
    parts: list[str] = []
    last = -1
    for n in (*sorted(kept), len(units)):
        if n - last > 1:
            parts.append(GAP)
        if n < len(units):
            parts.append(units[n])
        last = n
    return joint.join(parts)
