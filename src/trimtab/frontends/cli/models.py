"""`trimtab models`: which models one can name, and what is known of them."""

import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click
import msgspec

from trimtab.coding.extensions.open import open_extensions
from trimtab.coding.first_model import key_variables
from trimtab.coding.model_list import ModelRow, matching, model_rows
from trimtab.coding.models import known_models, unlisted_providers
from trimtab.coding.person import NOBODY
from trimtab.coding.project import Project, open_project
from trimtab.coding.roles import ROLES, members_of
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table
from trimtab.frontends.cli.own_output import own_output
from trimtab.frontends.cli.screen import note, width_of

if TYPE_CHECKING:
    from trimtab.coding.live_models import Live


@click.command("models")
@click.argument("pattern", required=False, default="")
@click.option("--usable", is_flag=True, help="Only those that could be asked now. Asks the servers for their lists.")
@click.option("--json", "as_json", is_flag=True, help="All that is known, as JSON.")
def command(pattern: str, *, usable: bool, as_json: bool) -> int:
    """List models whose name contains PATTERN, favourites (★) first; (live) are those that only their server lists. Any other model of a provider works too: --model PROVIDER/ID."""
    found, unlisted, roles = anyio.run(partial(_listed, open_project(Path(".")), pattern, usable=usable))
    if as_json:
        click.echo(json.dumps([_json(row) for row in found], indent=2))
        return 0
    if found:
        _table(found)
    for line in roles:
        click.echo(line, err=True)
    for line in unlisted:
        click.echo(line, err=True)
    if not found and not unlisted:
        click.echo(_nothing(pattern, usable=usable), err=True)
    return 0 if found or unlisted else 1


async def _listed(project: Project, pattern: str, *, usable: bool) -> tuple[Sequence[ModelRow], list[str], list[str]]:
    """The models, providers of which none is known, and the roles, with what extensions bring: those that may run, and nobody is asked about others."""
    async with AsyncExitStack() as stack:
        with own_output():
            project, extensions = await open_extensions(project, NOBODY, stack)
        for text in extensions.take_notices():
            note(text)
        live = await _live(project) if usable else None
        rows = model_rows(project, usable=usable, live=live)
        return matching(rows, pattern), _unlisted(project, rows, live, pattern), _roles(project)


async def _live(project: Project) -> "Live":
    from trimtab.coding.live_models import ask_servers  # the HTTP client

    return await ask_servers(project, await anyio.to_thread.run_sync(lambda: known_models(project, usable=True)))


def _unlisted(project: Project, rows: Sequence[ModelRow], live: "Live | None", pattern: str) -> list[str]:
    """A line for each provider of which nothing is listed, or that should have listed something itself and didn't."""
    silent = live.silent if live else {}
    listed = {row.info.provider for row in rows if row.live}
    bare = [name for name in unlisted_providers(project) if name not in listed]
    lines = {name: f"{name}: {why}" for name, why in silent.items()}
    for name in bare:
        why = f", and {silent[name]}" if name in silent else ""
        lines[name] = f"{name}: no model of it is listed{why}; --model {name}/ID takes any that its server has"
    return [one_line(line) for name, line in lines.items() if pattern.lower() in name.lower()]


def _nothing(pattern: str, *, usable: bool) -> str:
    if usable and not pattern:
        return f"no model is usable yet: set a key ({key_variables()}), or declare a server; trimtab doctor says what was found"
    which = "usable model" if usable else "model"
    return f"no {which} matches {pattern!r}; --model PROVIDER/ID is sent as written"


def _json(row: ModelRow) -> dict[str, Any]:
    more = {"usable": row.usable, "favourite": row.favourite, "roles": row.roles, "live": row.live}
    return {**msgspec.to_builtins(row.info), **more}


def _roles(project: Project) -> list[str]:
    """A line for each role that is set: who has it, and who stands by."""
    lines = []
    for role in ROLES:
        if members := members_of(project.settings, role):
            named = [m.ref if m.weight is None else f"{m.ref} (weight {m.weight})" for m in members]
            standing = f"; stand by: {', '.join(named[1:])}" if named[1:] else ""
            lines.append(one_line(f"roles.{role}: {named[0]}{standing}"))
    return lines


def _table(rows: Sequence[ModelRow]) -> None:
    head = ("MODEL", "WINDOW", "OUTPUT", "$/M IN", "$/M OUT", "INPUT", "THINKING", "ROLES")
    for line in table([head, *map(_row, rows)], width_of(sys.stdout)):
        click.echo(line)


def _row(row: ModelRow) -> tuple[str, ...]:
    m = row.info
    price = min(m.prices, key=lambda p: p.above, default=None)
    return (
        f"{m.ref}{' ★' if row.favourite else ''}{' (live)' if row.live else ''}",
        "?" if row.live and m.source == "default" else f"{m.context_window:,}",
        "?" if row.live else f"{m.max_output:,}",
        "?" if price is None else f"{price.input:g}",
        "?" if price is None else f"{price.output:g}",
        "+".join(m.input),
        ",".join(m.thinking) or "-",
        ",".join(row.roles),
    )
