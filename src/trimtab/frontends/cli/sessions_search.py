"""`trimtab sessions search`: in which session something was said."""

import sys
from pathlib import Path

import click

from trimtab.coding.project import open_project
from trimtab.coding.session_list import search_sessions
from trimtab.coding.telling.printable import json_text, one_line
from trimtab.frontends.cli.screen import note, width_of, wrapped
from trimtab.sessions.index.searching import Hit, Hits

_MOST = 1_000


@click.command("search", short_help="Find what was said.")
@click.argument("query", nargs=-1, required=True)
@click.option("--all", "everywhere", is_flag=True, help="In every folder, not only this one.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--limit", type=click.IntRange(1, _MOST), default=20, show_default=True, help="At most so many places.")
def command(query: tuple[str, ...], *, everywhere: bool, as_json: bool, limit: int) -> int:
    """Find what was said, in archived sessions too, the best places first.

    QUERY is words that all have to be there; "in quotation marks" it is a phrase, and word* is the beginning of a word.
    """
    project = open_project(Path("."))
    found = search_sessions(project, " ".join(query), everywhere=everywhere, limit=limit, tell=note)
    if as_json:
        hits = [_json(hit) for hit in found.hits]
        click.echo(json_text({"hits": hits, "all_words": found.all_words, "more": found.more}))
    else:
        _show(found, everywhere=everywhere)
    return 0


def _json(hit: Hit) -> dict[str, object]:
    session = hit.session
    return {
        "session": session.id,
        "title": session.title,
        "archived": session.archived,
        "cwd": session.cwd,
        "file": str(session.path),
        "entry_id": hit.entry_id or None,
        "role": hit.role,
        "time": hit.time or None,
        "snippet": hit.snippet,
    }


def _show(found: Hits, *, everywhere: bool) -> None:
    """The places, those of one session together where they follow each other."""
    if not found.hits:
        return note("nothing found" + ("" if everywhere else "; --all looks in every folder"))
    if not found.all_words:
        note("no text has all of these words; these have some")
    last = None
    width = width_of(sys.stdout)
    for hit in found.hits:
        session = hit.session
        if session.id != last:
            where = f"  {session.cwd}" if everywhere else ""
            away = "  (archived)" if session.archived else ""
            click.echo(one_line(f"{session.id}  {session.title or '(empty)'}{where}{away}"))
            last = session.id
        when = f" {hit.time[:16].replace('T', ' ')}" if hit.time else ""
        place = f" {hit.entry_id}" if hit.entry_id else ""
        click.echo(wrapped(one_line(f"  {hit.role}{when}{place}  {hit.snippet}"), width))
    if found.more:
        note("there is more; --limit shows more of it, another word narrows it down")
    return None
