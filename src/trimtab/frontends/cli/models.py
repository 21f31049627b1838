"""`trimtab models`: which models one can name, and what is known of them."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from trimtab.coding.first_model import key_variables
from trimtab.coding.models import known_models, unlisted_providers
from trimtab.coding.project import open_project
from trimtab.coding.telling.tables import table
from trimtab.frontends.cli.screen import width_of
from trimtab.types.models import ModelInfo


@click.command("models")
@click.argument("pattern", required=False, default="")
@click.option("--usable", is_flag=True, help="Only those whose key or server is configured.")
@click.option("--json", "as_json", is_flag=True, help="All that is known, as JSON.")
def command(pattern: str, *, usable: bool, as_json: bool) -> int:
    """List models whose name contains PATTERN. Any other model of a provider works too: --model PROVIDER/ID."""
    project = open_project(Path("."))
    found = [m for m in known_models(project, usable=usable) if pattern.lower() in m.ref.lower()]
    unlisted = [name for name in unlisted_providers(project) if pattern.lower() in name.lower()]
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return 0
    if found:
        _table(found)
    for name in unlisted:
        click.echo(f"{name}: no model of it is listed; --model {name}/ID takes any that its server has", err=True)
    if not found and not unlisted:
        click.echo(_nothing(pattern, usable=usable), err=True)
    return 0 if found or unlisted else 1


def _nothing(pattern: str, *, usable: bool) -> str:
    if usable and not pattern:
        return f"no model is usable yet: set a key ({key_variables()}), or declare a server; trimtab doctor says what was found"
    which = "usable model" if usable else "model"
    return f"no {which} matches {pattern!r}; --model PROVIDER/ID is sent as written"


def _table(models: Sequence[ModelInfo]) -> None:
    head = ("MODEL", "WINDOW", "OUTPUT", "$/M IN", "$/M OUT", "INPUT", "THINKING")
    for line in table([head, *map(_row, models)], width_of(sys.stdout)):
        click.echo(line)


def _row(m: ModelInfo) -> tuple[str, ...]:
    price = min(m.prices, key=lambda p: p.above, default=None)
    return (
        m.ref,
        f"{m.context_window:,}",
        f"{m.max_output:,}",
        "?" if price is None else f"{price.input:g}",
        "?" if price is None else f"{price.output:g}",
        "+".join(m.input),
        ",".join(m.thinking) or "-",
    )
