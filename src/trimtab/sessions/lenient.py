"""JSON as other programs leave it: glued, cut, with bad escapes or bytes. What can be read is read.

    line ──msgspec──▶ record                                      the fast way
      └──salvage──▶ records, and a mark that the line was bad     two records in a line, wrong escapes, bytes that are no UTF-8
    document ──msgspec──▶ value
      └──repair──▶ the whole values before the place where it is cut

Whatever comes out can be written by our codec and comes back equal: no lone surrogate, no NaN, no infinity.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from trimtab.types.text import scrub, scrub_deep

REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What `msgspec` raises for bytes that it can't read."""

_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})|\\')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|"|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.S)
_CLOSERS = {"{": "}", "[": "]"}
_DEPTH = 200
"""Deeper nesting is no session of anybody, and every walk over it would have to care."""


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


_decoder = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)


def salvage(line: bytes) -> list[dict[str, Any]]:
    """Return the objects in a line that is not one plain record; empty when nothing can be read."""
    text = _decoded(line).strip()
    return list(_objects(text)) or list(_objects(_with_escapes(text)))


def document(data: bytes) -> tuple[Any, bool]:
    """Return the JSON value in `data` and whether it had to be repaired; None when there is none."""
    try:
        return msgspec.json.decode(data), False
    except REFUSALS:
        text = _decoded(data)
    for attempt in (text, _with_escapes(text)):
        value = _parsed(attempt)
        if value is not None:
            return value, True
    return _parsed(_closed(_with_escapes(text))), True


def json_object(text: str) -> dict[str, Any] | None:
    """Return the object that `text` holds, or None."""
    try:
        value = msgspec.json.decode(text)
    except (*REFUSALS, UnicodeEncodeError):
        value = _parsed(scrub(text))
    return value if isinstance(value, dict) and not too_deep(text) else None


def too_deep(text: str) -> bool:
    """Say whether JSON text nests deeper than anything that is worth keeping parsed."""
    if text.count("{") + text.count("[") <= _DEPTH:
        return False
    depth = 0
    for match in _TOKEN.finditer(text):
        depth += (match[0] in "{[") - (match[0] in "}]")
        if depth > _DEPTH:
            return True
    return False


def json_text(value: Any) -> str:
    """Return a value as compact JSON."""
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, RecursionError):
        return ""


def _decoded(data: bytes) -> str:
    return scrub(data.decode("utf-8-sig", "replace"))


def _with_escapes(text: str) -> str:
    """Read a backslash that escapes nothing as itself."""
    return _ESCAPE.sub(lambda m: m[0] if m[1] else r"\\", text)


def _parsed(text: str) -> Any:
    try:
        value, end = _decoder.raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return None
    return scrub_deep(value) if not text.lstrip()[end:].strip() and not too_deep(text) else None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    at = 0
    while at < len(text):
        try:
            value, at = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict) and not too_deep(text):
            yield scrub_deep(value)
        while at < len(text) and text[at].isspace():
            at += 1


def _closed(text: str) -> str:
    """Cut a broken document behind its last whole value and close what is open there."""
    stack: list[str] = []
    end, closers, before = 0, "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if len(stack) >= _DEPTH:
            break
        if token in _CLOSERS:
            stack.append(_CLOSERS[token])
        elif stack and token == stack[-1]:
            stack.pop()
        elif token in "]}" or token == '"':
            break
        elif token in ",:" or match.end() == len(text) or (stack[-1:] == ["}"] and before != ":"):
            before = token
            continue
        end, closers, before = match.end(), "".join(reversed(stack)), token
        if not stack:
            break
    return text[:end] + closers
