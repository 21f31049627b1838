"""Reading what servers really send: JSON with small faults, numbers that may be missing, arguments that may be anything.

Shared by the wires. Strict first (msgspec, into a typed value); only what that refuses takes the slow path. The one rule: text that
leaves this module can be encoded as UTF-8, and no input raises anything but `WireFailure`.
"""

import json
import re
from typing import TypeVar

import msgspec

from trimtab.providers.wire import WireFailure
from trimtab.types.errors import ErrorInfo
from trimtab.types.messages import ToolCall
from trimtab.types.text import scrub

T = TypeVar("T")

UNPARSED = "unparsed_arguments"
"""Key under which arguments that aren't a JSON object go back to a wire that wants one."""

_ILLEGAL_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decode(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Return `data` decoded; invalid UTF-8 and lone surrogates become U+FFFD.

    Raises `msgspec.ValidationError` when it is JSON of another shape, `WireFailure` (malformed) when it isn't JSON.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        text = data.decode("utf-8", "replace")
        return decoder.decode(scrub(json.dumps(json.loads(text), ensure_ascii=False)))
    except msgspec.ValidationError:
        raise
    except (ValueError, RecursionError):
        raise malformed(f"an event of the stream is not JSON: {_head(data)}") from None


def malformed(message: str) -> WireFailure:
    """A failure for bytes that can't be understood."""
    return WireFailure(
        ErrorInfo("malformed", message, hint="The server or a proxy broke the answer; try again.", retryable=True)
    )


def odd_shape(data: bytes, why: Exception) -> WireFailure:
    """A failure for JSON whose known fields have unknown types."""
    return malformed(f"an event of the stream has an unexpected shape ({why}): {_head(data)}")


def cut_stream() -> WireFailure:
    """A failure for a body that ended before the answer did."""
    return WireFailure(ErrorInfo("network", "the answer broke off before its end", retryable=True))


def count(value: object) -> int:
    """Return a token count from a JSON value; 0 for what isn't a positive number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value < 2**63 else 0


def text_of(value: object) -> str:
    """Return `value` when it is text, else ""."""
    return value if isinstance(value, str) else ""


def compact(value: object) -> str:
    """Return `value` as JSON without blanks, keys in their own order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def portable_name(name: str) -> str:
    """Return a tool name as OpenAI's APIs accept it; a model may have invented an illegal one, and a history keeps it for ever."""
    return _ILLEGAL_IN_NAME.sub("_", name)[:64] or "_"


def arguments_object(call: ToolCall) -> msgspec.Raw:
    """Return the arguments of `call` as the bytes of one JSON object.

    Text that is an object goes out exactly as it streamed, so that caches hold. Anything else is wrapped (`UNPARSED`), because
    the wires that use this take only objects, and the error result that answers the call quotes the same text.
    """
    raw = scrub(call.raw)
    if not raw.strip():
        return msgspec.Raw(msgspec.json.encode(call.arguments or {}))
    try:
        _object.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode({UNPARSED: raw}))
    return msgspec.Raw(raw.encode())


def _head(data: bytes, limit: int = 200) -> str:
    return repr(data[:limit].decode("utf-8", "replace")) + ("…" if len(data) > limit else "")
