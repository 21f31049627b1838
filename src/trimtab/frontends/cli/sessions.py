"""`trimtab sessions`: what was said before, and where.

list, show                  here
archive, unarchive          sessions_archive.py
search                      sessions_search.py
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from trimtab.coding.logs import session_folder
from trimtab.coding.project import open_project
from trimtab.coding.session_list import Row, ended_in_words, list_sessions
from trimtab.coding.telling.tables import table
from trimtab.context.stores.disk import timestamp
from trimtab.frontends.cli import (
    completers,
    sessions_archive,
    sessions_check,
    sessions_export,
    sessions_import,
    sessions_name,
    sessions_search,
)
from trimtab.frontends.cli.messages import message_text
from trimtab.frontends.cli.screen import note, width_of
from trimtab.types.text import strip_terminal


@click.group("sessions", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Find, show, export, import, name, archive, check and remove sessions."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("list")
@click.option("--all", "everywhere", is_flag=True, help="Of every folder, not only this one.")
@click.option("--archived", is_flag=True, help="Those that were put away, and no others.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def list_(*, everywhere: bool, archived: bool, as_json: bool) -> int:
    """List this folder's sessions, the newest first."""
    rows, notes = list_sessions(open_project(Path(".")), everywhere=everywhere, archived=archived, tell=note)
    if as_json:
        click.echo(json.dumps([_json(row) for row in rows], indent=2))
    elif rows:
        _table(rows, everywhere=everywhere)
    elif not notes:
        none = "no archived sessions here" if archived else "no sessions here yet"
        click.echo(none + ("" if everywhere else "; --all looks everywhere"), err=True)
    for text in notes:
        note(text)
    return 1 if notes and not rows else 0


@command.command("show")
@click.argument("session", shell_complete=completers.sessions)
@click.option("--json", "as_json", is_flag=True, help="The messages of the branch, as JSON.")
def show(session: str, *, as_json: bool) -> int:
    """Show what was said. SESSION is an id, the start of one, a path, or last."""
    project = open_project(Path("."))
    folder = session_folder(project)
    log = folder.open(folder.find(session, str(project.cwd)), read_only=True)
    try:
        messages = log.view()
        if as_json:
            facts = {"session": msgspec.to_builtins(log.header), "file": str(log.path), "cwd": log.cwd}
            click.echo(json.dumps({**facts, "messages": msgspec.to_builtins(messages)}, indent=2))
            return 0
        click.echo(strip_terminal(f"session {log.header.id} in {log.cwd}\nfile {log.path}\n"))
        for message in messages:
            click.echo(strip_terminal(message_text(message)))
    finally:
        log.close()
    return 0


for one in (
    sessions_search.command,
    sessions_export.command,
    sessions_import.command,
    sessions_name.command,
    sessions_archive.archive,
    sessions_archive.unarchive,
    sessions_check.doctor,
    sessions_check.remove_,
):
    command.add_command(one)


def _json(row: Row) -> dict[str, object]:
    s = row.summary
    return {
        "id": s.id,
        "title": s.title,
        "prompt": s.prompt,
        "model": s.model,
        "cwd": s.cwd,
        "file": str(s.path),
        "created": s.created,
        "modified": timestamp(s.modified),
        "age_s": round(row.age_s),
        "entries": s.entries,
        "tokens": s.tokens,
        "cost_usd": row.cost_usd,
        "ended": s.ended,
        "archived": s.archived,
        "parent_session": s.parent_session,
        "damage": s.damage,
    }


def _table(rows: Sequence[Row], *, everywhere: bool) -> None:
    """Rows under their names. How sessions ended is a column where one of them ended otherwise than well."""
    columns = ["ID", "AGE", "ENTRIES", "TOKENS", "COST", "ENDED", "TITLE", "FOLDER"]
    cells = [columns]
    for row in rows:
        s = row.summary
        cost = "?" if row.cost_usd is None else f"${row.cost_usd:.2f}"
        age, tokens, title = _age(row.age_s), f"{s.tokens:,}", s.title or "(empty)"
        cells.append([s.id, age, str(s.entries), tokens, cost, ended_in_words(s), title, s.cwd])
    hidden = {
        name for name, wanted in (("ENDED", any(row[5] for row in cells[1:])), ("FOLDER", everywhere)) if not wanted
    }
    shown = [name not in hidden for name in columns]
    lines = [[strip_terminal(c) for c, there in zip(row, shown, strict=True) if there] for row in cells]
    click.echo("\n".join(table(lines, width_of(sys.stdout), elastic=lines[0].index("TITLE"))))


def _age(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
