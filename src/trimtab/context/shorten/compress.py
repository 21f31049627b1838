"""Compress: a share of a text's tokens, by choosing lines and never by writing any.

    lines (long ones in parts) ──features──▶ strings, numbers, rare words, failures, words of the goal
                                   │
    greedy, by what a line adds ◀──┘  ──▶ lines in their order, marks between them, checked against the count

A feature that one kept line shows is worth nothing in the next; so of a thousand lines of one shape a few stay, and what occurs once
stays first. A better compressor is any object with the same method (`Compressor`).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import log2
from typing import Any, Protocol

from trimtab.context.shorten.cap import Count
from trimtab.context.shorten.failures import speaks_of_failure
from trimtab.context.shorten.pieces import Fences, Piece, Refused, Shortened, lines_of, render
from trimtab.context.shorten.refuse import refusal

_SHARE = 0.3
_LONG = 400
"""A longer line is chosen from in parts of about this many characters."""
_GAP_TOKENS = 14
_ROUNDS = 8
_FEATURES = 200
"""At most this many are judged in one piece."""
_MARK_CHARS = 24
_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d")
_DIGITS = re.compile(r"\d+")
_DISTINCT = re.compile(r"[A-Za-z0-9_./\-:@]{8,}")
_WORD = re.compile(r"\d[\d.,]*|[^\W\d_][\w'-]{3,}")
_BREAK = re.compile(r"(?<=[.!?;,}\]])\s+|(?<=[。！？，；,}\]])")
_FAILURE_WORTH = 8.0
_GOAL_WORTH = 10.0


def share_in(params: Mapping[str, Any]) -> float:
    """The share of tokens that an action's parameters want kept."""
    share = params.get("share", _SHARE)
    return float(share) if isinstance(share, int | float) and not isinstance(share, bool) else _SHARE


class Compressor(Protocol):
    """Makes a text shorter. `share` is the share of tokens to keep, 0 to 1; `words` are those of the goal."""

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Shortened:
        """Return the shorter text; the text itself when it can't be shortened."""
        ...


def compress(
    text: str, *, role: str, share: float, compressor: Compressor, words: Sequence[str] = (), key: str = ""
) -> Shortened | Refused:
    """Return `text` with about `share` of its tokens, or why it may not be compressed: code, a diff, a person's words."""
    if not 0 < share < 1:
        return Refused(f"the share of tokens to keep lies between 0 and 1, not {share}")
    if reason := refusal(text, role=role):
        return Refused(reason)
    made = compressor.compress(text, share=share, words=words, key=key)
    return made if len(made.text) < len(text) else Shortened(text)


@dataclass(frozen=True, slots=True)
class Extractive:
    """The built-in compressor: deterministic, verbatim lines in order. `count` gives tokens."""

    count: Count

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Shortened:
        """Return at most `share` of the tokens, unless code blocks inside the text alone have more: those stay whole."""
        lines = lines_of(text)
        fences = Fences(lines)
        pieces = [piece for at, line in enumerate(lines) for piece in _parts(line, at)]
        total = self.count(text)
        budget = int(total * share)
        rate = total / max(len(text), 1)
        fixed = [fences.holds(piece.line) for piece in pieces]
        order = _ranked(pieces, fixed, words)
        room = budget / rate - sum(len(p.text) for p, f in zip(pieces, fixed, strict=True) if f) if rate else 0.0
        best = Shortened(text)
        for _ in range(_ROUNDS):
            keep = _chosen(pieces, fixed, order, room, gap=_GAP_TOKENS / rate if rate else 0.0)
            best = render(pieces, keep, key=key, fences=fences)
            used = self.count(best.text)
            if used <= budget or room <= 0:
                break
            room -= (used - budget) / rate + 1 if rate else 1
        return best


def distinct_strings(text: str) -> list[str]:
    """Identifiers, paths, addresses and the like: 8 or more characters with a digit, a separator or an inner capital."""
    found: list[str] = []
    for match in _DISTINCT.finditer(text):
        string = match[0].strip("./:-")
        if len(string) >= 8 and not (string.isalpha() and (string[1:].islower() or string.isupper())):
            found.append(string)
    return found


def _parts(line: str, at: int) -> list[Piece]:
    """A line as one piece, a long one cut behind sentences and commas, else anywhere."""
    if len(line) <= _LONG:
        return [Piece(line, at)]
    parts: list[Piece] = []
    start = 0
    while len(line) - start > _LONG:
        found = _BREAK.search(line, start + _LONG // 2, start + _LONG)
        end = found.end() if found else start + _LONG
        parts.append(Piece(line[start:end], at))
        start = end
    parts.append(Piece(line[start:], at))
    return parts


def _features(text: str, goal: Sequence[str]) -> dict[str, float]:
    """What a piece tells, with the worth of telling it once."""
    low = text.lower()
    found = {f"\0goal {word}": _GOAL_WORTH for word in goal if word in low}
    if speaks_of_failure(text):
        found["\0failure " + _DIGITS.sub("0", text.strip())[:120]] = _FAILURE_WORTH
    found.update((string, 0.3 if _TIME.match(string) else 3.0) for string in distinct_strings(text))
    found.update((word, 1.5 if word[0].isdigit() else 1.0) for word in _WORD.findall(low))
    return dict(islice(found.items(), _FEATURES))


def _ranked(pieces: Sequence[Piece], fixed: Sequence[bool], words: Sequence[str]) -> list[int]:
    """The free pieces, best first: by what each adds to those before it, per character.

    Greedy in rounds instead of one by one: a piece whose worth has halved since it was ranked waits for the next round. So the cost stays
    near-linear, and no line is taken for what an earlier one already told.
    """
    goal = tuple(dict.fromkeys(word.lower() for word in words if word.strip()))
    told = [_features(piece.text, goal) for piece in pieces]
    often = Counter(feature for features in told for feature in features)
    scale = log2(len(pieces) + 2)

    def worth(at: int) -> float:
        gain = sum(value * (scale - log2(often[f])) for f, value in told[at].items() if f not in seen)
        return gain / (len(pieces[at].text) + _MARK_CHARS)

    seen = {feature for at, stays in enumerate(fixed) if stays for feature in told[at]}
    order: list[int] = []
    waiting = [(-worth(at), at) for at, stays in enumerate(fixed) if not stays]
    for _ in range(_ROUNDS):
        later: list[tuple[float, int]] = []
        for rank, at in sorted(waiting):
            now = -worth(at)
            if now > rank / 2:
                later.append((now, at))
            else:
                order.append(at)
                seen.update(told[at])
        waiting = later
    return order + [at for _, at in sorted(waiting)]


def _chosen(
    pieces: Sequence[Piece], fixed: Sequence[bool], order: Sequence[int], room: float, *, gap: float
) -> list[bool]:
    """Which pieces fit into `room` characters, marks included, in the order of rank."""
    keep = list(fixed)
    for at in order:
        # A piece beside a kept one opens no new gap; one alone is followed by a mark of its own.
        beside = (at > 0 and keep[at - 1]) or (at + 1 < len(keep) and keep[at + 1])
        price = len(pieces[at].text) + (0 if beside else gap)
        if price <= room:
            keep[at] = True
            room -= price
    return keep
