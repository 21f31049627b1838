"""Names of settings and their values, to choose from: derived from the structs, with the names of providers and models that the settings know."""

import types
import typing
from collections.abc import Iterator
from typing import Any

from trimtab.config.described import written
from trimtab.config.mistakes import element_of, fields_of, options_of, show_path
from trimtab.config.settings import Settings


def setting_names(settings: Settings) -> Iterator[tuple[str, str]]:
    """Each key that can be set, with what it is for."""
    for key, text, _ in _leaves(settings, Settings, ()):
        yield show_path(key), " ".join(text.split())


def setting_values(settings: Settings, name: str) -> tuple[str, ...]:
    """The values that the setting `name` may have, where they can be told one by one."""
    kind = next((kind for key, _, kind in _leaves(settings, Settings, ()) if show_path(key) == name), None)
    for option in options_of(kind):
        if option is bool:
            return ("true", "false")
        if typing.get_origin(option) is typing.Literal:
            return tuple(map(str, typing.get_args(option)))
    return ()


def _leaves(value: Any, kind: Any, key: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str, Any]]:
    kind = next((option for option in options_of(kind) if option is not types.NoneType), kind)
    fields = fields_of(kind)
    texts = written(kind) if fields else {}
    for name, inner in fields.items():
        own = getattr(value, name, None)
        if fields_of(inner):
            yield from _leaves(own, inner, (*key, name))
        elif fields_of(element_of(inner)) and isinstance(own, dict):
            for one, table in own.items():
                yield from _leaves(table, element_of(inner), (*key, name, one))
        elif not (typing.get_origin(inner) is dict and fields_of(element_of(inner))):
            yield (*key, name), texts.get(name, ("", ""))[1], inner
