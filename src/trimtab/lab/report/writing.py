"""Writing the report: the page, and beside it a folder with each table as CSV and as JSON.

    FILE.html     FILE-tables/NAME.csv     FILE-tables/NAME.json

The page is written last and whole, or not at all.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import trimtab
from trimtab.lab.files import replace
from trimtab.lab.report import drawing
from trimtab.lab.report.markup import Html, join, tag
from trimtab.lab.report.page import Facts, page
from trimtab.lab.report.sections import Figure, Report
from trimtab.lab.report.table import tables_beside
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.text import strip_terminal


class NotWritten(TrimtabError):
    """The report can't be written where it should go."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the page, its size in bytes, and how many tables and plots it has."""

    page: Path
    size: int
    tables: Path
    count: int
    plots: int


def write(report: Report, facts: Facts, out: Path, *, told: Callable[[str], object] = lambda _: None) -> Written:
    """Write the report to `out`. `told` hears of each plot before it is drawn. Raises `NotWritten`, and `UsageError` where what draws isn't installed."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"{out} doesn't end in .html", hint="The page is one HTML file: --out FILE.html.")
    charts = drawing.charts()
    plots = 0

    def picture(figure: Figure) -> Html:
        nonlocal plots
        plots += 1
        told(figure.table.title)
        plot = charts.CHARTS[figure.kind](figure.table, dict(figure.roles))
        svg = drawing.drawn(plot.spec, name=figure.table.name, title=f"Plot: {figure.table.title}", roles=charts.ROLES)
        keys = [
            tag("span", tag("span", key.glyph, style=f"color:var(--{key.role})", aria_hidden="true"), f" {key.label}")
            for key in plot.legend
        ]
        return join([tag("div", *keys, class_="legend") if keys else None, Html(svg)])

    beside = tables_beside(out)
    with _told(out):
        beside.mkdir(parents=True, exist_ok=True)  # before anything is drawn, which takes a while
    whole = strip_terminal(page(report, facts, picture)).encode()  # names may hold anything
    with _told(out):
        for table in report.tables:
            (beside / f"{table.name}.csv").write_text(table.as_csv(), "utf-8")
            (beside / f"{table.name}.json").write_bytes(table.as_json())
        replace(out, whole)
    return Written(out, len(whole), beside, len(report.tables), plots)


@contextmanager
def _told(out: Path) -> Iterator[None]:
    """Whatever the disk says, as an error with a next step."""
    try:
        yield
    except OSError as error:
        raise NotWritten(
            f"{out} can't be written: {error.strerror}", hint="Name a file in a folder that you may write to."
        ) from error


def way_to_repository(out: Path) -> str | None:
    """Return the way from the page's folder to the repository that this runs from, None where it runs from none."""
    root = Path(trimtab.__file__).resolve().parents[2]
    if not ((root / "tests").is_dir() and (root / "pyproject.toml").is_file()):
        return None
    return Path(os.path.relpath(root, out.resolve().parent)).as_posix()
