"""A long source made short, without a model, along its structure: critical blocks verbatim, the rest compressed.

    text ─kind_of─▶ rows   ─shorten_json, shorten_table─▶ every row with its needed fields
                 └▶ blocks ─▶ critical whole, repeats counted ─▶ of the others the lines that say most ─▶ gaps marked

Params are those of the action `summarize`: `max_tokens, keep_first, keep_last, keep_fields`. The same text gives the same result, of at most
`max_tokens`, and what is missing is said: in the text, and as `complete` beside it.
"""

import re
from collections.abc import Iterable, Sequence
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
    last = len(blocks) - keep_last
    blocks = tuple(replace(b, critical=True) if n < keep_first or n >= last else b for n, b in enumerate(blocks))
    if kind == "log":
        blocks = _without_repeats(blocks)
    widest = max(_NARROWEST, max_tokens)
    every = [(b, line) for b, block in enumerate(blocks) for line in block.text.split("\n") if line.strip()]
    lines = [(b, both_ends(line, widest)) for b, line in every]
    shown = _select(lines, blocks, max_tokens=max_tokens, count=count, words=keep_fields)
    clipped = {b for b, line in every if len(line) > widest}
    missing = clipped | {b for at, (b, _) in enumerate(every) if at not in shown}
    result = fit(_join(lines, shown), max_tokens=max_tokens, count=count).text
    if clipped and count(result) < max_tokens // 2:  # a few endless lines: their structure says less than their ends
        result = fit(text, max_tokens=max_tokens, count=count).text
    return Compressed(result, kind, len(blocks) - len(missing), len(blocks), complete=False)


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


def _without_repeats(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Records that differ in numbers alone stand once, with their count."""
    seen: dict[str, int] = {}
    counts: list[int] = []
    kept: list[Block] = []
    for block in blocks:
        shape = _DIGITS.sub("#", block.text)
        if shape in seen:
            counts[seen[shape]] += 1
        else:
            seen[shape] = len(kept)
            kept.append(block)
            counts.append(1)
    return tuple(
        replace(block, text=f"{block.text}\n[× {times}, alike but for numbers]") if times > 1 else block
        for block, times in zip(kept, counts, strict=True)
    )


def _select(
    lines: Sequence[tuple[int, str]], blocks: Sequence[Block], *, max_tokens: int, count: Count, words: Sequence[str]
) -> set[int]:
    """Places of the lines that are shown: the most telling ones, as many as fit."""
    order = _by_weight(lines, blocks, words)
    low, high = 0, len(order)
    while low < high:
        middle = (low + high + 1) // 2
        text = _join(lines, order[:middle])
        if len(text) <= 8 * max_tokens and count(text) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return set(order[:low])


def _by_weight(lines: Sequence[tuple[int, str]], blocks: Sequence[Block], words: Sequence[str]) -> list[int]:
    folded = [word.casefold() for word in words]
    ends = (0, len(lines) - 1)
    step = max(1, len(lines) // _MOST_SCORED)
    scores: dict[int, float] = {}
    for at, (b, line) in enumerate(lines):
        if at % step and not blocks[b].critical and at not in ends:
            continue
        score = 100.0 * blocks[b].critical + 50.0 * any(word in line.casefold() for word in folded)
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
