"""The JSON schema of a Python type, without references: some servers, and the check of arguments, follow none.

type ──msgspec──▶ schema and its parts ──each part in its place──▶ one schema
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from trimtab.types.errors import UsageError

_REF = "#/$defs/"


def schema_of(kind: Any, *, what: str) -> dict[str, Any]:
    """The schema of `kind`; `what` names it in errors. Raises `UsageError` for a type that has none, or that holds itself."""
    try:
        (schema,), parts = msgspec.json.schema_components([kind], ref_template=_REF + "{name}")
    except (TypeError, RecursionError) as problem:
        raise UsageError(
            f"{what} can't be written as a JSON schema: {problem}",
            hint="Use str, int, float, bool, None, list, dict, Literal, dataclasses, TypedDicts and msgspec.Structs.",
        ) from None
    whole: dict[str, Any] = _in_place(schema, parts, (), what)
    return whole


def _in_place(value: Any, parts: Mapping[str, Any], above: tuple[str, ...], what: str) -> Any:
    if isinstance(value, list):
        return [_in_place(one, parts, above, what) for one in value]
    if not isinstance(value, dict):
        return value
    ref = value.get("$ref")
    if isinstance(ref, str) and ref.startswith(_REF):
        name = ref.removeprefix(_REF)
        if name in above:
            raise UsageError(f"{what} holds {name}, which holds itself", hint="Give it a type of a fixed depth.")
        rest = {key: one for key, one in value.items() if key != "$ref"}
        return {**_in_place(parts[name], parts, (*above, name), what), **_in_place(rest, parts, above, what)}
    return {key: _in_place(one, parts, above, what) for key, one in value.items()}
