"""Text hygiene: what may enter a message.

A lone surrogate can't be encoded as UTF-8, so one inside a message would break every later request and
every write of the log. It is replaced here, at the door, and nowhere else.
"""

from typing import Any


def scrub(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def scrub_deep(value: Any) -> Any:
    """Return a JSON value with every string in it, keys too, scrubbed."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub(k): scrub_deep(v) for k, v in value.items()}
    if isinstance(value, list):
        return [scrub_deep(v) for v in value]
    return value
