"""Line diffs in bounded time.

Common ends are cut off, lines that occur once on both sides anchor the rest (patience), and what lies between two anchors goes
through Myers' greedy algorithm up to a fixed number of differences; beyond it the stretch counts as replaced. So a diff is always right,
nearly always short, and its cost grows with the number of lines, not with its square.
Sources: E. Myers, "An O(ND) difference algorithm and its variations" (1986); B. Cohen, patience diff (2008).
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

_CONTEXT = 3
_DIFFERENCES = 128
"""Insertions plus deletions that Myers' algorithm looks for between two anchors."""


@dataclass(frozen=True, slots=True)
class Change:
    """Lines `old_start:old_end` became lines `new_start:new_end` (0-based, end excluded)."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def unified(old: str, new: str, *, size: int) -> str | None:
    """Return the hunks of a unified diff, three lines of context, without file headers; "" when nothing differs.

    Lines end at LF only. None when the diff is larger than `size` characters.
    """
    a, b = _lines(old), _lines(new)
    found = changes(a, b)
    if sum(len(line) for c in found for line in (*a[c.old_start : c.old_end], *b[c.new_start : c.new_end])) > size:
        return None
    text = "".join(_hunk(a, b, group) for group in _groups(found))
    return text if len(text) <= size else None


def changes(a: Sequence[str], b: Sequence[str]) -> list[Change]:
    """Return what turns `a` into `b`, in order, adjoining changes merged."""
    found: list[Change] = []
    todo = [(0, len(a), 0, len(b))]
    while todo:
        a0, a1, b0, b1 = _trim(a, b, todo.pop())
        if a0 == a1 or b0 == b1:
            if a0 < a1 or b0 < b1:
                found.append(Change(a0, a1, b0, b1))
            continue
        anchors = _anchors(a[a0:a1], b[b0:b1])
        if anchors:
            edges = [(-1, -1), *anchors, (a1 - a0, b1 - b0)]
            gaps = [(a0 + p + 1, a0 + q, b0 + r + 1, b0 + s) for (p, r), (q, s) in pairwise(edges)]
            todo.extend(reversed(gaps))
        else:
            found.extend(_between(a, b, (a0, a1, b0, b1)))
    return found


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _trim(a: Sequence[str], b: Sequence[str], span: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    a0, a1, b0, b1 = span
    while a0 < a1 and b0 < b1 and a[a0] == b[b0]:
        a0, b0 = a0 + 1, b0 + 1
    while a0 < a1 and b0 < b1 and a[a1 - 1] == b[b1 - 1]:
        a1, b1 = a1 - 1, b1 - 1
    return a0, a1, b0, b1


def _anchors(a: Sequence[str], b: Sequence[str]) -> list[tuple[int, int]]:
    """The longest rising sequence of pairs (place in a, place in b) of lines that occur once in each."""
    once_a, once_b = Counter(a), Counter(b)
    places = {line: i for i, line in enumerate(b) if once_b[line] == 1}
    pairs = [(i, places[line]) for i, line in enumerate(a) if once_a[line] == 1 and line in places]
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for n, (_, place) in enumerate(pairs):
        k = bisect_left(ends, place)
        before.append(at[k - 1] if k else -1)
        if k == len(ends):
            ends.append(place)
            at.append(n)
        else:
            ends[k], at[k] = place, n
    chain: list[tuple[int, int]] = []
    n = at[-1] if at else -1
    while n >= 0:
        chain.append(pairs[n])
        n = before[n]
    return chain[::-1]


def _between(a: Sequence[str], b: Sequence[str], span: tuple[int, int, int, int]) -> Iterator[Change]:
    """Myers' greedy search inside `span`; the whole span as one change when it differs too much."""
    a0, a1, b0, b1 = span
    n, m = a1 - a0, b1 - b0
    reach = {1: 0}
    trace: list[dict[int, int]] = []
    for d in range(min(n + m, _DIFFERENCES) + 1):
        trace.append(dict(reach))
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < n and x - k < m and a[a0 + x] == b[b0 + x - k]:
                x += 1
            reach[k] = x
            if x >= n and x - k >= m:
                yield from _merged(_walk_back(trace, n, m), a0, b0)
                return
    yield Change(a0, a1, b0, b1)


def _walk_back(trace: list[dict[int, int]], n: int, m: int) -> list[tuple[int, int, int, int]]:
    """The single-line steps of the path found, in order, as (x, x', y, y')."""
    steps: list[tuple[int, int, int, int]] = []
    x, y = n, m
    for d in range(len(trace) - 1, 0, -1):
        reach, k = trace[d], x - y
        down = k == -d or (k != d and reach[k - 1] < reach[k + 1])
        before = k + 1 if down else k - 1
        px = reach[before]
        py = px - before
        steps.append((px, px, py, py + 1) if down else (px, px + 1, py, py))
        x, y = px, py
    return steps[::-1]


def _merged(steps: list[tuple[int, int, int, int]], a0: int, b0: int) -> Iterator[Change]:
    current: tuple[int, int, int, int] | None = None
    for x, x2, y, y2 in steps:
        if current is not None and (x, y) == (current[1], current[3]):
            current = (current[0], x2, current[2], y2)
            continue
        if current is not None:
            yield Change(a0 + current[0], a0 + current[1], b0 + current[2], b0 + current[3])
        current = (x, x2, y, y2)
    if current is not None:
        yield Change(a0 + current[0], a0 + current[1], b0 + current[2], b0 + current[3])


def _groups(found: list[Change]) -> Iterator[list[Change]]:
    """Changes near enough to share a hunk."""
    group: list[Change] = []
    for change in found:
        if group and change.old_start - group[-1].old_end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _hunk(a: Sequence[str], b: Sequence[str], group: list[Change]) -> str:
    first, last = group[0], group[-1]
    start = max(first.old_start - _CONTEXT, 0)
    end = min(last.old_end + _CONTEXT, len(a))
    new_start = first.new_start - (first.old_start - start)
    new_end = last.new_end + (end - last.old_end)
    out = [f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"]
    at = start
    for change in group:
        out.extend(_marked(" ", a[at : change.old_start]))
        out.extend(_marked("-", a[change.old_start : change.old_end]))
        out.extend(_marked("+", b[change.new_start : change.new_end]))
        at = change.old_end
    out.extend(_marked(" ", a[at:end]))
    return "".join(out)


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _range(start: int, end: int) -> str:
    """A hunk's range: 1-based start and length; an empty one names the line before it."""
    return f"{start + (end > start)},{end - start}"
