"""Arguments of a call as a typed value, read with care: a model sends a number as text, one id for a list, null for nothing.

The JSON Schema that a model sees is written by hand, for its size; the struct that a handler reads has the same fields, which a test holds together.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import msgspec

from trimtab.context.tools.host import ToolReply
from trimtab.types.text import scrub_deep
from trimtab.types.tools import ToolSpec

T = TypeVar("T", bound=msgspec.Struct)
Properties = dict[str, dict[str, Any]]
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}


def one_of(*words: str) -> dict[str, Any]:
    """The schema of one word of several."""
    return {"type": "string", "enum": list(words)}


def spec(name: str, properties: Properties, *required: str) -> ToolSpec:
    """Return a tool with a schema that allows nothing else. What the model reads about it is `NAME.md` beside this file."""
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return ToolSpec(name, _prompt(name), schema)


def read(kind: type[T], arguments: Mapping[str, Any], *, lists: tuple[str, ...] = ()) -> T | ToolReply:
    """Return the arguments as `kind`, or the answer that says what is wrong with them. `lists` may come as one text."""
    try:
        given = {name: value for name, value in scrub_deep(dict(arguments)).items() if value is not None}
    except RecursionError:
        return ToolReply("the arguments are nested too deeply; nothing was done", is_error=True)
    for name in lists:
        if isinstance(value := given.get(name), str):
            given[name] = _listed(value)
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as problem:
        return ToolReply(f"{problem}; nothing was done: correct the call and repeat it", is_error=True)


def item_name(text: str) -> str:
    """Return the name of an item as it was meant: a model may copy the brackets of a result's head."""
    return text.strip().strip("[]").strip()


def missing(name: str, action: str) -> ToolReply:
    """The answer to an action that lacks an argument."""
    return ToolReply(f"{action} needs {name}; nothing was done", is_error=True)


def _listed(text: str) -> object:
    """A list that came as text: JSON, or one item."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return [text]
    return value if isinstance(value, list) else [text]


@cache
def _prompt(name: str) -> str:
    """The description, one line for each of its paragraphs."""
    text = files(__package__).joinpath(f"{name}.md").read_text("utf-8")
    return "\n".join(" ".join(paragraph.split()) for paragraph in text.strip().split("\n\n"))
