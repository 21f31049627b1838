"""`trimtab sessions name`: another title for a session that nobody has open."""

from pathlib import Path

import click

from trimtab.coding.logs import session_folder
from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import json_text
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import note
from trimtab.types.errors import UsageError


@click.command("name", short_help="Give a session a title.")
@click.argument("session", shell_complete=completers.sessions)
@click.argument("title", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Say as JSON what it is called now.")
def command(session: str, title: tuple[str, ...], *, as_json: bool) -> int:
    """Give SESSION (an id, the start of one, a path, or last) the title TITLE. In one that is open, /name does it."""
    from trimtab.coding.commands.name import title_in

    project = open_project(Path("."))
    folder = session_folder(project)
    name = title_in(" ".join(title))
    if not name:
        raise UsageError("a title needs some letters", hint="trimtab sessions name ID TITLE")
    log = folder.open(folder.find(session, str(project.cwd)))
    try:
        log.set_title(name)
        known = log.header.id
    finally:
        log.close()
    if as_json:
        click.echo(json_text({"session": known, "title": name}))
    else:
        note(f"{known} is called {name}")
    return 0
