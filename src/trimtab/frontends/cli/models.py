"""`trimtab models`: which models one can name, and what is known of them."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from trimtab.coding.models import known_models
from trimtab.coding.project import open_project
from trimtab.types.models import ModelInfo


@click.command("models")
@click.argument("pattern", required=False, default="")
@click.option("--usable", is_flag=True, help="Only those whose key or server is configured.")
@click.option("--json", "as_json", is_flag=True, help="All that is known, as JSON.")
def command(pattern: str, *, usable: bool, as_json: bool) -> int:
    """List models whose name contains PATTERN. Any other model of a provider works too: --model PROVIDER/ID."""
    found = [m for m in known_models(open_project(Path(".")), usable=usable) if pattern.lower() in m.ref.lower()]
    if as_json:
        click.echo(json.dumps(msgspec.to_builtins(found), indent=2))
        return 0
    if not found:
        click.echo(f"no model matches {pattern!r}; --model PROVIDER/ID is sent as written", err=True)
        return 1
    _table(found)
    return 0


def _table(models: Sequence[ModelInfo]) -> None:
    rows = [("MODEL", "WINDOW", "OUTPUT", "INPUT", "THINKING", "$/M IN", "$/M OUT"), *map(_row, models)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _row(m: ModelInfo) -> tuple[str, ...]:
    price = min(m.prices, key=lambda p: p.above, default=None)
    return (
        m.ref,
        f"{m.context_window:,}",
        f"{m.max_output:,}",
        "+".join(m.input),
        ",".join(m.thinking) or "-",
        "?" if price is None else f"{price.input:g}",
        "?" if price is None else f"{price.output:g}",
    )
