"""`trimtab logout`: forget a key or a login."""

from functools import partial
from pathlib import Path

import anyio
import click

from trimtab.coding.auth.login import log_out
from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import one_line
from trimtab.config.auth_file import read_auth
from trimtab.frontends.cli import completers
from trimtab.types.errors import UsageError


@click.command("logout")
@click.argument("words", metavar="[PROVIDER]", nargs=-1, shell_complete=completers.providers)
def command(words: tuple[str, ...]) -> int:
    """Forget what is kept for PROVIDER. It can be left out where only one has something."""
    project = open_project(Path("."))
    kept = tuple(read_auth(project.home.auth_file).logins)
    if len(words) > 1 or (not words and len(kept) != 1):
        names = f"Kept: {', '.join(map(one_line, kept)) or 'none'}."
        raise UsageError("logout takes the name of one provider", hint=names)
    for line in anyio.run(partial(log_out, project, words[0] if words else kept[0])):
        click.echo(one_line(line), err=True)
    return 0
