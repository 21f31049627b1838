"""From files, environment and flags to one `Settings` value.

Layers, later ones win: defaults, the user's `config.toml`, the project's (only when trusted), the environment (`TRIMTAB_A__B`), `--set a.b=VALUE`,
flags. Tables merge key by key; every leaf remembers which layer it came from. A wrong value is named with its layer, its path and,
in a file, its line.
"""

import contextlib
import difflib
import re
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from trimtab.config.settings import NOT_USED_YET, Settings
from trimtab.types.errors import ConfigError

_PREFIX = "TRIMTAB_"
_RESERVED = frozenset({"TRIMTAB_HOME", "TRIMTAB_TRUST"})
_NOT_SETTINGS = re.compile(r"_?TRIMTAB_COMPLETE")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`(?: - at `\$(?P<path>[^`]*)`)?")
_AT = re.compile(r" - at `\$(?P<path>[^`]*)`")


@dataclass(frozen=True, slots=True)
class Layer:
    """Values from one source. `name` is shown to people; `raw` are texts whose type the schema decides."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    raw: tuple[tuple[tuple[str, ...], str, str], ...] = ()
    """(path, text, label of this one value)"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings, where each leaf came from (`a.b.c` → layer name), and what a person should be told."""

    settings: Settings
    origins: Mapping[str, str]
    notices: tuple[str, ...] = ()


def file_layer(path: Path, *, name: str) -> Layer | None:
    """Read one TOML file; None when there is none. Raises `ConfigError` with line and column."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as e:
        line = e.object[: e.start].count(b"\n") + 1
        raise ConfigError(f"{path}: line {line} isn't UTF-8", hint="Save the file as UTF-8.") from None
    except OSError as e:
        raise ConfigError(f"{path} can't be read: {e.strerror}", hint="Check the file and its permissions.") from None
    try:
        return Layer(f"{name} ({path})", tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise ConfigError(
            f"{path} isn't valid TOML: {e}", hint="Fix that place, or move the file away to start with defaults."
        ) from None


def environment_layer(env: Mapping[str, str], *, known: Iterable[str] = ()) -> tuple[Layer, tuple[str, ...]]:
    """Settings from `TRIMTAB_*` variables, and notices about variables that aren't settings.

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
        if path[0] not in Settings.__struct_fields__:
            near = _nearest(path[0], Settings.__struct_fields__)
            notices.append(f"the variable {key} is no setting{near} and is ignored")
            continue
        raw.append((path, env[key], f"environment ({key})"))
    return Layer("environment", raw=tuple(raw)), tuple(notices)


def set_layer(assignments: Iterable[str]) -> Layer:
    """Settings from `--set a.b.c=VALUE` flags. Raises `ConfigError` for one without `=`."""
    raw = []
    for text in assignments:
        key, eq, value = text.partition("=")
        if not eq or not key.strip():
            raise ConfigError(
                f"--set {text!r} has no value",
                hint="Write --set a.b.c=VALUE, for example --set tools.bash.timeout_s=60.",
            )
        raw.append((_split_key(key.strip()), value, f"--set {key.strip()}"))
    return Layer("--set", raw=tuple(raw))


def load(layers: Iterable[Layer | None], *, notices: tuple[str, ...] = ()) -> Loaded:
    """Merge `layers`, check them against the schema, and say where each leaf came from. Raises `ConfigError`."""
    merged: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for layer in layers:
        if layer is None:
            continue
        _check(_merge({}, layer.values), layer.name)
        _merge(merged, layer.values)
        origins.update(dict.fromkeys(_leaves(layer.values), layer.name))
        for path, text, label in layer.raw:
            merged = _apply_text(merged, path, text, label)
            origins[".".join(path)] = label
    settings = _check(merged, "the merged settings")
    unused = sorted({k for k in (o.split(".")[0] for o in origins) if k in NOT_USED_YET})
    told = tuple(f"[{k}] is read, but this version doesn't act on it yet" for k in unused)
    return Loaded(settings, origins, (*notices, *told))


def _apply_text(merged: dict[str, Any], path: tuple[str, ...], text: str, label: str) -> dict[str, Any]:
    """Set `path` to `text`, as a TOML value when that fits the schema, else as a string."""
    error: ConfigError | None = None
    for value in _readings(text):
        candidate = _merge({}, merged)
        try:
            _set(candidate, path, value, label)
            _check(candidate, label)
        except ConfigError as e:
            error = error or e
            continue
        return candidate
    raise error or ConfigError(f"{label}: no value")


def _readings(text: str) -> Iterable[Any]:
    with contextlib.suppress(tomllib.TOMLDecodeError, RecursionError):
        parsed = tomllib.loads(f"v = {text}")
        if len(parsed) == 1:
            yield parsed["v"]
    yield text


def _set(tree: dict[str, Any], path: tuple[str, ...], value: Any, label: str) -> None:
    for key in path[:-1]:
        child = tree.setdefault(key, {})
        if not isinstance(child, dict):
            raise ConfigError(f"{label}: {key!r} is a value, not a table", hint="Set one of the keys below a table.")
        tree = child
    tree[path[-1]] = value


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


def _check(tree: dict[str, Any], where: str) -> Settings:
    try:
        return msgspec.convert(tree, Settings, strict=True)
    except msgspec.ValidationError as e:
        raise _explain(str(e), where) from None


def _explain(error: str, where: str) -> ConfigError:
    unknown = _UNKNOWN.search(error)
    if unknown:
        table = (unknown["path"] or "").replace("[...]", "[*]").lstrip(".")
        name = f"{table}.{unknown['name']}".lstrip(".")
        keys = _keys_at(table)
        listed = f" Known here: {', '.join(sorted(keys))}." if keys else ""
        return ConfigError(
            f"{where}: unknown setting {name!r}{_nearest(unknown['name'], keys)}",
            hint=f"Correct or remove it.{listed}",
        )
    at = _AT.search(error)
    path = at["path"].lstrip(".") if at else ""
    problem = _AT.sub("", error)
    subject = f"setting {path!r}" if path else "the settings"
    return ConfigError(
        f"{where}: {subject}: {problem[:1].lower()}{problem[1:]}",
        hint="Correct the value; docs/settings.md lists each key with its type.",
    )


def _keys_at(path: str) -> tuple[str, ...]:
    """Field names of the struct at a dotted path such as `providers[...].models[0]`."""
    kind: Any = Settings
    for part in filter(None, re.split(r"\.|(?=\[)", path)):
        if part.startswith("["):
            kind = _element(kind)
        else:
            fields = _fields(kind)
            kind = fields[part] if part in fields else _element(kind)
        if kind is None:
            return ()
    return tuple(_fields(kind))


def _fields(kind: Any) -> dict[str, Any]:
    for option in _options(kind):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return {f.encode_name: f.type for f in msgspec.structs.fields(option)}
    return {}


def _element(kind: Any) -> Any:
    for option in _options(kind):
        args = typing.get_args(option)
        if typing.get_origin(option) is dict:
            return args[1]
        if typing.get_origin(option) in (tuple, list):
            return args[0]
    return None


def _options(kind: Any) -> tuple[Any, ...]:
    return typing.get_args(kind) if isinstance(kind, types.UnionType) else (kind,)


def _nearest(name: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _split_key(key: str) -> tuple[str, ...]:
    """Split a dotted TOML key; parts may be quoted (`models."a/b".context_window`)."""
    parts = re.findall(r'"([^"]*)"|\'([^\']*)\'|([^."\']+)', key)
    return tuple(next(p for p in group if p) for group in parts if any(group))
