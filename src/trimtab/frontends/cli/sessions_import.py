"""`trimtab sessions import`: sessions of other agents, to go on with here."""

import os
from pathlib import Path

import click

from trimtab.coding.logs import session_folder
from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import indented, json_text, one_line
from trimtab.coding.telling.tables import counted
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.ending import breaking_off
from trimtab.frontends.cli.screen import note
from trimtab.sessions.detect import FORMATS, find_recordings, read_recordings
from trimtab.sessions.imported import Imported, import_recording
from trimtab.types.errors import TrimtabError


@click.command("import", short_help="Take over sessions of other agents.")
@click.argument("files", nargs=-1, required=True, shell_complete=completers.files)
@click.option(
    "--format", "format_", type=click.Choice(tuple(FORMATS)), help="What wrote FILE; by default told by what is in it."
)
@click.option("--dry-run", is_flag=True, help="Say what would come of it, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(files: tuple[str, ...], *, format_: str | None, dry_run: bool, as_json: bool) -> int:
    """Make sessions of this folder out of FILES of other agents, or of folders of such; the files stay as they are.

    What is here already is found, not doubled. What a session has no place for is said.
    """
    project = open_project(Path("."))
    folder = session_folder(project)
    rows: list[dict[str, object]] = []
    failed = False

    def passed_over(message: str) -> None:
        nonlocal failed
        failed = True
        note(message)

    def stopped() -> str:
        taken = 0 if dry_run else sum("session" in row for row in rows)
        return f"stopped; what was taken over so far stays ({counted(taken, 'session')})"

    with breaking_off(stopped):
        for name in files:
            path = Path(name)
            found = find_recordings(path, tell=passed_over) if os.path.isdir(path) else [path]
            if not found:
                note(f"{name} holds no session of a known agent")
            for file in found:
                try:
                    recordings = read_recordings(file, format_, name=str(file))
                    done = [import_recording(one, folder, str(project.cwd), dry_run=dry_run) for one in recordings]
                except TrimtabError as problem:
                    failed = True
                    rows.append({"file": str(file), "error": problem.message})
                    note(f"{problem.message} ({problem.hint})" if problem.hint else problem.message)
                    continue
                rows += [_json(str(file), one) for one in done]
                if not as_json:
                    for one in done:
                        _say(str(file), one, dry_run=dry_run)
    if as_json:
        click.echo(json_text(rows))
    return 1 if failed else 0


def _json(file: str, done: Imported) -> dict[str, object]:
    return {
        "file": file,
        "format": done.recording.format,
        "session": done.id,
        "session_file": str(done.path),
        "messages": done.messages,
        "model": done.recording.model,
        "cwd": done.recording.cwd,
        "known": done.known,
        "lost": list(done.lost),
        "notes": list(done.notes),
    }


def _say(file: str, done: Imported, *, dry_run: bool) -> None:
    what = "is here already" if done.known else "would be a session" if dry_run else "is a session now"
    kind = FORMATS[done.recording.format].title
    click.echo(one_line(f"{file}: {what}, {done.id} ({kind}, {counted(done.messages, 'message')})"))
    for lost in done.lost:
        click.echo(indented(f"  left out: {lost}"))
    for text in done.notes:
        click.echo(indented(f"  note: {text}"))
