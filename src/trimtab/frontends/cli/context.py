"""`trimtab context`: what a model sees of a session and why, and a person's hand on it.

show, log, explain, blame     read: no lock, nothing is written
learned                       reads, or removes, what the sessions of a folder taught
bisect                        reads, and runs a check on forks that go again
restore, pin, unpin, revert   write to the session, with every check that a running one makes
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from trimtab.coding.context.bisect import Check, Tried, bisect, suspects
from trimtab.coding.context.saved import SavedContext, open_saved
from trimtab.coding.context.wishes import (
    LEAST_PREFIX,
    Granted,
    edit_named,
    item_named,
    named_by_blame,
    pin,
    restore,
    revert,
    unpin,
)
from trimtab.coding.project import open_project
from trimtab.coding.telling.context_text import (
    blame_text,
    edit_lines,
    item_lines,
    item_table,
    log_text,
    meter_lines,
    shown_names,
)
from trimtab.coding.telling.printable import json_text, one_line
from trimtab.context.telling.blame import blame
from trimtab.context.telling.dropped import dropped_facts
from trimtab.context.telling.explain import LogRow, context_log
from trimtab.context.telling.layers import active_context, archive, summary_index
from trimtab.context.telling.story import edit_story, item_story
from trimtab.frontends.cli import completers, context_learned
from trimtab.frontends.cli.context_answers import (
    bisect_data,
    budget,
    granted_data,
    granted_lines,
    guilty_lines,
    row_data,
)
from trimtab.frontends.cli.ending import Ended, ending
from trimtab.frontends.cli.messages import message_text
from trimtab.frontends.cli.numbers import WINDOW, Seconds
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.errors import UsageError
from trimtab.types.text import strip_terminal

F = TypeVar("F", bound=Callable[..., Any])

_SESSION = click.argument("session", shell_complete=completers.sessions)
_ANY = click.argument("session", default="last", shell_complete=completers.sessions)
_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_MODEL = click.option(
    "--model", metavar="P/M", shell_complete=completers.models, help="Count for this model, not for the session's last."
)
_WINDOW = click.option("--window", type=WINDOW, metavar="N", help="As if the window had N tokens.")
_SETS = click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml.")
_TAKEOVER = click.option("--takeover", is_flag=True, help="Take a session over that another host has locked.")
_REASON = click.option("--reason", default="", help="Why, for the log.")


def _reading(command: F) -> F:
    for option in reversed((_JSON, _MODEL, _WINDOW, _SETS)):
        command = option(command)
    return command


def _writing(command: F) -> F:
    for option in reversed((_REASON, _JSON, _MODEL, _WINDOW, _SETS, _TAKEOVER)):
        command = option(command)
    return command


@click.group("context", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """See and change what a model sees of a session. SESSION is an id, the start of one, a path, or last."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


command.add_command(context_learned.command)


@command.command("show", short_help="Show the next request, item by item, and the budget.")
@_ANY
@click.option("--text", "as_text", is_flag=True, help="The messages themselves, as the model would get them.")
@_reading
def show(session: str, *, as_text: bool, as_json: bool, **how: Any) -> int:
    """Show what the next request would hold, item by item, and the budget."""
    with _opened(session, how) as saved:
        look, observation = saved.look(), saved.observe()
        if as_json:
            _print_json(
                {
                    "session_id": saved.log.header.id,
                    "active_context": active_context(saved.view, observation),
                    "archive": archive(saved.view),
                    "summary_index": summary_index(saved.view),
                    "budget": budget(saved, look),
                }
            )
            return 0
        if as_text:
            for message, name in zip(saved.view.messages(), shown_names(look), strict=True):
                click.echo(strip_terminal(message_text(message, name=name)))
            return 0
        head = f"session {saved.log.header.id} · {saved.engine.model.ref} · window {look.budget.window:,}"
        _print([head, *meter_lines(look, observation, policy=saved.policy), ""])
        for line in item_table(look, observation, width_of(sys.stdout)):
            click.echo(line)
    return 0


@command.command("log", short_help="List what was done about the context, when, by whom and why.")
@_ANY
@click.option("--diff", is_flag=True, help="Also what each edit changed, and the facts that left the context with it.")
@_reading
def log(session: str, *, diff: bool, as_json: bool, **how: Any) -> int:
    """List every edit, revert, refusal and failure of a policy: when, by whom, why, at what price."""
    with _opened(session, how) as saved:
        rows = context_log(saved.path, whole=saved.whole, diff=diff)
        dropped = dropped_facts(saved.path, whole=saved.whole) if diff else None
        entries = {entry.id: entry for entry in saved.path}
        if as_json:
            _print_json(
                {
                    "session_id": saved.log.header.id,
                    "rows": [row_data(row, entries[row.entry_id].time, dropped) for row in rows],
                }
            )
        elif rows:
            _print(log_text(rows, entries, dropped))
        else:
            click.echo("no edit was made in this session", err=True)
    return 0


@command.command("explain", short_help="Say why an item is shown as it is, or what an edit did.")
@_SESSION
@click.argument("name")
@_reading
def explain(session: str, name: str, *, as_json: bool, **how: Any) -> int:
    """Say why an item is shown as it is, or what an edit did. NAME is a handle (r7), a call id, an entry id, or the id of an edit."""
    with _opened(session, how) as saved:
        rows = {row.entry_id: row for row in context_log(saved.path, whole=saved.whole)}
        times = {entry.id: entry.time for entry in saved.path}
        found = rows.get(name) or rows.get(_edit_or_none(saved, name)) or _note_or_none(rows, name)
        if found is not None:
            told = edit_story(saved.look(), found)
            if as_json:
                _print_json({"edit": {**msgspec.to_builtins(told), "time": times[found.entry_id]}})
            else:
                _print(edit_lines(told, times[found.entry_id], session))
            return 0
        item = item_story(saved.look(), saved.log.archive, item_named(saved, name))
        assert item is not None
        if as_json:
            _print_json({"item": msgspec.to_builtins(item)})
        else:
            _print(item_lines(item, session))
    return 0


@command.command("blame", short_help="Say where a text came up, and what became of it.")
@_SESSION
@click.argument("what", metavar="TEXT|NAME|STEP")
@_reading
def blame_(session: str, what: str, *, as_json: bool, **how: Any) -> int:
    """Say where something came up, which edit hid it, why and at what price, who needed it again, and whether it can be reached.

    Exit code 1 when nothing of this session's branch holds it.
    """
    with _opened(session, how) as saved:
        found = blame(named_by_blame(saved, what), saved.view, saved.log.archive)
        if what.isdecimal() and int(what[:9]) > saved.view.step and saved.view.find(what) is None:
            click.echo(one_line(f"note: there is no step {what[:9]}, so the text {what!r} was searched for"), err=True)
        if as_json:
            _print_json({"query": what, "found": msgspec.to_builtins(found)})
        elif found:
            _print(blame_text(found, {entry.id: entry.time for entry in saved.path}))
        else:
            click.echo(one_line(f"nothing of this session's branch holds {what!r}"), err=True)
        return 0 if found else 1


@command.command("restore", short_help="Bring a hidden or shortened item back.")
@_SESSION
@click.argument("name")
@click.option("--page", type=click.IntRange(min=1), metavar="N", help="Only page N of it.")
@_writing
def restore_(session: str, name: str, *, page: int | None, reason: str, as_json: bool, **how: Any) -> int:
    """Bring a hidden or shortened item back: whole where it fits a page, else its first page."""
    return _wish(session, how, lambda saved: restore(saved, name, page=page, reason=reason), as_json=as_json)


@command.command("pin", short_help="Keep an item from every policy and from the ladder.")
@_SESSION
@click.argument("name")
@_writing
def pin_(session: str, name: str, *, reason: str, as_json: bool, **how: Any) -> int:
    """Keep an item from every policy and from the ladder."""
    return _wish(session, how, lambda saved: pin(saved, name, reason=reason), as_json=as_json)


@command.command("unpin", short_help="Let policies have an item again.")
@_SESSION
@click.argument("name")
@_writing
def unpin_(session: str, name: str, *, reason: str, as_json: bool, **how: Any) -> int:
    """Let policies have an item again."""
    return _wish(session, how, lambda saved: unpin(saved, name, reason=reason), as_json=as_json)


@command.command("revert", short_help="Take one edit back, and keep all that came later.")
@_SESSION
@click.argument("edit")
@_writing
def revert_(session: str, edit: str, *, reason: str, as_json: bool, **how: Any) -> int:
    """Take one edit back and keep all that came later. EDIT is the id of an edit or a revert, the start of one, or last."""
    return _wish(session, how, lambda saved: revert(saved, edit, reason=reason), as_json=as_json)


@command.command("bisect", short_help="Find the edit that broke a run.")
@_ANY
@click.option(
    "--check",
    "check",
    metavar="CMD",
    required=True,
    help="Exit code 0 means good. {session} stands for the fork's file, as $TRIMTAB_SESSION does.",
)
@click.option(
    "--timeout",
    "timeout_s",
    type=Seconds(),
    default=600.0,
    show_default=True,
    metavar="S",
    help="Seconds for one run of the check.",
)
@click.option("--verbose", is_flag=True, help="Show what the check prints.")
@_JSON
@_SETS
def bisect_(session: str, *, check: str, timeout_s: float, verbose: bool, as_json: bool, sets: tuple[str, ...]) -> int:
    """Find the edit that broke a run: take edits back by halves on forks of the session, and run CMD on each.

    The session itself stays as it is. Exit code 0 when an edit is to blame, 1 when none is. A signal ends the check with everything that it started.
    """
    with _opened(session, {"sets": sets}) as saved:
        assert saved.log.path is not None
        wanted = Check(check, saved.project.cwd, saved.project.env, timeout_s, quiet=not verbose)
        try:
            with ending() as stop:
                edits = suspects(saved.view)
                done = bisect(saved.project, saved.log.path, edits, wanted, tell=_tell_trial, waiting=stop.waiting)
        except Ended as end:
            return end.code
        rows = {row.entry_id: row for row in context_log(saved.path, whole=saved.whole)}
        guilty = [rows[edit] for edit in done.found.guilty]
        times = {entry.id: entry.time for entry in saved.path}
        if as_json:
            _print_json(bisect_data(saved.log.header.id, check, done, guilty, times))
        elif guilty:
            _print(guilty_lines(done, guilty, times, session))
        else:
            click.echo(one_line(f"no edit is to blame: {done.found.reason}"), err=True)
        return 0 if guilty else 1


@contextmanager
def _opened(session: str, how: dict[str, Any], *, write: bool = False) -> Iterator[SavedContext]:
    """Open a session as the options say, and say on standard error what a person should know."""
    project = open_project(Path("."), sets=how.get("sets", ()))
    with open_saved(
        project,
        session,
        model=how.get("model"),
        window=how.get("window"),
        write=write,
        takeover=bool(how.get("takeover")),
    ) as saved:
        for note in saved.notes:
            click.echo(one_line(f"note: {note}"), err=True)
        yield saved


def _wish(session: str, how: dict[str, Any], do: Callable[[SavedContext], Granted], *, as_json: bool) -> int:
    with _opened(session, how, write=True) as saved:
        came = do(saved)
        if as_json:
            _print_json(granted_data(saved.log.header.id, came))
        else:
            _print(granted_lines(came))
    return 0


def _edit_or_none(saved: SavedContext, name: str) -> str:
    """The edit that `name` means, unless it means an item, or nothing."""
    if saved.view.find(name) is not None and saved.view.edit(name) is None:
        return ""
    try:
        return edit_named(saved, name)
    except UsageError:
        return ""


def _note_or_none(rows: Mapping[str, LogRow], name: str) -> LogRow | None:
    """The one note of the log whose id begins with `name`."""
    found = [row for key, row in rows.items() if len(name) >= LEAST_PREFIX and key.startswith(name)]
    return found[0] if len(found) == 1 else None


def _tell_trial(tried: Tried) -> None:
    taken = f"{len(tried.reverted)} edits taken back" if tried.reverted else "nothing taken back"
    taken = "1 edit taken back" if len(tried.reverted) == 1 else taken
    code = "no end in time" if tried.code is None else f"exit code {tried.code}"
    click.echo(f"trial {tried.number}: {taken}: {'good' if tried.verdict == 'pass' else 'bad'} ({code})", err=True)


def _print(lines: Iterable[str]) -> None:
    width = width_of(sys.stdout)
    for line in lines:
        click.echo(wrapped(one_line(line), width))


def _print_json(value: object) -> None:
    click.echo(json_text(value))
