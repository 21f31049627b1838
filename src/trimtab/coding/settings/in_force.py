"""What holds in a folder, and for one model: rows of settings with their origins, the model's own tables over the common ones.

project ──▶ rows of all layers ──model──▶ its context, sizes and thinking level in their place
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trimtab.coding.context.engine import is_for_model
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.config.in_force import Key, Origin, Row, in_force, origin_of
from trimtab.config.load import split_key
from trimtab.config.mistakes import CORRECT, show_path, unknown_key
from trimtab.config.settings import ContextSettings, Settings
from trimtab.types.errors import ConfigError

_SOURCES = {"catalogue": "the catalogue", "default": "assumed", "probe": "its server"}


def rows_of(project: Project, *, model: str | None = None) -> tuple[Row, ...]:
    """Every setting in force; with `model`, as a run with that model would have it. Raises `UnknownModel` or `ConfigError` as a run does."""
    rows = in_force(project.loaded)
    if model is None:
        return rows
    found = resolve_model(project, model)
    info = found.model
    own: Key = ("models", info.ref)
    common = {row.key: row for row in rows}
    facts = []
    for name, value in (("context_window", info.context_window), ("max_output", info.max_output)):
        keys = ((*own, name), ("providers", info.provider, name), ("providers", info.provider, "models"))
        facts.append(
            Row((*own, name), value, _first_origin(project, keys) or Origin(_SOURCES.get(info.source, info.source)))
        )
    given = _first_origin(project, ((*own, "thinking"), ("thinking",)))
    if found.thinking is not None:
        facts.append(Row((*own, "thinking"), found.thinking, given or Origin("the model's name")))
    for name in ContextSettings.__struct_fields__:
        key: Key = ("context", name)
        if is_for_model(project, info, name):
            common[key] = replace(common[(*own, *key)], key=key)
    others = [row for row in common.values() if row.key[0] != "models"]
    return (*others, *facts)


def _first_origin(project: Project, keys: Iterable[Key]) -> Origin | None:
    return next((origin for key in keys if (origin := origin_of(project.loaded, key))), None)


def below(rows: Iterable[Row], names: Sequence[str]) -> tuple[Row, ...]:
    """The rows at the keys `names` and below them; all of them without names. Raises `ConfigError` for a name that is no setting."""
    if not names:
        return tuple(rows)
    keys = [known_key(name) for name in names]
    return tuple(row for row in rows if any(row.key[: len(key)] == key for key in keys))


def known_key(name: str) -> tuple[str, ...]:
    """A key as it is typed, in its parts. Raises `ConfigError` for what is no setting, with the one that was probably meant."""
    key = split_key(name.strip())
    if not key:
        raise ConfigError(f"{name!r} names no setting", hint="Write it as in config.toml: tools.bash.timeout_s.")
    if (unknown := unknown_key(key, Settings)) is not None:
        raise ConfigError(unknown.problem, hint=unknown.hint.removeprefix(CORRECT))
    return key


def key_text(row: Row) -> str:
    """The key of a row as TOML writes it."""
    return show_path(row.key)
