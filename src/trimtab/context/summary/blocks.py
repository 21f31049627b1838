"""A long source made short, without a model, along its structure: critical blocks verbatim, the rest compressed.

    text ─kind_of─▶ rows   ─shorten_json, shorten_table─▶ every row with its needed fields
                 └▶ blocks ─▶ critical whole, repeats counted ─▶ of the others the lines that say most ─▶ gaps marked

Records of a log that repeat one another stand once with their count, as far as there is no room for them. What was asked for (the first, the last, those
with a wanted word) is no repeat of anything, and a record of a failure is one only where the failures alone are too many.

Params are those of the action `summarize`: `max_tokens, keep_first, keep_last, keep_fields`. The same text gives the same result, of at most
`max_tokens`, and what is missing is said: in the text, and as `complete` beside it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from trimtab.context.summary.facts import facts_in
from trimtab.context.summary.fit import Count, both_ends, fit
from trimtab.context.summary.rows import Rows, shorten_json, shorten_table
from trimtab.context.summary.structure import (
    FAILURE,
    Block,
    Kind,
    blocks_of,
    json_lines_of,
    json_of,
    kind_of,
    table_of,
)

_DIGITS = re.compile(r"\d+|0x[0-9a-f]+|[0-9a-f]{8,}")
_NARROWEST = 300
"""Characters up to which a line is never shortened; with more room, as many as there are tokens, which leaves place for others."""
_MOST_SCORED = 4_000
"""Lines that are scored; of a longer text those between its ends are taken at even distances."""


@dataclass(frozen=True, slots=True)
class Compressed:
    """A source made short. `kept` of `total` count rows, or blocks that are whole; `complete`: nothing but white space is missing."""

    text: str
    kind: Kind
    kept: int
    total: int
    complete: bool


def compress_source(
    text: str,
    *,
    max_tokens: int,
    count: Count,
    keep_first: int = 0,
    keep_last: int = 0,
    keep_fields: Sequence[str] = (),
) -> Compressed:
    """Return `text` in at most `max_tokens`.

    `keep_first` and `keep_last` are rows or blocks that stay whole at the ends. `keep_fields`: of rows the fields that stay in every one
    of them; of other texts words whose lines stay.
    """
    kind = kind_of(text)
    if len(text) <= 8 * max_tokens and count(text) <= max_tokens:
        return Compressed(text, kind, 1, 1, complete=True)
    rows = _rows(text, kind, max_tokens, count, keep_first, keep_last, keep_fields)
    if rows is not None:
        return Compressed(rows.text, kind, rows.kept, rows.total, complete=False)
    blocks = blocks_of(text, kind, needed=keep_fields)
    ends = frozenset((*range(len(blocks))[:keep_first], *range(len(blocks))[max(0, len(blocks) - keep_last) :]))
    blocks = tuple(replace(b, critical=True) if n in ends else b for n, b in enumerate(blocks))
    limit = _Limit(max_tokens, count)
    alike: frozenset[int] = frozenset()
    if kind == "log":
        asked = ends | _holding(blocks, keep_fields)
        critical = [n for n, block in enumerate(blocks) if block.critical or n in asked]
        fits = limit.holds("\n".join(blocks[n].text for n in critical))
        blocks, alike = _repeats_of(blocks, single=frozenset(critical) if fits else asked)
    widest = max(_NARROWEST, max_tokens)
    every = [(b, line) for b, block in enumerate(blocks) for line in block.text.split("\n") if line.strip()]
    lines = [(b, both_ends(line, widest)) for b, line in every]
    result, shown = _shown(lines, blocks, limit, _Wanted(ends, tuple(keep_fields)), alike)
    clipped = {b for b, line in every if len(line) > widest}
    missing = clipped | {b for at, (b, _) in enumerate(every) if at not in shown}
    result = fit(result, max_tokens=max_tokens, count=count).text
    if clipped and count(result) < max_tokens // 2:  # a few endless lines: their structure says less than their ends
        result = fit(text, max_tokens=max_tokens, count=count).text
    return Compressed(result, kind, len(blocks) - len(missing), len(blocks), complete=False)


@dataclass(frozen=True, slots=True)
class _Limit:
    """How much may stand."""

    max_tokens: int
    count: Count

    def holds(self, text: str) -> bool:
        """Whether that much may."""
        return len(text) <= 8 * self.max_tokens and self.count(text) <= self.max_tokens

    def most(self, number: int, text: Callable[[int], str]) -> int:
        """The largest of 0 to `number` whose text may stand; 0 when none may."""
        low, high = 0, number
        while low < high:
            middle = (low + high + 1) // 2
            if self.holds(text(middle)):
                low = middle
            else:
                high = middle - 1
        return low


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was asked for: blocks by their places, and words whose lines stay."""

    blocks: frozenset[int]
    words: tuple[str, ...]


def _rows(
    text: str, kind: Kind, max_tokens: int, count: Count, keep_first: int, keep_last: int, keep_fields: Sequence[str]
) -> Rows | None:
    if kind in ("json", "jsonl"):
        value = json_of(text) if kind == "json" else json_lines_of(text)
        return shorten_json(
            value,
            max_tokens=max_tokens,
            count=count,
            keep_fields=keep_fields,
            keep_first=keep_first,
            keep_last=keep_last,
        )
    if kind == "table" and (table := table_of(text)) is not None:
        return shorten_table(
            table.head,
            table.rows,
            render=table.render,
            max_tokens=max_tokens,
            count=count,
            keep_fields=keep_fields,
            keep_first=keep_first,
            keep_last=keep_last,
        )
    return None


def _holding(blocks: Sequence[Block], words: Sequence[str]) -> frozenset[int]:
    """The places of the blocks with one of the words."""
    folded = [word.casefold() for word in words]
    return frozenset(n for n, b in enumerate(blocks) if folded and any(word in b.text.casefold() for word in folded))


def _repeats_of(blocks: Sequence[Block], *, single: Collection[int]) -> tuple[tuple[Block, ...], frozenset[int]]:
    """Return the blocks, the first of those that differ in numbers alone with their count, and the places of the others. Those of `single` count as themselves."""
    alike: dict[str, list[int]] = {}
    for n, block in enumerate(blocks):
        if n not in single:
            alike.setdefault(_DIGITS.sub("#", block.text), []).append(n)
    counted = list(blocks)
    for first, *others in alike.values():
        if others:
            note = f"[× {len(others) + 1}, alike but for numbers]"
            counted[first] = replace(blocks[first], text=f"{blocks[first].text}\n{note}")
    return tuple(counted), frozenset(n for _, *others in alike.values() for n in others)


def _shown(
    lines: Sequence[tuple[int, str]], blocks: Sequence[Block], limit: _Limit, wanted: _Wanted, alike: Collection[int]
) -> tuple[str, set[int]]:
    """The most telling lines, as many as fit, and their places; repeats only where all others are there, and in their order."""
    told = [at for at, (b, _) in enumerate(lines) if b not in alike]
    fewer = [lines[at] for at in told]
    order = _by_weight(fewer, blocks, wanted)
    number = limit.most(len(order), lambda n: _join(fewer, order[:n]))
    shown = {told[at] for at in order[:number]}
    repeats = [at for at, (b, _) in enumerate(lines) if b in alike]
    if repeats and len(shown) == len(told):
        number = limit.most(len(repeats), lambda n: _join(lines, (*told, *repeats[:n])))
        if number:
            shown.update(repeats[:number])
            return _join(lines, shown), shown
    return _join(fewer, [at for at, place in enumerate(told) if place in shown]), shown


def _by_weight(lines: Sequence[tuple[int, str]], blocks: Sequence[Block], wanted: _Wanted) -> list[int]:
    folded = [word.casefold() for word in wanted.words]
    ends = (0, len(lines) - 1)
    step = max(1, len(lines) // _MOST_SCORED)
    scores: dict[int, float] = {}
    for at, (b, line) in enumerate(lines):
        named = bool(folded) and any(word in line.casefold() for word in folded)
        if at % step and not blocks[b].critical and not named and at not in ends:
            continue
        score = 100.0 * blocks[b].critical + 110.0 * (b in wanted.blocks or named)
        score += 8.0 * (at == 0 or lines[at - 1][0] != b) + 6.0 * bool(FAILURE.search(line[:500])) + 2.0 * (at in ends)
        scores[at] = score + min(4, sum(1 for _ in facts_in(line[:500])))
    return sorted(scores, key=lambda at: (-scores[at], at))


def _join(lines: Sequence[tuple[int, str]], shown: Iterable[int]) -> str:
    out: list[str] = []
    last = -1
    for at in (*sorted(shown), len(lines)):
        if at - last > 1:
            out.append(f"[… {at - last - 1:,} {'line' if at - last == 2 else 'lines'} left out …]")
        if at < len(lines):
            out.append(lines[at][1])
        last = at
    return "\n".join(out)
