"""The table that all benchmarks fill."""

from collections.abc import Iterable
from dataclasses import dataclass

_HEAD = ("what", "measured", "goal", "met", "tau 0.4.8, same run")


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `met` is None where there is no goal."""

    what: str
    measured: str
    goal: str = ""
    met: bool | None = None
    peer: str = ""


def render(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table with aligned columns."""
    words = {None: "", True: "yes", False: "NO"}
    cells = [_HEAD, *((r.what, r.measured, r.goal, words[r.met], r.peer) for r in rows)]
    widths = [max(len(row[n]) for row in cells) for n in range(len(_HEAD))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)
