"""A dump as text: plain JSON with a sum, so that one that was cut or changed on its way is told from one that is whole.

    data ──sealed──▶ text          text ──opened──▶ data, or UsageError

The sum is over the values, not over the bytes: whoever stores a dump as JSON may write its keys in another order, or 1.0 as 1.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from trimtab.types.errors import UsageError

_VERSION = 1
_NAME, _SUM = "trimtab_context", "sum"
_WHOLE_FLOAT = re.compile(rb"\.0(?=[,\]}])")
BROKEN = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, UsageError)
"""What reading values of the wrong shape may raise."""


def sealed(data: Mapping[str, Any]) -> str:
    """Return a dump of `data`, which JSON must be able to hold."""
    named = {_NAME: _VERSION, **data}
    return msgspec.json.encode({**named, _SUM: _sum(named)}).decode()


def opened(text: str | bytes) -> dict[str, Any]:
    """Return the data in a dump. Raises `UsageError` when it is none, or not as it was written."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.get(_NAME) != _VERSION:
            raise ValueError(f"it doesn't say that it is one of version {_VERSION}")
        if data.pop(_SUM, None) != _sum(data):
            raise ValueError("it was cut or changed after it was written")
    except BROKEN as problem:
        raise refused(problem) from None
    return data


def refused(problem: Exception) -> UsageError:
    """Return the error for what is no dump."""
    said = problem.message if isinstance(problem, UsageError) else str(problem)
    return UsageError(f"this is no dump of a context: {said}", hint="Give what dump() returned, as it was.")


def _sum(data: Mapping[str, Any]) -> str:
    values = _WHOLE_FLOAT.sub(b"", msgspec.json.encode(data, order="sorted"))
    return hashlib.blake2b(values, digest_size=8).hexdigest()
