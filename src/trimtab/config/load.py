"""From files, environment and flags to one `Settings` value.

Layers, later ones win: defaults, the user's `config.toml`, the project's (only when trusted), the environment (`TRIMTAB_A__B`), `--set a.b=VALUE`,
flags. Tables merge key by key; every leaf remembers which layer it came from. A mistake is named with its layer, its path and, in a file, the line
of its statement where that is certain. `load` stops at the first; `sift` leaves out what is wrong and says what that was.
"""

import contextlib
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from trimtab.config.lines import line_of
from trimtab.config.mistakes import first_mistake, unknown_key
from trimtab.config.settings import ContextSettings, Settings
from trimtab.types.errors import ConfigError

MAX_BYTES = 1_000_000
"""Bytes that a file of settings may have."""
_PREFIX = "TRIMTAB_"
_RESERVED = frozenset({"TRIMTAB_HOME", "TRIMTAB_TRUST", "TRIMTAB_SESSION", "TRIMTAB_DATA"})
"""Variables that are known and are no settings: the last names the data folder of the lab."""
_NOT_SETTINGS = re.compile(r"_?TRIMTAB_COMPLETE")


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one source. `name` is shown to people; `raw` are texts whose type the schema decides."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    raw: tuple[tuple[tuple[str, ...], str, str], ...] = ()
    """(path, text, label of this one value)"""
    text: str = field(default="", repr=False)
    """The file that `values` were read from, to name lines of it."""
    file: Path | None = None
    """Where that file is."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, where each leaf came from (`a.b.c` → layer name), what a person should be told, and the layers with their texts read, weakest first."""

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()


def file_layer(path: Path, *, name: str) -> Layer | None:
    """Read one TOML file; None when there is none. Raises `ConfigError` with line and column."""
    try:
        text = _read_file(path).decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as e:
        line = e.object[: e.start].count(b"\n") + 1
        raise ConfigError(f"{path}: line {line} isn't UTF-8", hint="Save the file as UTF-8.") from None
    except OSError as e:
        raise ConfigError(f"{path} can't be read: {e.strerror}", hint="Check the file and its permissions.") from None
    try:
        return Layer(f"{name} ({path})", tomllib.loads(text), text=text, file=path)
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise ConfigError(
            f"{path} isn't valid TOML: {e}", hint="Fix that place, or move the file away to start with defaults."
        ) from None


def _read_file(path: Path) -> bytes:
    """The bytes of a file of settings. What is no such file, a pipe or a device, is not waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ConfigError(f"{path} is no regular file", hint="Move it away to start with defaults.")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(MAX_BYTES + 1)
    finally:
        os.close(fd)
    if len(data) > MAX_BYTES:
        raise ConfigError(
            f"{path} has more than {MAX_BYTES:,} bytes", hint="Settings are short; move it away to start with defaults."
        )
    return data


def environment_layer(env: Mapping[str, str], *, known: Iterable[str] = ()) -> tuple[Layer, tuple[str, ...]]:
    """Settings from `TRIMTAB_*` variables, and notices about those that name no setting: an unrelated variable must not stop a run.

    `known` are provider names declared elsewhere: `TRIMTAB_PROVIDERS__MY_HOST__BASE_URL` finds `my-host`.
    """
    names = {_fold(n): n for n in known}
    raw: list[tuple[tuple[str, ...], str, str]] = []
    notices: list[str] = []
    for key in sorted(env):
        if not key.startswith(_PREFIX) or key in _RESERVED or _NOT_SETTINGS.search(key):
            continue
        path = tuple(part.lower() for part in key[len(_PREFIX) :].split("__"))
        if len(path) > 1 and path[0] == "providers":
            path = (path[0], names.get(_fold(path[1]), path[1]), *path[2:])
        unknown = unknown_key(path, Settings)
        if unknown is not None:
            notices.append(f"the variable {key} is ignored: {unknown.problem}")
            continue
        raw.append((path, env[key], f"environment ({key})"))
    return Layer("environment", raw=tuple(raw)), tuple(notices)


def set_layer(assignments: Iterable[str]) -> Layer:
    """Settings from `--set a.b.c=VALUE` flags. Raises `ConfigError` for one without `=`."""
    raw = []
    for text in assignments:
        key, eq, value = text.partition("=")
        path = split_key(key.strip())
        if not eq or not path:
            raise ConfigError(
                f"--set {text!r} {'names no setting' if eq else 'has no value'}",
                hint="Write --set a.b.c=VALUE, for example --set tools.bash.timeout_s=60.",
            )
        raw.append((path, value, f"--set {key.strip()}"))
    return Layer("--set", raw=tuple(raw))


def load(layers: Iterable[Layer | None], *, notices: tuple[str, ...] = ()) -> Loaded:
    """Merge `layers`, check them against the schema, and say where each leaf came from. Raises `ConfigError`."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    read: list[Layer] = []
    for layer in layers:
        if layer is None:
            continue
        _check(layer.values, layer.name, text=layer.text)
        pieces = [replace(layer, raw=())] if layer.values else []
        merged = _merge(merged, layer.values)
        for path, text, label in layer.raw:
            merged, values = _apply_text(merged, path, text, label)
            pieces.append(Layer(label, values))
        for piece in pieces:
            origins.update(dict.fromkeys(_leaves(piece.values), piece.name))
        read += pieces
    settings = _check(merged, "the merged settings")
    return Loaded(settings, origins, (*notices, *_crossed(settings.context, origins)), tuple(read))


def sift(layers: Iterable[Layer | None]) -> tuple[tuple[Layer, ...], tuple[ConfigError, ...]]:
    """Of `layers`, what loads, and the mistakes of what doesn't: a wrong key or variable is left out, and no more than that."""
    kept: list[Layer] = []
    mistakes: dict[str, ConfigError] = {}
    for layer in layers:
        for piece in _pieces(layer) if layer else ():
            _sift(piece, kept, mistakes)
    return tuple(kept), tuple(mistakes.values())


def _sift(piece: Layer, kept: list[Layer], mistakes: dict[str, ConfigError]) -> None:
    """Keep what of a piece loads behind what is kept. A table that doesn't is looked at key by key; an unknown table is one mistake, however many keys it has."""
    try:
        load([*kept, piece])
    except ConfigError as e:
        smaller = list(_split(piece))
        for one in smaller:
            _sift(one, kept, mistakes)
        if not smaller:
            mistakes.setdefault(e.message, e)
    else:
        kept.append(piece)


def _pieces(layer: Layer) -> Iterable[Layer]:
    for key, value in layer.values.items():
        yield replace(layer, values={key: value}, raw=())
    for raw in layer.raw:
        yield replace(layer, values={}, raw=(raw,))


def _split(piece: Layer) -> Iterable[Layer]:
    """The piece in pieces that have one key of its innermost common table each; none when it holds a single value."""
    path: list[str] = []
    value: Any = piece.values
    while isinstance(value, Mapping) and len(value) == 1:
        ((key, value),) = value.items()
        path.append(key)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield replace(piece, values=tree_of((*path, key), inner))


def _crossed(context: ContextSettings, origins: Mapping[str, str]) -> Iterable[str]:
    """What is set so that it acts otherwise than it says: `target ≤ soft ≤ hard` always holds. A default that gives way to what is set is no matter."""
    for lower, upper in (("target", "soft"), ("soft", "hard")):
        for ending in ("", "_tokens"):
            low, high = getattr(context, lower + ending), getattr(context, upper + ending)
            other = getattr(context, lower + ("" if ending else "_tokens"))
            if f"context.{lower}{ending}" not in origins:
                continue
            if low is not None and high is not None and low > high and (ending or other is None):
                yield f"context.{lower}{ending} ({low}) is above context.{upper}{ending} ({high}), so {high} holds for both"


def _apply_text(
    merged: dict[str, Any], path: tuple[str, ...], text: str, label: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`merged` with `path` set to `text`, as a TOML value when that fits the schema, else as a string; and that one value as a tree."""
    error: ConfigError | None = None
    for value in readings(text):
        try:
            _require_table(merged, path, label)
            tree = tree_of(path, value)
            candidate = _merge(_merge({}, merged), tree)
            _check(candidate, label)
        except ConfigError as e:
            error = error or e
            continue
        return candidate, tree
    raise error or ConfigError(f"{label}: no value")


def tree_of(path: Iterable[str], value: Any) -> dict[str, Any]:
    """`value` as a tree of tables that holds nothing else."""
    tree = value
    for key in reversed(tuple(path)):
        tree = {key: tree}
    return dict(tree)


def readings(text: str) -> Iterable[Any]:
    """What a text may mean: a TOML value, else the text itself."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        parsed = tomllib.loads(f"v = {text}")
        if len(parsed) == 1:
            yield parsed["v"]
    yield text


def _require_table(tree: Any, path: tuple[str, ...], label: str) -> None:
    for key in path[:-1]:
        tree = tree.get(key, {})
        if not isinstance(tree, dict):
            raise ConfigError(f"{label}: {key!r} is a value, not a table", hint="Set one of the keys below a table.")


def merged(trees: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The trees laid over each other, the last on top: tables key by key, anything else as a whole."""
    whole: dict[str, Any] = {}
    for tree in trees:
        _merge(whole, tree)
    return whole


def _merge(into: dict[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    for key, value in other.items():
        if isinstance(value, Mapping):
            base = into.get(key)
            into[key] = _merge(dict(base) if isinstance(base, dict) else {}, value)
        else:
            into[key] = value
    return into


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterable[str]:
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{name}.")
        else:
            yield name


def _check(tree: Mapping[str, Any], where: str, *, text: str = "") -> Settings:
    try:
        return msgspec.convert(tree, Settings, strict=True)
    except msgspec.ValidationError:
        mistake = first_mistake(tree, Settings)
        if mistake is None:
            raise  # a bug: the walk has to find what msgspec refuses
        line = line_of(text, mistake.path) if text else None
        place = where if line is None else f"{where}, line {line}"
        raise ConfigError(f"{place}: {mistake.problem}", hint=mistake.hint) from None


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted TOML key; parts may be quoted (`models."a/b".context_window`). Signs that TOML wants quoted are taken as they stand where dots still part the key."""
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        tree: Any = tomllib.loads(f"{key} = 0")
        path: list[str] = []
        while isinstance(tree, dict) and len(tree) == 1:
            ((part, tree),) = tree.items()
            path.append(part)
        if tree == 0 and all(path):
            return tuple(path)
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^."\']+)', key)
    return tuple(next(p for p in group if p) for group in parts if any(group))
