"""A call in words: what it was about, without the bodies that it carried.

{"file_path": "src/a.py", "new_string": "…2,000 characters…"}  ──▶  file_path=src/a.py new_string=(2,000 characters: import os …)
"""

import json
from typing import Any

from trimtab.types.messages import ToolCall

_WHOLE = 160
"""Characters of a value that is shown whole: a path or a command."""
_BEGINNING = 40
_MOST = 600


def call_in_words(call: ToolCall) -> str:
    """Return the arguments of `call`: short texts first, which say what it was about; long ones by their size and first words.

    What is no JSON object is returned as it came, cut.
    """
    if call.arguments is None:
        return _short(call.raw)
    pairs = [(name, _text(value), isinstance(value, str)) for name, value in call.arguments.items()]
    pairs.sort(key=lambda pair: not pair[2] or len(pair[1]) > _WHOLE)
    words = " ".join(f"{name}={_short(text)}" for name, text, _ in pairs)
    return words if len(words) <= _MOST else f"{words[:_MOST].rpartition(' ')[0] or words[:_MOST]} …"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _short(text: str) -> str:
    line = " ".join(text[: 4 * _WHOLE].split())
    if len(text) <= _WHOLE and len(line) <= _WHOLE:
        return line
    beginning = line[:_BEGINNING].rpartition(" ")[0] or line[:_BEGINNING]
    return f"({len(text):,} characters: {beginning} …)"
