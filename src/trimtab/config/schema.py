"""`config.toml` as a JSON Schema, for editors: what the structs say, their texts included.

Settings ──msgspec──▶ JSON Schema ──texts of fields, no null──▶ what an editor completes and checks by
"""

import inspect
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from trimtab.config.described import written
from trimtab.config.mistakes import options_of
from trimtab.config.settings import Settings


def settings_schema() -> dict[str, Any]:
    """Return the schema of a file of settings, draft 2020-12."""
    schema = msgspec.json.schema(Settings)
    kinds = {kind.__name__: kind for kind in _structs(Settings)}
    for name, table in schema["$defs"].items():
        texts = written(kinds[name])
        table["description"] = inspect.cleandoc(kinds[name].__doc__ or "")
        for key, facts in table.get("properties", {}).items():
            _without_null(facts)
            if text := texts.get(key, ("", ""))[1]:
                facts["description"] = " ".join(text.split())
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Trimtab's config.toml"}
    return {**head, **schema}


def _structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Every struct that `kind` holds, itself included."""
    for option in options_of(kind):
        if isinstance(option, type) and issubclass(option, msgspec.Struct):
            yield option
            for field in msgspec.structs.fields(option):
                yield from _structs(field.type)
        for argument in typing.get_args(option):
            if argument is not ...:
                yield from _structs(argument)


def _without_null(facts: dict[str, Any]) -> None:
    """TOML has no null: what is optional is left out."""
    kinds = [kind for kind in facts.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        del facts["anyOf"]
        facts.update(kinds[0])
    elif kinds:
        facts["anyOf"] = kinds
    if facts.get("default", ...) is None:
        del facts["default"]
