"""`trimtab doctor`: the doctor's findings as a list a newcomer can act on."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

import anyio
import click

from trimtab.coding.doctor import examine
from trimtab.coding.project import open_anyway
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.own_output import own_output
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.text import strip_terminal

_MARKS = {"ok": "ok     ", "note": "note   ", "missing": "MISSING"}


@click.command("doctor")
@click.option("--online", is_flag=True, help="Also ask the configured model's server when it isn't on this machine.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option(
    "--model",
    metavar="P/M",
    shell_complete=completers.models,
    help="Look at this model instead of the configured one.",
)
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="Any setting, as in config.toml.")
def command(*, online: bool, as_json: bool, model: str | None, sets: tuple[str, ...]) -> int:
    """Say what is configured, what answers and what is missing. Exit code 1 when something is missing."""
    project, mistakes = open_anyway(Path("."), overrides={"model": model} if model else None, sets=sets)

    async def run() -> int:
        with own_output():
            checks = await examine(project, mistakes=mistakes, online=online)
        if as_json:
            click.echo(json.dumps([asdict(c) for c in checks], indent=2))
        else:
            for check in checks:
                todo = f"\n         → {check.todo}" if check.todo else ""
                text = strip_terminal(f"{_MARKS[check.status]}  {check.name}: {check.found}{todo}")
                click.echo(wrapped(text, width_of(sys.stdout)))
        return 1 if any(c.status == "missing" for c in checks) else 0

    return anyio.run(run)
