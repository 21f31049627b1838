"""`trimtab sessions doctor` and `trimtab sessions rm`: what is damaged, what lies around, and taking sessions away."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from trimtab.coding.logs import now, session_folder
from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import json_text, one_line
from trimtab.coding.telling.tables import counted
from trimtab.context.stores.checkup import Checked, Leftover, check, leftovers, mend, remove
from trimtab.context.stores.folder import SessionFolder, children_of
from trimtab.context.stores.jsonl import id_from_name
from trimtab.context.stores.summary import summarise
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import note
from trimtab.types.errors import SessionError, TrimtabError, UsageError

_SHOWN = 20
"""Damaged places that are listed of one file."""


@click.command("doctor", short_help="Find damage and leftovers.")
@click.argument("sessions", nargs=-1, shell_complete=completers.sessions)
@click.option("--all", "everywhere", is_flag=True, help="Of every folder, not only this one.")
@click.option("--fix", is_flag=True, help="Append the repair entries that the next writer would; nothing is rewritten.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def doctor(sessions: tuple[str, ...], *, everywhere: bool, fix: bool, as_json: bool) -> int:
    """Say what is damaged in session files, by line, and what lies around that belongs to none. Changes nothing without --fix.

    Exits with 1 when there is damage that no repair entry speaks of.
    """
    project = open_project(Path("."))
    folder = session_folder(project)
    cwd = str(project.cwd)
    paths = [folder.find(ref, cwd) for ref in sessions] or list(folder.paths(None if everywhere else cwd))
    checked: list[Checked] = []
    errors = [] if sessions else list(folder.unread(None if everywhere else cwd))
    for path in paths:
        try:
            found = check(path)
            if fix and not found.mended:
                mend(folder, path)
                found = check(path)
        except TrimtabError as problem:
            errors.append(problem.message)
        else:
            checked.append(found)
    left = () if sessions else leftovers(folder, project.home.checkpoints, now=now)
    if as_json:
        click.echo(json_text(_data(checked, left, errors)))
    else:
        _say(checked, left, errors, fix=fix)
    return 1 if errors or not all(one.mended for one in checked) else 0


def _data(checked: Sequence[Checked], left: Sequence[Leftover], errors: Sequence[str]) -> dict[str, object]:
    files = [
        {
            "session": one.id,
            "file": str(one.path),
            "entries": one.entries,
            "mended": one.mended,
            "damage": [{"kind": d.kind, "line": d.line, "detail": d.detail} for d in one.damage],
        }
        for one in checked
        if one.damage
    ]
    rest = [{"path": str(one.path), "why": one.why, "bytes": one.size} for one in left]
    return {"checked": len(checked), "damaged": files, "errors": list(errors), "leftovers": rest}


def _say(checked: Sequence[Checked], left: Sequence[Leftover], errors: Sequence[str], *, fix: bool) -> None:
    damaged = [one for one in checked if one.damage]
    for one in damaged:
        state = "read around; repair entries say so" if one.mended else "read around, not yet said in the file"
        click.echo(one_line(f"{one.path}: {counted(len(one.damage), 'damaged place')}, {state}"))
        for found in one.damage[:_SHOWN]:
            what = one_line(found.detail).strip() or "nothing but characters that nobody sees"
            click.echo(one_line(f"  line {found.line}: {found.kind.replace('_', ' ')}: {what}"))
        if len(one.damage) > _SHOWN:
            click.echo(f"  and {len(one.damage) - _SHOWN:,} more")
    for error in errors:
        click.echo(one_line(error))
    if errors:
        click.echo("what can't be read stays as it is; make it readable, or move away what is no session")
    whole = len(checked) - len(damaged)
    click.echo(f"{counted(whole, 'session')} whole, {len(damaged)} with damage")
    if not fix and any(not one.mended for one in damaged):
        click.echo(
            "--fix appends the repair entries, as the next run in such a session does; nothing readable is lost either way"
        )
    if left:
        click.echo(f"{counted(len(left), 'leftover')}, {_size(sum(one.size for one in left))}; to remove them:")
        for rest in left:
            click.echo(one_line(f"  rm -r {shlex.quote(str(rest.path))}   # {rest.why}, {_size(rest.size)}"))


@click.command("rm", short_help="Remove sessions.")
@click.argument("sessions", nargs=-1, required=True, shell_complete=completers.sessions)
@click.option("--yes", is_flag=True, help="Without a question.")
@click.option("--json", "as_json", is_flag=True, help="Say as JSON what was removed.")
def remove_(sessions: tuple[str, ...], *, yes: bool, as_json: bool) -> int:
    """Remove SESSIONS with their subagents' sessions and the outputs under their names; nothing else goes. One that is open is refused."""
    project = open_project(Path("."))
    folder = session_folder(project)
    paths = list(dict.fromkeys(folder.find(ref, str(project.cwd)) for ref in sessions))
    if not yes:
        for path in paths:
            click.echo(one_line(f"  {id_from_name(path)}  {_title(path)}{_with(len(children_of(path)))}"), err=True)
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("nobody is there to ask", hint="Add --yes.")
        click.confirm(f"Remove {counted(len(paths), 'session')} for good?", abort=True, err=True)
    _require_sessions(folder, paths)
    gone: list[dict[str, object]] = []
    taken: set[Path] = set()
    try:
        for path in paths:
            if path.exists() or path not in taken:
                gone.append(_removed(path, taken))
    finally:
        if as_json:
            click.echo(json_text(gone))
        for one in () if as_json else gone:
            note(f"removed {one['session']}{_with(int(str(one['subagents'])))}, {one['bytes']:,} bytes")
    return 0


def _removed(path: Path, taken: set[Path]) -> dict[str, object]:
    """Remove a session, then those that worked for it, which go to `taken`; what that was. Whoever has it open has those too."""
    children = children_of(path)
    size = remove(path, now=now)
    for child in children:
        size += remove(child, now=now)
        taken.add(child)
    return {"session": id_from_name(path), "file": str(path), "subagents": len(children), "bytes": size}


def _with(children: int) -> str:
    return f" with {counted(children, 'session')} of subagents" if children else ""


def _require_sessions(folder: SessionFolder, paths: Sequence[Path]) -> None:
    """A file that somebody named by its path has to be a session. Raises `SessionError`."""
    home = set(folder.paths(None))
    for path in paths:
        if path not in home:
            check(path)


def _title(path: Path) -> str:
    try:
        summary = summarise(path)
    except SessionError:
        return "(can't be read)"
    return f"{summary.title or '(empty)'} ({summary.entries:,} entries)"


def _size(size: int) -> str:
    for unit, width in (("GB", 10**9), ("MB", 10**6), ("KB", 10**3)):
        if size >= width:
            return f"{size / width:.1f} {unit}"
    return f"{size} bytes"
