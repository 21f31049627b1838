"""What is wrong with a tree of settings, in a person's words.

    tree, schema struct ──walk──▶ Mistake(path, problem, hint) ──▶ "setting 'a.b': expected a number, got text"

msgspec decides whether a value fits; the walk finds the first place where it doesn't, so that its path names provider, model and row, and its words
need no knowledge of Python. The one rule: the walk finds a mistake exactly when msgspec refuses the tree.
"""

import re
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from trimtab.config.toml_text import quoted
from trimtab.types.config import ModelConfig
from trimtab.types.near import nearest

Path: TypeAlias = tuple[str | int, ...]
"""Keys and places in lists, from the root."""

CORRECT = "Correct or remove it. "
"""What to do about a key that stands in a file; one that was only asked about needs to be neither."""
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WORDS: tuple[tuple[type, str, str], ...] = (
    (bool, "true or false", "text of true and false"),
    (int, "a whole number", "whole numbers"),
    (float, "a number", "numbers"),
    (str, "text", "texts"),
)
_ALIASES: Mapping[str, tuple[str, ...]] = {
    "base_url": ("apibase", "baseuri", "url", "uri", "endpoint", "address", "host", "server"),
    "api_key": ("key", "token", "secret"),
    "api_key_env": ("keyenv", "envkey", "apikeyvariable", "apikeyenvvar"),
    "api": ("type", "kind", "protocol", "wireapi"),
    "context_window": ("window", "contextlength", "contextsize", "nctx", "numctx", "maxmodellen", "maxcontext"),
    "max_output": ("maxtokens", "maxoutputtokens", "maxcompletiontokens", "outputlimit"),
    "timeout_s": ("timeout", "timeoutms", "timelimit"),
    "idle_timeout_s": ("timeout", "timeoutms", "readtimeout", "requesttimeout"),
    "max_retries": ("retries", "retry", "attempts"),
    "ca_file": ("ca", "cabundle", "cacert", "certificate", "certificates", "sslcertfile"),
    "id": ("model", "modelid"),
    "model": ("defaultmodel", "modelname"),
    "thinking": ("reasoning", "reasoningeffort", "effort", "thinkinglevel"),
    "max_steps": ("maxturns", "maxiterations", "steps"),
    "permissions": ("permission", "approval", "sandbox"),
}
"""What other programs call a setting, folded."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong: where, what in words, and the next step."""

    path: Path
    problem: str
    hint: str


def first_mistake(tree: Any, kind: Any) -> Mistake | None:
    """The first mistake of `tree` against the type `kind`, in the order of the tree; None when it fits."""
    return next(mistakes(tree, kind), None)


def mistakes(tree: Any, kind: Any) -> Iterator[Mistake]:
    """Every mistake of `tree` against the type `kind`, in the order of the tree."""
    return _mistakes(tree, kind, (), kind)


def show_path(path: Path) -> str:
    """A path as TOML writes it: `models."a/b".context_window`, `providers.local.models[0].id`."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            name = part if _BARE.fullmatch(part) else quoted(part)
            shown += f".{name}" if shown else name
    return shown


def unknown_key(path: Path, kind: Any) -> Mistake | None:
    """The first part of `path` that names no setting below `kind`; None when every part does."""
    root = kind
    for at, part in enumerate(path):
        fields = fields_of(kind)
        if fields and part not in fields:
            return _unknown(path[: at + 1], str(part), fields, root)
        kind = fields[str(part)] if fields else None if _is_list(kind) else element_of(kind)
        if kind is None:
            return Mistake(
                path[: at + 1], f"there is nothing below {show_path(path[:at])!r}", "Set the key itself, as a whole."
            )
    return None


def _elsewhere(name: str, kind: Any, path: Path = ()) -> str:
    """The first key of that very name in a table of a fixed name: a line may stand below the wrong heading. Empty when there is none."""
    for key, inner in fields_of(kind).items():
        if key == name:
            return show_path((*path, key))
        if found := _elsewhere(name, inner, (*path, key)):
            return found
    return ""


def _same(name: str, known: Iterable[str]) -> str:
    """The key that `name` is but for how it is spelt, or that other programs call so; empty when there is none."""
    folded = re.sub(r"[^a-z0-9]", "", name.lower())
    spelt = [key for key in known if folded == key.replace("_", "")]
    named = [key for key in known if folded in _ALIASES.get(key, ())]
    return next(iter((*spelt, *named)), "")


def _nearest(name: str, known: Iterable[str]) -> str:
    """The key that `name` probably misspells; empty when none is near."""
    return nearest(name, known) or ""


def _mistakes(value: Any, kind: Any, path: Path, root: Any) -> Iterator[Mistake]:
    options = options_of(kind)
    if value is None and types.NoneType in options:
        return
    kind = _meant(value, options)
    fields, element = fields_of(kind), element_of(kind)
    if fields and isinstance(value, Mapping):
        yield from _in_struct(value, kind, fields, path, root)
    elif typing.get_origin(kind) is dict and isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _mistakes(inner, element, (*path, key), root)
    elif typing.get_origin(kind) is tuple and isinstance(value, list | tuple):
        for at, inner in enumerate(value):
            yield from _mistakes(inner, element, (*path, at), root)
    elif not _fits(value, kind):
        wanted = " or ".join(_wanted(option) for option in options if option is not types.NoneType)
        problem = f"setting {show_path(path)!r}: expected {wanted}, got {_got(value, kind)}"
        yield Mistake(path, problem, "Correct the value; docs/settings.md lists each key with its type.")


def _meant(value: Any, options: Iterable[Any]) -> Any:
    """Of the types that `value` may have, the one of its own shape: a list, a table, or something else."""
    choices = [option for option in options if option is not types.NoneType]
    for option in choices[1:]:
        table = isinstance(value, Mapping) and (fields_of(option) or typing.get_origin(option) is dict)
        if table or (isinstance(value, list | tuple) and typing.get_origin(option) is tuple):
            return option
    return choices[0]


def _in_struct(
    value: Mapping[str, Any], kind: Any, fields: Mapping[str, Any], path: Path, root: Any
) -> Iterator[Mistake]:
    for key, inner in value.items():
        if key in fields:
            yield from _mistakes(inner, fields[key], (*path, key), root)
        else:
            yield _unknown((*path, key), key, fields, root)
    for field in msgspec.structs.fields(kind):
        if field.required and field.encode_name not in value:
            problem = f"setting {show_path(path)!r}: {field.encode_name!r} is missing"
            yield Mistake(path, problem, f"Add {field.encode_name} = … there.")


def _unknown(path: Path, name: str, fields: Mapping[str, Any], root: Any) -> Mistake:
    meant = _same(name, fields) or _elsewhere(name, root) or _nearest(name, fields)
    problem = f"unknown setting {show_path(path)!r}" + (f" (did you mean {meant!r}?)" if meant else "")
    return Mistake(path, problem, _row(path) or f"{CORRECT}Known here: {', '.join(sorted(fields))}.")


def _row(path: Path) -> str:
    """Where a key of `[models."P/M"]` belongs that only the model's row in its provider's table has; empty for any other."""
    if len(path) != 3 or path[0] != "models" or path[2] not in fields_of(ModelConfig):
        return ""
    provider, slash, model = str(path[1]).partition("/")
    if not slash:
        return ""
    return (
        f"It belongs in the model's row: [[{show_path(('providers', provider, 'models'))}]] with id = {quoted(model)}."
    )


def _fits(value: Any, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind, strict=True)
    except msgspec.ValidationError:
        return False
    return True


def _wanted(kind: Any) -> str:
    """What fits `kind`, in words."""
    if typing.get_origin(kind) is typing.Annotated:
        base, bounds = typing.get_args(kind)
        if bounds.gt is None and bounds.ge is None:
            return _wanted(base)
        least = "above 0" if bounds.gt == 0 else f"from {bounds.ge} on"
        return f"{_wanted(base)} {least}{'' if bounds.le is None else f' and at most {bounds.le:g}'}"
    if typing.get_origin(kind) is typing.Literal:
        return f"one of {', '.join(map(str, typing.get_args(kind)))}"
    if typing.get_origin(kind) is tuple:
        element = element_of(kind)
        if typing.get_origin(element) is typing.Literal:
            return f"a list of {', '.join(map(str, typing.get_args(element)))}"
        if len(options_of(element)) > 1:
            return "a list"
        return f"a list of {next((many for known, _, many in _WORDS if element is known), 'tables')}"
    return next((one for known, one, _ in _WORDS if kind is known), "a table")


def _got(value: Any, kind: Any) -> str:
    """What stands there, in words. Values are shown only where they are choices: another one may be a key."""
    if isinstance(value, str) and typing.get_origin(kind) is typing.Literal:
        return repr(value)
    if typing.get_origin(kind) is typing.Annotated and _fits(value, typing.get_args(kind)[0]):
        return f"{value:g}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "a number with a fraction"
    names = ((int, "a whole number"), (str, "text"), (list | tuple, "a list"), (Mapping, "a table"))
    return next((words for known, words in names if isinstance(value, known)), "a date or time")


def fields_of(kind: Any) -> dict[str, Any]:
    """The keys of a table with fixed names, each with its type; empty for anything else."""
    for option in options_of(kind):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            return {f.encode_name: f.type for f in msgspec.structs.fields(option)}
    return {}


def element_of(kind: Any) -> Any:
    """The type of what a table of any keys, or a list, holds; None for anything else."""
    for option in options_of(kind):
        arguments = typing.get_args(option)
        if typing.get_origin(option) is dict:
            return arguments[1]
        if typing.get_origin(option) is tuple:
            return arguments[0]
    return Any if kind is Any else None


def _is_list(kind: Any) -> bool:
    return any(typing.get_origin(option) is tuple for option in options_of(kind))


def options_of(kind: Any) -> tuple[Any, ...]:
    """The types of which a value has one."""
    return typing.get_args(kind) if typing.get_origin(kind) in (types.UnionType, typing.Union) else (kind,)
