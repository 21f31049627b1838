"""`trimtab report`: what benches and training runs left behind, as one page that needs nothing else.

folders ──read──▶ rows ──report──▶ summary, tables, figures ──write──▶ FILE.html, and each table as CSV and JSON in FILE-tables/
"""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.named import Named
from trimtab.frontends.cli.path_steps import STEPS, named_steps
from trimtab.frontends.cli.screen import width_of
from trimtab.types.errors import UsageError

_CLEARED = "\r\x1b[K"


@click.command("report")
@click.argument("folders", nargs=-1, type=Named(), metavar="DIR…", shell_complete=completers.folders)
@click.option(
    "--out", type=Named(), metavar="FILE.html", shell_complete=completers.files, help="The page. Default: report.html."
)
@STEPS
@click.option("--date", metavar="TEXT", default="", help="A date to print; nothing is printed without it.")
def command(*, folders: tuple[str, ...], out: str | None, steps: tuple[str, ...], date: str) -> int:
    """Write one page about what `trimtab bench` and `trimtab train` found.

    DIR is a folder that one of them wrote, or a folder of such folders. What there is no data for is said on the page, behind what there is.

    The page is one file without scripts, and fetches nothing. Each of its tables is written as CSV and as JSON into a folder beside it. The same
    rows give the same page.
    """
    if not folders:
        raise UsageError("no folder to report on", hint="Name the folders that `trimtab bench --out DIR` wrote.")
    page = Path(out or "report.html")
    from trimtab import __version__
    from trimtab.lab.report import drawing

    drawing.require()  # what is missing is said before anything is read
    from trimtab.lab.bench.steps import with_arms
    from trimtab.lab.report.names import shortened
    from trimtab.lab.report.page import Facts
    from trimtab.lab.report.reading import read
    from trimtab.lab.report.sections import report_of
    from trimtab.lab.report.writing import way_to_repository, write

    stages = named_steps(steps)
    with_arms(stages)  # a step that isn't there is told before anything is read
    found, names = shortened(read([Path(folder) for folder in folders]))
    path = with_arms({key: names.get(arm, arm) for key, arm in stages.items()})
    _tell(f"{len(found.rows):,} rows: intervals are drawn")
    try:
        facts = Facts(
            {"trimtab": __version__, "python": sys.version.split()[0], **drawing.versions()},
            _command_line(folders, page, steps, date),
            date,
            found.manifests,
            found.timings,
            found.runs,
            found.opened,
            found.notes,
            way_to_repository(page),
        )
        written = write(report_of(found, path), facts, page, told=_tell)
    finally:
        _tell("")
    for note in found.notes:
        click.echo(one_line(f"note: {note}"), err=True)
    click.echo(
        one_line(
            f"{written.page}: {counted(len(found.rows), 'row')}, {counted(written.plots, 'plot')}, {written.size / 1_000:,.0f} kB; "
            f"{counted(written.count, 'table')} in {written.tables}"
        )
    )
    return 0


def _command_line(folders: Sequence[str], page: Path, steps: Sequence[str], date: str) -> str:
    """The line that makes this page again."""
    options = [word for step in steps for word in ("--step", step)] + (["--date", date] if date else [])
    return shlex.join(("trimtab", "report", *folders, "--out", str(page), *options))


def _tell(line: str) -> None:
    """One line on a terminal that gives way to the next; nothing elsewhere."""
    if not sys.stderr.isatty():
        return
    sys.stderr.write(_CLEARED + shortened(one_line(line), (width_of(sys.stderr) or 80) - 1))
    sys.stderr.flush()
