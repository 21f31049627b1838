"""`trimtab trust`: which projects may act, and what they bring."""

import os
from pathlib import Path
from typing import Any

import click

from trimtab.coding.project import open_project
from trimtab.coding.telling.printable import json_text, one_path
from trimtab.coding.telling.tables import table
from trimtab.coding.telling.trust_text import standing_lines
from trimtab.coding.trust.answers import TrustAnswer
from trimtab.coding.trust.decide import keep_answer
from trimtab.coding.trust.known import forget
from trimtab.coding.trust.place import place_of, project_root
from trimtab.coding.trust.standing import Standing, all_stored, standing
from trimtab.config.home import environment, find_home
from trimtab.frontends.cli import completers
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub_deep

_JSON = click.option("--json", "as_json", is_flag=True, help="As JSON.")
_PATH = click.argument("path", shell_complete=completers.folders)


@click.group("trust", invoke_without_command=True)
@_JSON
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> int:
    """Say which projects may act, and what they bring. Alone: what holds for this folder."""
    if ctx.invoked_subcommand is None:
        _show(Path("."), as_json=as_json)
    return 0


@command.command("list")
@_JSON
def list_(*, as_json: bool) -> int:
    """List the stored answers."""
    rows = all_stored(_store())
    if as_json:
        _print_json([{"path": row.path, "answer": row.answer, "now": row.now} for row in rows])
    elif rows:
        cells = [("ANSWER", "NOW", "FOLDER"), *((row.answer, row.now, one_path(row.path)) for row in rows)]
        for line in table(cells, None):
            click.echo(line)
    else:
        click.echo("no answers are stored", err=True)
    return 0


@command.command("show")
@click.argument("path", default=".", shell_complete=completers.folders)
@_JSON
def show(path: str, *, as_json: bool) -> int:
    """Show whether the project of PATH is trusted, and what it brings."""
    _show(Path(path), as_json=as_json)
    return 0


@command.command("set")
@_PATH
@click.argument("answer", type=click.Choice(["folder", "parent", "never"]))
@_JSON
def set_(path: str, answer: TrustAnswer, *, as_json: bool) -> int:
    """Store an answer about the project of PATH: trust it (folder), all that lies beside it too (parent), or never."""
    keep_answer(_store(), place_of(project_root(_folder(Path(path)), home=_home())), answer)
    _show(Path(path), as_json=as_json)
    return 0


@command.command("code")
@click.argument("path", default=".", shell_complete=completers.folders)
@click.option("--yes", is_flag=True, help="Let all of it run from now on, as it is.")
@_JSON
def code(path: str, *, yes: bool, as_json: bool) -> int:
    """Show the code that the trusted project of PATH would run, where it is new or changed: extensions, and hooks of its settings."""
    from trimtab.coding.extensions.review import let_run, review_code

    project = open_project(_folder(Path(path)))
    if not project.trusted:
        raise UsageError(
            f"{one_path(project.trust.root)} isn't trusted, so none of its code runs",
            hint=f"First: trimtab trust set {one_path(path)} folder",
        )
    review = review_code(project)
    if yes and review.pending:
        let_run(project, review)
    if as_json:
        _print_json({"pending": list(review.pending), "let_run": yes, "runs": list(review.trusted)})
        return 0
    for name in review.trusted:
        click.echo(f"{one_path(name)}: runs, as you said")
    for name, why in review.unreadable.items():
        click.echo(f"{one_path(name)}: can't be read: {one_path(why)}")
    click.echo("\n".join((*review.lines, *review.texts)) if review.pending else "no code is new or changed")
    if review.pending:
        click.echo(
            "it may run from now on" if yes else f"to let it run as it is: trimtab trust code {one_path(path)} --yes"
        )
    return 0


@command.command("forget")
@_PATH
@_JSON
def forget_(path: str, *, as_json: bool) -> int:
    """Forget what was answered about PATH, which may be gone by now, and about its code."""
    store = _store()
    real = os.path.realpath(path)
    named = [str(project_root(Path(path), home=_home())), real, os.path.abspath(path)]
    known = {row.path for row in all_stored(store)}
    about = next((name for name in named if name in known), real)
    done = forget(store, about)
    if as_json:
        _print_json({"path": about, "forgotten": done})
    else:
        click.echo(f"{one_path(about)}: forgotten" if done else f"{one_path(about)}: nothing was stored", err=not done)
    return 0


def _show(path: Path, *, as_json: bool) -> None:
    found = standing(_folder(path), _store(), home=_home())
    if as_json:
        _print_json(_json(found))
    else:
        click.echo("\n".join(standing_lines(found)))


def _json(found: Standing) -> dict[str, Any]:
    inputs = [
        {"name": one.name, "kind": one.kind, "size": one.size, "target": one.target, "own": one.own}
        for one in found.inputs
    ]
    return {
        "folder": str(found.root),
        "trusted": found.trusted,
        "by": found.by or None,
        "reason": found.reason,
        "inputs": inputs,
        "code": list(found.code),
    }


def _folder(path: Path) -> Path:
    if not path.is_dir():
        raise UsageError(f"there is no folder {str(path)!r}", hint="trimtab trust list shows what is stored.")
    return path


def _store() -> Path:
    return find_home(environment()).trust_file


def _home() -> str | None:
    return environment().get("HOME")


def _print_json(value: Any) -> None:
    click.echo(json_text(scrub_deep(value)))
