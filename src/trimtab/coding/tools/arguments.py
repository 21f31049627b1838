"""Arguments of a call, read with care: a model may leave one out, or send a number as text."""

from collections.abc import Mapping
from typing import Any

from trimtab.coding.tools.failures import ToolFailure
from trimtab.types.text import scrub


def text_argument(arguments: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return the text under `name`, fit for a message. Raises `ToolFailure` when it is missing or no text."""
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise ToolFailure(f"{name} must be a text; it is {_kind(value)}")
    return scrub(value)


def number_argument(arguments: Mapping[str, Any], name: str, default: int, *, least: int) -> int:
    """Return the whole number under `name`, raised to `least`; `default` when it is missing. Raises `ToolFailure`."""
    value = arguments.get(name)
    if value is None:
        return default
    try:
        number = int(value) if isinstance(value, str | float) else value
    except (ValueError, OverflowError):
        number = None
    if not isinstance(number, int) or isinstance(number, bool):
        raise ToolFailure(f"{name} must be a whole number, not {str(value)[:40]!r}")
    return max(number, least)


def _kind(value: object) -> str:
    return "missing" if value is None else type(value).__name__
