"""Messages and values without secrets, in the same shape.

    message ──as plain values──▶ every string through `redact` ──▶ message

Pictures and the proofs of providers stay: they are data, and a change would only break them. A call's text stays JSON.
"""

import re
from typing import Any

import msgspec

from trimtab.context.summary.redact import redact
from trimtab.types.messages import Message, ToolCall

_NAME = re.compile(r"[\w-]{1,64}")
_KEPT = frozenset({"type", "role", "id", "call_id", "body", "signature", "media_type"})
"""Fields that are no text."""


def without_secrets(message: Message) -> Message:
    """Return `message` with each secret replaced by `[secret: KIND]`."""
    clean: Message = msgspec.convert(value_without_secrets(msgspec.to_builtins(message)), Message)
    parts = tuple(_legal(part) if isinstance(part, ToolCall) else part for part in clean.parts)
    return msgspec.structs.replace(clean, parts=parts)


def value_without_secrets(value: Any, field: str = "") -> Any:
    """Return a JSON value with each secret in it replaced; `field` is where it stands."""
    match value:
        case str():
            return value if field in _KEPT else redact(value)
        case dict() if value.get("type") == "image":
            return {key: one if key == "data" else value_without_secrets(one, key) for key, one in value.items()}
        case dict():
            return {key: _field(key, one) for key, one in value.items()}
        case list() | tuple():
            return [value_without_secrets(one) for one in value]
        case _:
            return value


def _field(key: str, value: Any) -> Any:
    """A field of text, with its name in front of it: `password` says what its value is."""
    if not isinstance(value, str) or key in _KEPT:
        return value_without_secrets(value, key)
    clean = redact(value)
    if clean != value or not _NAME.fullmatch(key):
        return clean
    named = redact(f'{key}="{value}"') if '"' not in value and "\n" not in value else ""
    return "[secret: value]" if named == f'{key}="[secret: value]"' else clean


def _legal(call: ToolCall) -> ToolCall:
    """The call with the text of its arguments written anew where what was taken out of it broke it."""
    if call.arguments is None:
        return call
    try:
        if msgspec.json.decode(call.raw) == call.arguments:
            return call
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    return msgspec.structs.replace(call, raw=msgspec.json.encode(call.arguments).decode())
