"""`trimtab sessions export`: a session as a page, as Markdown, as JSON lines."""

import os
import sys
from pathlib import Path
from typing import cast, get_args

import click

from trimtab.coding.logs import session_folder
from trimtab.coding.project import open_project
from trimtab.coding.session_export import ENDINGS, Format, export, format_of
from trimtab.coding.telling.printable import json_text
from trimtab.context.stores.jsonl import id_from_name
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.dump_file import dump_file
from trimtab.frontends.cli.ending import breaking_off
from trimtab.frontends.cli.screen import note
from trimtab.types.errors import UsageError

_STDOUT = "-"


@click.command("export", short_help="Write a session down for others.")
@click.argument("session", shell_complete=completers.sessions)
@click.argument("file", required=False, shell_complete=completers.files)
@click.option(
    "--format", "format_", type=click.Choice(get_args(Format)), help="By default what FILE ends with, else html."
)
@click.option("--force", is_flag=True, help="Replace FILE where it is there already.")
@click.option("--json", "as_json", is_flag=True, help="Say as JSON what was written.")
def command(session: str, file: str | None, *, format_: str | None, force: bool, as_json: bool) -> int:
    """Write a session down for others, without secrets.

    SESSION is an id, the start of one, a path, or last. FILE is named after it when none is given; - is standard output. html is a page that needs nothing else;
    openai and anthropic are the messages as JSON lines; jsonl is a session file with nothing beside it.
    """
    project = open_project(Path("."))
    folder = session_folder(project)
    path = folder.find(session, str(project.cwd))
    chosen = cast("Format", format_) if format_ else format_of(file)
    if file == _STDOUT:
        if as_json:
            raise UsageError("standard output can't hold both", hint="Name a file, or leave --json out.")
        for piece in export(project, path, chosen):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return 0
    name = file or f"trimtab-{id_from_name(path)}{ENDINGS[chosen]}"
    if os.path.isdir(name):
        raise UsageError(f"{name} is a folder", hint="Name a file.")
    if file is not None and os.path.lexists(name) and not force:
        raise UsageError(f"{name} is there already", hint="Name another file, or add --force to replace it.")
    with breaking_off(lambda: f"stopped; {name} is not written"), dump_file(name, [path], option="") as write:
        for piece in export(project, path, chosen):
            assert write is not None
            write(piece)
    if as_json:
        click.echo(json_text({"session": id_from_name(path), "file": str(Path(name).absolute()), "format": chosen}))
    else:
        note(f"written to {name}")
    return 0
