"""Change one setting in a person's TOML file; all else of it, comments and blank lines too, stays as it was.

    file ──tomlkit──▶ document ──one key──▶ text ──load──▶ still valid? ──▶ a file beside it, renamed over it

The one rule: a file that isn't valid, or wouldn't be after the change, is left as it is. Who writes at the same time waits.
"""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import tomlkit
from tomlkit.exceptions import TOMLKitError

from trimtab.config.load import Layer, file_layer, load
from trimtab.context.stores.exclusive import exclusive
from trimtab.types.errors import ConfigError, StoreError

_Change: TypeAlias = Callable[[dict[str, Any], str], None]


def set_value(file: Path, key: tuple[str, ...], value: Any) -> None:
    """Set the setting `key` in `file`, which is made where there is none. Raises `ConfigError` when it can't be, and then nothing is changed."""

    def change(table: dict[str, Any], name: str) -> None:
        table[name] = value

    _edit(file, key, change)


def unset_value(file: Path, key: tuple[str, ...]) -> bool:
    """Take the setting `key` out of `file`; False when it wasn't there. Raises `ConfigError` as `set_value` does."""
    found = False

    def change(table: dict[str, Any], name: str) -> None:
        nonlocal found
        found = name in table
        table.pop(name, None)

    _edit(file, key, change, make=False)
    return found


def add_to_list(file: Path, key: tuple[str, ...], value: str) -> None:
    """Put `value` at the end of the list `key` in `file`, unless it is there. Raises `ConfigError` as `set_value` does."""

    def change(table: dict[str, Any], name: str) -> None:
        listed = table.get(name)
        if listed is None:
            table[name] = [value]
        elif not isinstance(listed, list):
            raise ConfigError(f"{'.'.join(key)} in {file} is no list", hint="Make it one, or set it as a whole.")
        elif value not in listed:
            listed.append(value)

    _edit(file, key, change)


def _edit(file: Path, key: tuple[str, ...], change: _Change, *, make: bool = True) -> None:
    real = Path(os.path.realpath(file))  # a link to a file in somebody's own repository stays one
    try:
        real.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with exclusive(real.with_name(f".{real.name}.lock")):
            file_layer(real, name="config")  # says better than tomlkit what is wrong with it
            before = real.read_bytes().decode("utf-8-sig") if real.exists() else ""
            after = _changed(before, key, change, make=make)
            load([Layer(f"{'.'.join(key)} in {file}", tomllib.loads(after))])
            if after != before:
                _replace(real, after)
    except (OSError, StoreError, TOMLKitError) as e:
        why = (e.strerror if isinstance(e, OSError) else None) or str(e)
        raise ConfigError(
            f"{file} can't be changed: {why}", hint="Check the file's permissions, or edit it by hand."
        ) from None


def _changed(text: str, key: tuple[str, ...], change: _Change, *, make: bool) -> str:
    document = tomlkit.parse(text)
    table: Any = document
    for part in key[:-1]:
        if part not in table and not make:
            return text
        if not isinstance(table.get(part), dict):
            table[part] = tomlkit.table()
        table = table[part]
    change(table, key[-1])
    return tomlkit.dumps(document)


def _replace(file: Path, text: str) -> None:
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    beside = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    with beside.open("w", encoding="utf-8", newline="") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())
    beside.chmod(mode)
    beside.replace(file)
