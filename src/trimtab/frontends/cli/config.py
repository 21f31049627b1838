"""`trimtab config`: settings as they hold, where each comes from, what is wrong with them, and changing them.

show, get     what holds (`--origin`: by whose word; `--model`: for that model)
set, unset, add, remove    one key, or one value of a list, of the user's file; `--here` of the user's for this folder, `--project` of the project's
check         every mistake in every layer         path, schema    for editors and scripts
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from trimtab.coding.project import Project, open_anyway, open_project
from trimtab.coding.settings.change import (
    Where,
    add_to_setting,
    file_of,
    set_setting,
    take_from_setting,
    unset_setting,
)
from trimtab.coding.settings.check import Problem, problems_of
from trimtab.coding.settings.in_force import below, key_text, rows_of
from trimtab.coding.telling.printable import json_text, one_line
from trimtab.coding.telling.settings_text import setting_lines
from trimtab.config.in_force import Row
from trimtab.config.schema import settings_schema
from trimtab.config.toml_text import value_text
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.errors import UsageError
from trimtab.types.text import strip_terminal

_LONGEST = 1_000_000
"""Bytes of a value that standard input may hold."""


def _in_folder(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="As for a run with this setting."),
        click.option("--model", metavar="P/M", shell_complete=completers.models, help="What holds for this model."),
    ):
        command = option(command)
    return command


def _whose(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--here", is_flag=True, help="In your own file for this folder; no repository brings that one."),
        click.option("--project", "in_project", is_flag=True, help="In the project's own .trimtab/config.toml."),
    ):
        command = option(command)
    return command


@click.group("config", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Show, check and change settings."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


@command.command("show")
@click.argument("keys", nargs=-1, metavar="[KEY]...", shell_complete=completers.settings)
@click.option("--origin", is_flag=True, help="Also say where each value comes from: file and line, variable or flag.")
@click.option("--all", "every", is_flag=True, help="Also what nobody set, with its default.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, origins included.")
@_in_folder
def show(
    keys: tuple[str, ...], *, origin: bool, every: bool, as_json: bool, model: str | None, sets: tuple[str, ...]
) -> int:
    """Show the settings in force here: those that are set, or all at KEY and below. Keys and other secrets are shown as (set)."""
    project = open_project(Path("."), sets=sets)
    rows = below(rows_of(project, model=model), keys)
    rows = tuple(row for row in rows if every or keys or row.origin)
    if as_json:
        click.echo(json_text([_json(row) for row in rows]))
    else:
        for line in setting_lines(rows, origin=origin):
            click.echo(line)
        if not rows:
            click.echo("nothing is set; --all shows the defaults", err=True)
    for notice in project.notices:
        click.echo(one_line(f"note: {notice}"), err=True)
    return 0


@command.command("get")
@click.argument("key", shell_complete=completers.settings)
@_in_folder
def get(key: str, *, model: str | None, sets: tuple[str, ...]) -> int:
    """Print the value of one setting, a text as it is, anything else as TOML. Exit code 1 when it isn't set."""
    rows = below(rows_of(open_project(Path("."), sets=sets), model=model), [key])
    if len(rows) != 1:
        there = f"Keys below it: {', '.join(map(key_text, rows[:8]))}." if rows else ""
        raise UsageError(f"{key!r} is a table", hint=f"{there} trimtab config show {key} shows all of it.".strip())
    value = rows[0].value
    if value is None:
        return 1
    click.echo(strip_terminal(value) if isinstance(value, str) else one_line(value_text(value)))
    return 0


@command.command("set")
@click.argument("key", shell_complete=completers.settings)
@click.argument("value", shell_complete=completers.setting_values)
@_whose
def set_(key: str, value: str, *, here: bool, in_project: bool) -> int:
    """Set KEY in your config.toml; comments and all else in it stay. VALUE is read as TOML where that fits, else as text; - reads it from standard input."""
    project = _opened()
    text = _from_stdin() if value == "-" else value
    for line in set_setting(project, key, text, where=_where(here=here, in_project=in_project)):
        click.echo(one_line(line))
    return 0


@command.command("add")
@click.argument("key", shell_complete=completers.settings)
@click.argument("value")
@_whose
def add(key: str, value: str, *, here: bool, in_project: bool) -> int:
    """Add VALUE to the list KEY in your config.toml, where it isn't in it yet."""
    for line in add_to_setting(_opened(), key, value, where=_where(here=here, in_project=in_project)):
        click.echo(one_line(line))
    return 0


@command.command("remove")
@click.argument("key", shell_complete=completers.settings)
@click.argument("value")
@_whose
def remove(key: str, value: str, *, here: bool, in_project: bool) -> int:
    """Take VALUE out of the list KEY in your config.toml."""
    for line in take_from_setting(_opened(), key, value, where=_where(here=here, in_project=in_project)):
        click.echo(one_line(line))
    return 0


@command.command("unset")
@click.argument("key", shell_complete=completers.settings)
@_whose
def unset(key: str, *, here: bool, in_project: bool) -> int:
    """Take KEY out of your config.toml. Exit code 1 when it isn't there."""
    project, where = _opened(), _where(here=here, in_project=in_project)
    told = unset_setting(project, key, where=where)
    for line in told or ():
        click.echo(one_line(line))
    if told is None:
        click.echo(one_line(f"{key} isn't set in {file_of(project, where)}"), err=True)
    return 1 if told is None else 0


@command.command("path")
@_whose
def path(*, here: bool, in_project: bool) -> int:
    """Print where your config.toml is, whether or not it is there."""
    click.echo(str(file_of(_opened(), _where(here=here, in_project=in_project))))
    return 0


@command.command("schema")
def schema() -> int:
    """Print the JSON Schema of config.toml, which editors complete and check by."""
    click.echo(json.dumps(settings_schema(), indent=2))
    return 0


@command.command("check")
@click.option("--set", "sets", metavar="KEY=VALUE", multiple=True, help="As for a run with this setting.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def check(*, sets: tuple[str, ...], as_json: bool) -> int:
    """List every mistake in the settings in force here, with file and line. Exit code 2 when there is one."""
    project, left_out = open_anyway(Path("."), sets=sets)
    found = problems_of(project, left_out)
    wrong = [one for one in found if not one.note]
    if as_json:
        click.echo(json_text([_problem(one) for one in found]))
        return 2 if wrong else 0
    for one in found:
        hint = f"\n    {one_line(one.hint)}" if one.hint else ""
        click.echo(wrapped(f"{one_line(one.text)}{hint}", width_of(sys.stdout)))
    if not wrong:
        click.echo("no mistakes", err=True)
    return 2 if wrong else 0


def _opened() -> Project:
    """The project, whatever is wrong with its settings: a change may be what mends them."""
    return open_anyway(Path("."))[0]


def _where(*, here: bool, in_project: bool) -> Where:
    if here and in_project:
        raise UsageError("--here and --project exclude each other", hint="Give one of them.")
    return "here" if here else "project" if in_project else "user"


def _from_stdin() -> str:
    data = sys.stdin.buffer.read(_LONGEST + 1) if sys.stdin else b""
    if len(data) > _LONGEST:
        raise UsageError("standard input holds too much for a setting", hint="Give the value itself.")
    try:
        return data.decode().removesuffix("\n")
    except UnicodeDecodeError:
        raise UsageError("standard input is no UTF-8 text", hint="Give the value as UTF-8.") from None


def _json(row: Row) -> dict[str, object]:
    origin = row.origin
    place = (
        None if origin is None else {"name": origin.name, "file": origin.file and str(origin.file), "line": origin.line}
    )
    return {"key": key_text(row), "value": row.value, "default": origin is None, "secret": row.secret, "origin": place}


def _problem(one: Problem) -> dict[str, object]:
    file = one.file and str(one.file)
    return {"file": file, "line": one.line, "problem": one.problem, "hint": one.hint, "note": one.note}
