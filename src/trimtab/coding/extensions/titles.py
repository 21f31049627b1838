"""The line that stands for a call of a tool with a renderer. A title is text with names of arguments in braces, and nothing in it is evaluated."""

import json
import re
from collections.abc import Mapping
from typing import Any

from trimtab.coding.extensions.api import Renderer
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_NAME = re.compile(r"\{(\w+)\}")
_SHOWN = 80


def title_of(renderers: Mapping[str, Renderer], tool: str, arguments: Mapping[str, Any] | None) -> str:
    """The title of a call; empty when nobody says how it is shown."""
    renderer = renderers.get(tool)
    if renderer is None:
        return ""
    given = arguments or {}
    return one_line(_NAME.sub(lambda found: _text(given.get(found[1], "")), str(renderer.title)))


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return shortened(" ".join(text.split()), _SHOWN)
