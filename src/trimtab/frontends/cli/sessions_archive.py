"""`trimtab sessions archive` and `unarchive`: sessions put away, out of lists and of what `--continue` takes, and taken back."""

from collections.abc import Sequence
from pathlib import Path

import click

from trimtab.coding.logs import session_folder
from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import json_text
from trimtab.context.stores.jsonl import id_from_name
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import note
from trimtab.types.errors import TrimtabError

_JSON = click.option("--json", "as_json", is_flag=True, help="Say as JSON what became of them.")


@click.command("archive", short_help="Put sessions away.")
@click.argument("sessions", nargs=-1, required=True, shell_complete=completers.sessions)
@_JSON
def archive(sessions: tuple[str, ...], *, as_json: bool) -> int:
    """Put SESSIONS away: lists leave them out, and --continue passes them over. Nothing is removed.

    `sessions list --archived` shows them, a search finds them, and who goes on with one has it back. One that is open is refused, the others aren't.
    """
    return _set(sessions, archived=True, as_json=as_json)


@click.command("unarchive", short_help="Take archived sessions back.")
@click.argument("sessions", nargs=-1, required=True, shell_complete=completers.archived_sessions)
@_JSON
def unarchive(sessions: tuple[str, ...], *, as_json: bool) -> int:
    """Have lists show SESSIONS again."""
    return _set(sessions, archived=False, as_json=as_json)


def _set(refs: Sequence[str], *, archived: bool, as_json: bool) -> int:
    project = open_project(Path("."))
    folder = session_folder(project)
    paths = dict.fromkeys(folder.find(ref, str(project.cwd)) for ref in refs)
    done: list[dict[str, object]] = []
    failed: list[TrimtabError] = []
    for path in paths:
        try:
            changed = folder.set_archived(path, archived=archived)
        except TrimtabError as problem:
            failed.append(problem)
        else:
            done.append({"session": id_from_name(path), "archived": archived, "changed": changed})
    if as_json:
        click.echo(json_text(done))
    for one in () if as_json else done:
        state = "archived" if archived else "back in the lists" if one["changed"] else "in the lists"
        note(f"{one['session']} is {state}{'' if one['changed'] else ' already'}")
    for other in failed[:-1]:
        note(other.message)
    if failed:
        raise failed[-1]
    return 0
