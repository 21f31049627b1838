"""`trimtab replay`: recorded sessions of any agent under another context policy, offline and read-only."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

from trimtab.coding.telling.printable import json_text, one_line
from trimtab.coding.telling.tables import counted, stacked
from trimtab.config.home import find_home
from trimtab.context.policies.base import require_ready
from trimtab.context.policies.registry import find_policy, known_policies
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.dump_file import dump_file
from trimtab.frontends.cli.numbers import WINDOW
from trimtab.frontends.cli.progress import watched
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.sessions.detect import FORMATS
from trimtab.sessions.importers.gathering import CUT
from trimtab.sessions.replay.batch import Entry, Input, Report, Wish, expanded, replayed, report_of
from trimtab.sessions.replay.card import COMPARED, Card, card_of
from trimtab.sessions.replay.homes import agent_folders, sessions_in
from trimtab.sessions.replay.models import Terms, Window, price_of
from trimtab.sessions.replay.report import Figures
from trimtab.types.errors import UsageError

HEAD = (
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
"""The columns of the table."""
LEGEND = (
    "COST: all requests, with what was hidden and needed fetched again; (PESSIMISTIC): each such need also makes its call again.",
    "PROMPT, CACHED: tokens of all requests, and of these from the cache. PEAK: the largest request.",
    "NEEDED: results that a later step used. Of these VISIBLE: stood in its request; STUB: hidden, with a way back; LOST: hidden without one.",
    "EDITS: changes of the context. OVER: requests larger than the window takes.",
)
"""What the columns hold; `--help` says the same."""

_WINDOW_SOURCES = {
    "given": "as --window says",
    "recorded": "as recorded",
    "catalogue": "its model's",
    "default": "nothing says which",
}
"""Who says how large a window was; that of a session that was compacted is told with a figure."""


@click.command("replay")
@click.argument("files", nargs=-1, metavar="FILE…", shell_complete=completers.files)
@click.option(
    "--policy",
    "policies",
    metavar="NAME",
    shell_complete=completers.policies,
    help="A policy; A,B compares several. Default: rules; with --all every one of ours and of other agents.",
)
@click.option(
    "--window",
    type=WINDOW,
    metavar="N",
    help="Tokens of the whole window, room for the answer included. Default: as recorded.",
)
@click.option("--price", metavar="IN,READ,WRITE,OUT", help="USD per million tokens, in place of the catalogue's.")
@click.option(
    "--format", "format_", type=click.Choice(tuple(FORMATS)), help="Whose files they are. Default: by content."
)
@click.option("--dump", metavar="FILE", shell_complete=completers.files, help="Write a line per request to FILE.")
@click.option("--all", "everywhere", is_flag=True, help="A report card of all agents' sessions in your home.")
@click.option("--yes", is_flag=True, help="With --all: don't ask before reading them.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(
    *,
    files: tuple[str, ...],
    policies: str | None,
    window: int | None,
    price: str | None,
    format_: str | None,
    dump: str | None,
    everywhere: bool,
    yes: bool,
    as_json: bool,
) -> int:
    """Say what recorded sessions would have cost, and what they would have lacked, under a context policy.

    FILE is a session of Trimtab or of another agent, packed or not, a folder of them, or - for standard input. Nothing is changed and nothing is
    sent.

    COST is that of all requests, with what was hidden and needed fetched again; (PESSIMISTIC) makes each such call again, too. PROMPT and CACHED are
    tokens of all requests, PEAK is the largest one. NEEDED counts results that a later step used: VISIBLE stood in its request, STUB were
    hidden with a way back, LOST without one. EDITS are changes of the context, and OVER counts requests larger than the window takes.
    """
    names = _named(policies, everywhere=everywhere)
    terms = Terms(window, None if price is None else price_of(price))
    if everywhere:
        if files or dump or format_:
            raise UsageError("--all takes no files, --dump or --format", hint="Leave them out, or leave --all out.")
        return _report_card(names, terms, yes=yes, as_json=as_json)
    if not files:
        raise UsageError("no file to replay", hint="Name session files or folders, or take --all.")
    if len(names) > 1 and (as_json or dump):
        raise UsageError("--json and --dump take one policy", hint="Run it once for each.")
    inputs = _inputs(files)
    reports = [_replayed(inputs, name, terms, format_, dump, predict=as_json) for name in names]
    failed, entries = reports[0].failed, reports[0].entries
    if as_json:
        click.echo(json_text(reports[0].as_data()))
    elif len(entries) > len(failed):
        _print(reports)
    for line in (*_notes(reports), *_failures(failed)):
        click.echo(one_line(line), err=True)
    return 1 if failed or not entries or any(map(_is_cut, entries)) else 0


def _inputs(names: Sequence[str]) -> list[Input]:
    """The files to read. Each folder without a session is named."""
    found: list[Input] = []
    for name in names:
        here = list(expanded([name], lambda: sys.stdin.buffer.read()))
        if not here:
            text = f"no session of a known agent lies in {name}; trimtab replay --all looks where agents keep theirs"
            click.echo(one_line(text), err=True)
        found += here
    return found


def _failures(failed: Sequence[Entry]) -> list[str]:
    """What could not be read, and below it what to do; the same advice is given once."""
    lines: list[str] = []
    for number, entry in enumerate(failed):
        lines.append(f"trimtab: {entry.error}")
        if entry.hint and entry.hint not in (after.hint for after in failed[number + 1 :]):
            lines.append(f"  {entry.hint[:1].upper()}{entry.hint[1:]}.")
    return lines


def _is_cut(entry: Entry) -> bool:
    return entry.recording is not None and entry.recording.cut


def _replayed(
    inputs: Sequence[Input], name: str, terms: Terms, format_: str | None, dump: str | None, *, predict: bool
) -> Report:
    read = [given.origin for given in inputs if isinstance(given.origin, Path)]
    with dump_file(dump, read) as write:
        wish = Wish(find_policy(name), terms, format_, write, predict=predict)
        return report_of(name, list(replayed(watched(inputs, _shown), wish)), terms)


def _shown(given: Input) -> str:
    return given.name


def _named(policies: str | None, *, everywhere: bool) -> list[str]:
    """The policies that are asked for, at least one. Raises `UsageError` for one that isn't there, or can't decide."""
    if policies is None:
        return list(COMPARED) if everywhere else ["rules"]
    names = _split(policies)
    if not names:
        raise UsageError("--policy names none", hint=f"Policies: {', '.join(known_policies())}.")
    for name in names:
        require_ready(find_policy(name))
    return names


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
    read = [entry for entry in reports[0].entries if entry.figures is not None]
    said = _window_line([entry.window for entry in read if entry.window])
    click.echo(one_line(f"{counted(len(read), 'session')}, {counted(reports[0].total.steps, 'request')}{said}"))
    rooms = sorted({entry.room for entry in read})
    _print_table([(report.policy, report.total) for report in reports], rooms)


def _print_table(policies: Sequence[tuple[str, Figures]], rooms: Sequence[int] = ()) -> None:
    """The figures, on a terminal with what their columns hold. `rooms`: what a request may have, in tokens."""
    width = width_of(sys.stdout)
    for line in stacked(_rows(policies), width):
        click.echo(one_line(line))
    below = ["", *LEGEND] if width is not None else []
    if rooms and any(figures.overflows for _, figures in policies):
        sizes = " to ".join(f"{n:,}" for n in dict.fromkeys((rooms[0], rooms[-1])))
        below.append(f"OVER counts requests above {sizes} tokens: the window less the room for an answer and a margin.")
    if any(figures.cost_usd is None for _, figures in policies):
        below.append("$?: no price is known; --price IN,READ,WRITE,OUT gives one, in USD per million tokens.")
    for line in below:
        click.echo(wrapped(line, width))


def _window_line(windows: Sequence[Window]) -> str:
    """The window, or the smallest and the largest, and who says so."""
    sizes = sorted({window.tokens for window in windows})
    if not sizes:
        return ""
    said = f", window {' to '.join(f'{n:,}' for n in dict.fromkeys((sizes[0], sizes[-1])))}"
    by = Counter(window.source for window in windows)
    if by.keys() == {"given"}:
        return said
    at = max((window.compacted_at or 0 for window in windows), default=0)
    told = {**_WINDOW_SOURCES, "compacted": f"where the client compacted, at {at:,} tokens"}
    return f"{said} ({'; '.join(told[source] + (f' ({n})' if len(by) > 1 else '') for source, n in by.items())})"


def _notes(reports: Sequence[Report]) -> list[str]:
    """Each note once, with the file that it is about, or how many those are."""
    files: dict[str, dict[str, None]] = {}
    for entry in (entry for report in reports for entry in report.entries):
        for note in (*entry.notes, *([CUT] if _is_cut(entry) else [])):
            files.setdefault(note, {})[entry.file] = None
    return [
        f"{next(iter(named)) if len(named) == 1 else counted(len(named), 'file')}: note: {note}"
        for note, named in files.items()
    ]


def _rows(policies: Sequence[tuple[str, Figures]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [HEAD]
    for name, t in policies:
        counts = (t.prompt_tokens, t.cached_tokens, t.peak_tokens, t.needed, t.needed_visible, t.needed_stub)
        rest = (t.needed_lost, t.edits, t.overflows)
        rows.append((name, _usd(t.cost_usd), _usd(t.cost_usd_pessimistic), *(f"{n:,}" for n in (*counts, *rest))))
    return rows


def _report_card(names: Sequence[str], terms: Terms, *, yes: bool, as_json: bool) -> int:
    folders = agent_folders(Path.home(), find_home().sessions)
    if not folders:
        click.echo("no agent has left sessions in this home", err=True)
        return 0
    if not yes:
        click.echo("This reads, and neither changes nor sends, the sessions in", err=True)
        for name, folder in folders.items():
            click.echo(one_line(f"  {name}: {folder}"), err=True)
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("nobody is there to ask", hint="Add --yes.")
        click.confirm("Read them?", abort=True, err=True)
    inputs = [Input(str(path), path) for _, path in sessions_in(folders)]
    if not inputs:
        click.echo("no agent has left sessions in this home", err=True)
        return 0
    policies = dict.fromkeys(("none", *names))
    click.echo(f"{counted(len(inputs), 'file')}, policies: {len(policies)}; fewer with --policy A,B", err=True)
    card = card_of(watched(inputs, _shown), {name: find_policy(name) for name in policies}, terms)
    if as_json:
        click.echo(json_text(card.as_data()))
        return 0
    for line in _card_lines(card):
        click.echo(one_line(line))
    _print_table(card.policies)
    return 0


def _card_lines(card: Card) -> list[str]:
    breaks, results, compactions = card.row.breaks, card.row.results, card.row.compactions
    share = f" ({results.unused_tokens / results.tokens:.0%} of their tokens)" if results.tokens else ""
    unread = [f"{counted(len(card.unreadable), 'file')} could not be read"] if card.unreadable else []
    requests, reported = card.policies[0][1].steps, card.row.requests
    usage = f"usage is recorded of {reported:,}" if reported != requests else ""
    paid = f"{_usd(card.row.paid_usd)} at list prices" if reported else ""
    return [
        ", ".join(
            part for part in (counted(card.sessions, "session"), counted(requests, "request"), usage, paid) if part
        ),
        f"cache breaks: {breaks.calls:,} calls paid {breaks.tokens:,} tokens again, {_usd(breaks.usd)} more than cached",
        f"repeated reads: {results.repeated_reads:,} of files that had not changed, {results.repeated_tokens:,} tokens",
        f"results never used: {results.unused:,} of {results.count:,}{share}",
        f"compactions: {compactions.count:,}; of {compactions.facts:,} facts used after one, {compactions.in_summary:,} stood in the summary"
        f" and {compactions.fetched_again:,} were fetched again",
        *unread,
        "",
    ]


def _usd(value: float | None) -> str:
    return "$?" if value is None else f"${value:,.2f}"
