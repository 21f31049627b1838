"""`trimtab replay`: recorded sessions of any agent under another context policy, offline and read-only."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import click
import msgspec

from trimtab.context.policies.registry import find_policy
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import table, width_of
from trimtab.sessions.detect import FORMATS
from trimtab.sessions.replay.batch import Input, Report, Wish, expanded, replayed, report_of
from trimtab.sessions.replay.models import Terms, price_of
from trimtab.types.errors import UsageError
from trimtab.types.text import strip_terminal

_HEAD = (
    "POLICY",
    "COST",
    "(PESSIMISTIC)",
    "PROMPT",
    "CACHED",
    "PEAK",
    "NEEDED",
    "VISIBLE",
    "STUB",
    "LOST",
    "EDITS",
    "OVER",
)


@click.command("replay")
@click.argument("files", nargs=-1, metavar="FILE…", shell_complete=completers.files)
@click.option(
    "--policy", "policies", metavar="NAME", default="rules", show_default=True, help="A policy; A,B compares several."
)
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="Tokens of the window. Default: as recorded.")
@click.option("--price", metavar="IN,READ,WRITE,OUT", help="USD per million tokens, in place of the catalogue's.")
@click.option(
    "--format", "format_", type=click.Choice(tuple(FORMATS)), help="Whose files they are. Default: by content."
)
@click.option("--dump", metavar="FILE", shell_complete=completers.files, help="Write a line per request to FILE.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(
    *,
    files: tuple[str, ...],
    policies: str,
    window: int | None,
    price: str | None,
    format_: str | None,
    dump: str | None,
    as_json: bool,
) -> int:
    """Say what recorded sessions would have cost, and what they would have lacked, under a context policy.

    FILE is a session of Trimtab or of another agent, packed or not, a folder of them, or - for standard input. Nothing is changed and nothing is
    sent.
    """
    names = _split(policies)
    if not files:
        raise UsageError("no file to replay", hint="Name session files or folders, or take --all.")
    if len(names) > 1 and (as_json or dump):
        raise UsageError("--json and --dump take one policy", hint="Run it once for each.")
    terms = Terms(window, price_of(price) if price else None)
    inputs = list(expanded(files, lambda: sys.stdin.buffer.read()))
    reports = [_replayed(inputs, name, terms, format_, dump, predict=as_json) for name in names]
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(reports[0].as_data()), indent=2).decode())
    else:
        _print(reports)
    for entry in reports[0].failed:
        click.echo(strip_terminal(f"{entry.file}: {entry.error}"), err=True)
    return 1 if reports[0].failed else 0


def _replayed(
    inputs: Sequence[Input], name: str, terms: Terms, format_: str | None, dump: str | None, *, predict: bool
) -> Report:
    with ExitStack() as stack:
        write = None
        if dump is not None:
            try:
                write = stack.enter_context(Path(dump).open("wb")).write
            except OSError as error:
                raise UsageError(f"{dump}: {error.strerror}", hint="Name a file that can be written.") from error
        wish = Wish(find_policy(name), terms, format_, write, predict=predict)
        return report_of(name, list(replayed(inputs, wish)), terms)


def _split(policies: str) -> list[str]:
    """The names between commas; commas within parentheses belong to a name."""
    names, depth = [""], 0
    for character in policies:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            names.append("")
        else:
            names[-1] += character
    return [name.strip() for name in names if name.strip()]


def _print(reports: Sequence[Report]) -> None:
    rows: list[tuple[str, ...]] = [_HEAD]
    for report in reports:
        t = report.total
        money = ["?" if usd is None else f"${usd:,.2f}" for usd in (t.cost_usd, t.cost_usd_pessimistic)]
        counts = (t.prompt_tokens, t.cached_tokens, t.peak_tokens, t.needed, t.needed_visible, t.needed_stub)
        rest = (t.needed_lost, t.edits, t.overflows)
        rows.append((report.policy, *money, *(f"{n:,}" for n in (*counts, *rest))))
    sessions = sum(entry.figures is not None for entry in reports[0].entries)
    click.echo(f"{sessions} {'session' if sessions == 1 else 'sessions'}, {reports[0].total.steps:,} requests")
    for line in table(rows, width_of(sys.stdout)):
        click.echo(line)
