"""Values as TOML writes them, in one line. Pure."""

import json
from collections.abc import Mapping
from typing import Any


def quoted(text: str) -> str:
    """A text between quotes."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # TOML quotes as JSON does, but for this one


def value_text(value: Any) -> str:
    """Any value that TOML knows."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case list() | tuple():
            return f"[{', '.join(map(value_text, value))}]"
        case Mapping():
            pairs = (f"{quoted(str(name))} = {value_text(inner)}" for name, inner in value.items())
            return f"{{ {', '.join(pairs)} }}" if value else "{}"
        case _:
            return str(value)
