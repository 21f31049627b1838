"""Rows as lines of text: tables that are cut rather than wrapped, in a width that whoever shows them knows (None: as wide as it gets)."""

from collections.abc import Sequence

_GAP = "  "
_LEAST = 2
"""Columns of a table that are never left out."""


def shortened(text: str, width: int) -> str:
    """`text` in at most `width` characters."""
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def table(
    rows: Sequence[Sequence[str]], width: int | None, *, elastic: int | None = None, right: Sequence[int] = ()
) -> list[str]:
    """Lines of a table; columns `right` hold numbers. What is too wide for `width` is cut in column `elastic`, or else loses columns from the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    if width is not None and elastic is not None:
        rest = sum(widths) - widths[elastic] + len(_GAP) * (len(widths) - 1)
        widths[elastic] = min(widths[elastic], max(width - rest, 10))
    while width is not None and len(widths) > _LEAST and sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        widths.pop()
    return [
        _GAP.join(
            shortened(c, w).rjust(w) if n in right else shortened(c, w).ljust(w)
            for n, (c, w) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def stacked(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """Lines of a table of which no column may be left out: what doesn't fit beside the first columns stands in a table below, behind the first column again."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    first, taken = 1, widths[0]
    while first < len(widths) and (width is None or taken + len(_GAP) + widths[first] <= width):
        taken += len(_GAP) + widths[first]
        first += 1
    first = max(first, _LEAST)
    lines = table([row[:first] for row in rows], width)
    rest = [[row[0], *row[first:]] for row in rows]
    return lines if first >= len(widths) else [*lines, "", *stacked(rest, width)]


def counted(number: int, thing: str) -> str:
    """A number of things, in words."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
