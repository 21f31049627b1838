"""`trimtab jobs`: the background commands that sessions started and that run: what was kept, what was left behind, what open sessions have."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import click

from trimtab.coding.jobs.recorded import Recorded, end_all, meant, recorded_jobs
from trimtab.coding.jobs.tool import LINES
from trimtab.coding.project import Project, open_project
from trimtab.coding.telling.printable import json_text, one_line
from trimtab.coding.telling.tables import counted, table
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import note, width_of
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub_deep, strip_terminal

_COMMAND = 3
"""The column that gives way."""


_ALL = click.option("--all", "everywhere", is_flag=True, help="Of every folder, not only this one.")
_AS_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")


@click.group("jobs", invoke_without_command=True)
@_ALL
@_AS_JSON
@click.pass_context
def command(ctx: click.Context, *, everywhere: bool, as_json: bool) -> int:
    """Find, show and end background commands that sessions left running. Alone: those of this folder."""
    if ctx.invoked_subcommand is None:
        return int(ctx.invoke(list_, everywhere=everywhere, as_json=as_json))
    if everywhere or as_json:
        raise UsageError(
            f"--all and --json are of the list, not of {ctx.invoked_subcommand}", hint="Write them behind `list`."
        )
    return 0


@command.command("list")
@_ALL
@_AS_JSON
def list_(*, everywhere: bool, as_json: bool) -> int:
    """List the jobs that run, the oldest first."""
    found = _found(open_project(Path(".")), everywhere=everywhere)
    if as_json:
        click.echo(json_text(scrub_deep([_json(one) for one in found])))
    elif found:
        _table(found, everywhere=everywhere)
    else:
        click.echo("no job runs" + ("" if everywhere else " here; --all looks everywhere"), err=True)
    return 0


@command.command("tail")
@click.argument("job", metavar="ID", shell_complete=completers.jobs)
@click.argument("lines", type=click.IntRange(1, 10_000), default=LINES)
def tail(job: str, lines: int) -> int:
    """Show the last LINES that a job printed, and where all of it stands."""
    one = _named(open_project(Path(".")), job)
    note(f"{one.name}: {one.state_told}, runs {one.runs}" + ("" if one.job.file else "; no file with its output"))
    if printed := one.job.last_lines(lines):
        click.echo(strip_terminal(printed))
    return 0


@command.command("wait")
@click.argument("job", metavar="ID", shell_complete=completers.jobs)
def wait(job: str) -> int:
    """Wait until a job ends, then show its last lines. Ctrl-C ends the wait, and not the job."""
    one = _named(open_project(Path(".")), job)
    anyio.run(one.job.group.gone)
    note(f"{one.name}: ended")
    if printed := one.job.last_lines(LINES):
        click.echo(strip_terminal(printed))
    return 0


@command.command("kill")
@click.argument("jobs", metavar="ID...", nargs=-1, required=True, shell_complete=completers.jobs)
def kill(jobs: tuple[str, ...]) -> int:
    """End jobs with all that they started: SIGTERM, a moment, SIGKILL. `all` means those of this folder that no open session has. Exit code 1 when one can't be ended."""
    project = open_project(Path("."))
    if jobs != ("all",):
        return _end([_named(project, ref) for ref in jobs])
    found = _found(project)
    left = [one for one in found if one.state in ("kept", "cut off")]
    if held := len(found) - len(left):
        note(f"{counted(held, 'job')} of open sessions {'goes' if held == 1 else 'go'} on; say the id to end one")
    if not left:
        note("no job was left here")
    return _end(left)


def _end(jobs: Sequence[Recorded]) -> int:
    each = {one.mark: one for one in jobs}.values()
    ended = anyio.run(end_all, list(each))
    for one, done in zip(each, ended, strict=True):
        pids = ", ".join(map(str, one.pids[:5]))
        click.echo(f"{one_line(one.name)}: " + ("ended" if done else f"some of it can't be ended (pid {pids})"))
    return 0 if all(ended) else 1


def _found(project: Project, *, everywhere: bool = False) -> tuple[Recorded, ...]:
    return anyio.run(partial(recorded_jobs, project, everywhere=everywhere))


def _named(project: Project, ref: str) -> Recorded:
    """The job of this folder that is meant, or the one of any folder that has this mark."""
    here = _found(project)
    marked = [] if any(one.job.id == ref for one in here) else _found(project, everywhere=True)
    elsewhere = [one for one in marked if ref not in (one.job.id, "") and one.mark.startswith(ref)]
    return meant(elsewhere or here, ref)


def _table(found: Sequence[Recorded], *, everywhere: bool) -> None:
    cells = [("ID", "RUNS", "STATE", "COMMAND", "FOLDER")]
    for one in found:
        who = f"{one.job.by}: " if one.job.by else ""
        cells.append((one.ref, one.runs, one.state_told, one_line(who + one.job.command), one_line(one.folder or "?")))
    shown = [row if everywhere else row[:-1] for row in cells]
    click.echo("\n".join(table(shown, width_of(sys.stdout), elastic=_COMMAND)))


def _json(one: Recorded) -> dict[str, Any]:
    return {
        "id": one.job.id,
        "mark": one.mark,
        "state": one.state,
        "command": one.job.command,
        "folder": one.folder or None,
        "session": one.session,
        "by": one.job.by or None,
        "began": one.job.began,
        "runs_s": max(round(one.job.now() - one.job.began), 0),
        "pids": list(one.pids),
        "output_file": str(one.job.file) if one.job.file else None,
    }
