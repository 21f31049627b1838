"""Any value that a program hands over as plain JSON: new dicts, lists and scalars that nobody else can change.

What a session file can't hold is refused here, so no later write of a message fails.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from trimtab.context.vendor.errors import At
from trimtab.types.text import scrub

T = TypeVar("T")
MAX_DEPTH = 100
"""Deeper nesting than in any real message; cyclic values end here too."""


@runtime_checkable
class Dumps(Protocol):
    """An object of an official SDK."""

    def model_dump(self, *, mode: str, exclude_unset: bool) -> dict[str, Any]:
        """Return its fields; those that the server didn't send are left out."""
        ...


VendorMessage: TypeAlias = Mapping[str, Any] | Dumps
"""A message as a program keeps it."""


def plain_object(message: object, index: int) -> dict[str, Any]:
    """Return the fields of a message. Raises `VendorMessageError` when it is no object or holds what JSON can't."""
    value = plain(message, At(index))
    if isinstance(value, dict):
        return value
    raise At(index).wrong(f"is no message but {type(message).__name__}", "Give a dict with a 'role', or an SDK object.")


def plain(value: object, at: At, depth: int = 0) -> Any:
    """Return `value` as JSON values of its own. Lone surrogates become U+FFFD, tuples lists."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return scrub(str.__str__(value))
    if isinstance(value, int | float):
        return _number(value, at)
    if depth >= MAX_DEPTH:
        raise at.wrong("is nested too deeply", "Give plain JSON; look for a value that contains itself.")
    if isinstance(value, Mapping):
        value = value if type(value) is dict else _asked(value, dict, at)  # no code of the program runs in between
        return {_name(k, at): plain(v, at.key(str(k)), depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, at.item(n), depth + 1) for n, v in enumerate(value)]
    if isinstance(value, Dumps) and not isinstance(value, type):
        return plain(_asked(value, _dumped, at), at, depth + 1)
    raise at.wrong(f"holds {type(value).__name__}, which is not JSON", "Give strings, numbers, lists and dicts.")


def copied(value: Any) -> Any:
    """Return a copy of a JSON value."""
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return [copied(v) for v in value] if isinstance(value, list) else value


def without(fields: Mapping[str, Any], *names: str) -> dict[str, Any] | None:
    """Return the fields but `names`, for a `wire`; None when nothing is left."""
    return {k: v for k, v in fields.items() if k not in names} or None


def _number(value: float, at: At) -> int | float:
    if isinstance(value, int):
        if -(2**63) <= value < 2**64:
            return int(value)
        raise at.wrong("is too large a number", "Give it as a string.")
    if math.isfinite(value):
        return float(value)
    raise at.wrong(f"is {float(value)}, which is not JSON", "Give a finite number or null.")


def _name(key: object, at: At) -> str:
    if isinstance(key, str):
        return scrub(str.__str__(key))
    raise at.wrong(f"has a key that is {type(key).__name__}", "Give strings as keys.")


def _dumped(value: Dumps) -> Any:
    return value.model_dump(mode="json", exclude_unset=True)


def _asked(value: T, how: Callable[[T], Any], at: At) -> Any:
    try:
        return how(value)
    except Exception as problem:  # noqa: BLE001 - a door: an object of the program, with code of its own
        raise at.wrong(f"could not be read ({type(problem).__name__}: {problem})", "Give a dict.") from None
