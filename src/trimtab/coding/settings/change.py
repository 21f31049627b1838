"""Changing a setting for a person: where it is written, and whether it holds from then on.

KEY, VALUE as typed ──schema──▶ a value of its type ──edit──▶ the user's file, the project's, or the user's for this folder
                                                              └─▶ read again: does it hold, and if not, what does?
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, TypeAlias

from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project, open_anyway
from trimtab.coding.settings.in_force import known_key
from trimtab.coding.settings.layers import PROJECT_FILE
from trimtab.coding.telling.printable import one_line
from trimtab.config.edit import Target, set_value, unset_value
from trimtab.config.in_force import SET, Key, Row, in_force
from trimtab.config.load import file_layer, load, readings, split_key, tree_of
from trimtab.config.mistakes import first_mistake, show_path
from trimtab.config.settings import Settings
from trimtab.config.toml_text import value_text
from trimtab.types.errors import ConfigError, TrimtabError, UsageError

Where: TypeAlias = Literal["user", "project", "here"]
"""Whose file: the user's for every folder, the project's own, the user's for this folder."""


def file_of(project: Project, where: Where) -> Path:
    """The file that `where` means."""
    home, cwd = project.home, project.cwd
    return {"user": home.config_file, "project": cwd / PROJECT_FILE, "here": home.folder_file(cwd)}[where]


def set_setting(project: Project, name: str, text: str, *, where: Where = "user") -> tuple[str, ...]:
    """Set the setting `name` to what `text` says, and return what a person should know. Raises `ConfigError` when it can't be, and then nothing is changed."""
    key = known_key(name)
    value = fitting(key, text)
    target = _target(project, where)
    set_value(target, key, value)
    row, now, wrong = _read_again(project, key)
    shown = SET if row is not None and row.secret else value_text(value)
    told = [f"{show_path(key)} = {shown} in {target.file}"]
    if row is None or row.origin is None or row.origin.file != target.file:
        told.append(_why_not(now, key, where, row))
    elif row.secret and target.file.stat().st_mode & 0o077:
        told.append(f"note: others can read {target.file}; chmod 600 keeps it to you")
    return (*told, *_unreachable(now, key, value), *wrong)


def _unreachable(now: Project, key: tuple[str, ...], value: Any) -> tuple[str, ...]:
    """A note where a model was named that can't be asked for, as a slip of the hand does."""
    refs = [value] if key == ("model",) else value if key == ("favourites",) else ()
    notes = []
    for ref in refs:
        try:
            resolve_model(now, ref)
        except UsageError as e:
            notes.append(one_line(f"note: {e.message}, unless an extension brings it; {e.hint}"))
    return tuple(notes)


def unset_setting(project: Project, name: str, *, where: Where = "user") -> tuple[str, ...] | None:
    """Take the setting `name` out of the file, and return what a person should know; None when it isn't there. Raises `ConfigError` as `set_setting` does."""
    target = _target(project, where)
    key = split_key(name.strip())  # what stands there goes, also when there is no such setting
    if not key or not unset_value(target, key):
        known_key(name)
        return None
    row, _, wrong = _read_again(project, key)
    return (f"{show_path(key)} is taken out of {target.file}", *([_holds(row)] if row is not None else []), *wrong)


def add_to_setting(project: Project, name: str, text: str, *, where: Where = "user") -> tuple[str, ...]:
    """Add what `text` says to the list `name` of that file, where it isn't in it yet. Raises `ConfigError` as `set_setting` does, and for what is no list."""
    key, listed = _listed(project, name, where)
    one = _member(key, text)
    if one in listed:
        return (f"{value_text(one)} is in {show_path(key)} already",)
    return set_setting(project, name, value_text([*listed, one]), where=where)


def take_from_setting(project: Project, name: str, text: str, *, where: Where = "user") -> tuple[str, ...]:
    """Take what `text` says out of the list `name` of that file. Raises `ConfigError` as `add_to_setting` does, and where it isn't in it."""
    key, listed = _listed(project, name, where)
    one = _member(key, text)
    if one not in listed:
        there = f"It holds {', '.join(map(value_text, listed))}." if listed else "It holds nothing."
        raise ConfigError(f"{value_text(one)} isn't in {show_path(key)} of {_target(project, where).file}", hint=there)
    return set_setting(project, name, value_text([kept for kept in listed if kept != one]), where=where)


def _listed(project: Project, name: str, where: Where) -> tuple[tuple[str, ...], list[Any]]:
    """The key, and the list that the file has there; of the user's own file the default, where it has none."""
    key = known_key(name)
    if first_mistake(tree_of(key, []), Settings) is not None:
        raise ConfigError(f"{show_path(key)} is no list", hint="trimtab config set KEY VALUE sets it as a whole.")
    layer = file_layer(_target(project, where).file, name="config")
    tree: Any = layer.values if layer is not None else {}
    for part in key:
        tree = tree.get(part) if isinstance(tree, dict) else None
    if tree is None:
        row = next((row for row in in_force(load([])) if row.key == key), None)
        tree = row.value if row is not None else None
    return key, [tree] if isinstance(tree, str) else list(tree or ())


def _member(key: tuple[str, ...], text: str) -> Any:
    """The value that `text` means in the list at `key`. Raises `ConfigError` when there is none."""
    wrong = None
    for value in readings(text):
        mistake = first_mistake(tree_of(key, [value]), Settings)
        if mistake is None:
            return value
        wrong = wrong or mistake
    raise ConfigError(wrong.problem if wrong else "no value", hint=wrong.hint if wrong else "")


def fitting(key: tuple[str, ...], text: str) -> Any:
    """The value of the right type that `text` means at `key`. Raises `ConfigError` when there is none."""
    wrong = None
    for value in readings(text):
        mistake = first_mistake(tree_of(key, value), Settings)
        if mistake is None and not isinstance(value, dict):
            return value
        wrong = wrong or mistake
    if wrong is None:
        raise ConfigError(f"{show_path(key)} is a table", hint="Set one of the keys below it.")
    raise ConfigError(wrong.problem, hint=wrong.hint)


def _target(project: Project, where: Where) -> Target:
    file = file_of(project, where)
    if where == "project":
        return Target(file, lock=project.home.config / ".project-config.lock", within=project.cwd)
    return Target(file)


def _read_again(project: Project, key: tuple[str, ...]) -> tuple[Row | None, Project, tuple[str, ...]]:
    """What holds at `key` now, the project as it is now, and the first of the mistakes that are left."""
    asked = project.asked
    now, wrong = open_anyway(
        project.cwd, overrides=asked.overrides, sets=asked.sets, trust=asked.trust, env=project.env, safe=asked.safe
    )
    rows = in_force(now.loaded)
    row = next((row for row in rows if row.key[: len(key)] == key), None)
    return row, now, tuple(f"note: {one.message}; a run stops at this (trimtab config check)" for one in wrong[:1])


def pending(project: Project, rows: Iterable[Row]) -> dict[Key, Row]:
    """Of these rows of an open project those whose settings say something else by now, as they would hold if it were opened again; none where it can't be. Touches the disk."""
    try:
        now = {row.key: row for row in in_force(project.moved_to(project.cwd).loaded)}
    except TrimtabError:
        return {}
    return {row.key: now[row.key] for row in rows if row.key in now and now[row.key].value != row.value}


def _why_not(now: Project, key: tuple[str, ...], where: Where, row: Row | None) -> str:
    """Why what was just written doesn't hold."""
    if where == "project" and not now.trusted:
        return f"not in force: {now.cwd} isn't trusted (trimtab --trust folder trusts it)"
    withheld = next((one for one in now.withheld if one.key == key), None)
    if where == "project" and withheld is not None:
        return f"not in force: {withheld.why}; a project can't decide that, you can (without --project, or with --here)"
    return f"not in force: {_holds(row)}" if row is not None else "not in force"


def _holds(row: Row) -> str:
    """What holds, and by whose word."""
    if row.value is None:
        return f"{show_path(row.key)} isn't set"
    by = f" by {row.origin}" if row.origin else ", the default"
    return f"{show_path(row.key)} is {value_text(row.value)}{by}"
