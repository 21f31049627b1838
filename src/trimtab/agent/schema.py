"""Checks tool arguments against the JSON Schema that the model was shown, and says exactly what is wrong.

Small on purpose: `type`, `properties`, `required`, `additionalProperties`, `items`, `enum`, `const`, `anyOf`/`oneOf`, and the bounds
of numbers, strings and lists. A keyword it doesn't know constrains nothing, so a foreign schema never rejects what it meant to allow.

Models get types wrong in a few known ways; each is mended once, here, and only when the value doesn't fit as it is: JSON text for an
object or list, one object for a list of them, `"3"` for 3, `"true"` for true, 3 for `"3"`, and null for an optional argument (left out).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from trimtab.types.near import nearest

Schema: TypeAlias = Mapping[str, Any]
_MISFIT = object()
_BOUNDS = (
    ("minimum", "must be at least {}"),
    ("maximum", "must be at most {}"),
    ("minLength", "must have at least {} characters"),
    ("maxLength", "must have at most {} characters"),
    ("minItems", "must have at least {} items"),
    ("maxItems", "must have at most {} items"),
)


def fit(schema: Schema, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arguments, mended where they could be, and one sentence per problem, each led by its path.

    The paths read like `edits[0].old`. No problem means that the arguments fit.
    """
    problems: list[str] = []
    value = _object(schema, dict(arguments), "", problems)
    return value, tuple(problems)


def _value(schema: Any, value: Any, path: str, problems: list[str]) -> Any:
    if not isinstance(schema, Mapping):
        return value
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, Sequence) and branches:
        return _any_of(branches, value, path, problems)
    types = _types(schema)
    if types and not any(_is(value, t) for t in types):
        mended = next((m for t in types if (m := _mend(value, t)) is not _MISFIT), _MISFIT)
        if mended is _MISFIT:
            problems.append(f"{path}: expected {' or '.join(types)}, got {_name(value)}")
            return value
        value = mended
    _limits(schema, value, path, problems)
    if isinstance(value, dict):
        return _object(schema, value, path, problems)
    if isinstance(value, list) and "items" in schema:
        return [_value(schema["items"], item, f"{path}[{i}]", problems) for i, item in enumerate(value)]
    return value


def _object(schema: Schema, value: dict[str, Any], path: str, problems: list[str]) -> dict[str, Any]:
    properties: Schema = schema.get("properties") or {}
    required = tuple(schema.get("required") or ())
    extra = schema.get("additionalProperties", True)
    here = f"{path}." if path else ""
    problems.extend(f"{here}{name}: missing" for name in required if name not in value)
    out: dict[str, Any] = {}
    for name, item in value.items():
        if name in properties:
            if item is None and name not in required and not _fits(properties[name], None):
                continue
            out[name] = _value(properties[name], item, f"{here}{name}", problems)
        elif extra is False:
            near = nearest(name, properties)
            problems.append(f"{here}{name}: unknown argument" + (f" (did you mean {near}?)" if near else ""))
        else:
            out[name] = _value(extra, item, f"{here}{name}", problems)
    return out


def _any_of(branches: Sequence[Any], value: Any, path: str, problems: list[str]) -> Any:
    """The first branch that fits wins; when none does, the complaint is that of the nearest one."""
    closest: list[str] | None = None
    for branch in branches:
        found: list[str] = []
        mended = _value(branch, value, path, found)
        if not found:
            return mended
        if closest is None or len(found) < len(closest):
            closest = found
    problems.extend(closest or ())
    return value


def _fits(schema: Any, value: Any) -> bool:
    if not isinstance(schema, Mapping):
        return True
    branches = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(branches, Sequence) and branches:
        return any(_fits(branch, value) for branch in branches)
    types = _types(schema)
    return (not types or any(_is(value, t) for t in types)) and ("enum" not in schema or value in schema["enum"])


def _limits(schema: Schema, value: Any, path: str, problems: list[str]) -> None:
    if "const" in schema and value != schema["const"]:
        problems.append(f"{path}: must be {_json(schema['const'])}, got {_json(value)}")
    if "enum" in schema and value not in schema["enum"]:
        choices = ", ".join(_json(choice) for choice in schema["enum"])
        problems.append(f"{path}: must be one of {choices}; got {_json(value)}")
    for keyword, text in _BOUNDS:
        size = _size(keyword, value)
        bound = schema.get(keyword)
        if size is None or not isinstance(bound, int | float):
            continue
        if size < bound if keyword.startswith("min") else size > bound:
            problems.append(f"{path}: {text.format(bound)}")


def _size(keyword: str, value: Any) -> float | None:
    """What a bound measures in `value`, None when it doesn't apply to such a value."""
    if keyword.endswith("Length"):
        return len(value) if isinstance(value, str) else None
    if keyword.endswith("Items"):
        return len(value) if isinstance(value, list) else None
    return value if _is(value, "number") else None


def _types(schema: Schema) -> tuple[str, ...]:
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return (kinds,)
    return tuple(kinds) if isinstance(kinds, Sequence) else ()


def _is(value: Any, kind: str) -> bool:
    match kind:
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case "null":
            return value is None
        case _:
            return True


def _mend(value: Any, kind: str) -> Any:
    """Return `value` as a `kind` when a model plainly meant that, else `_MISFIT`."""
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return _json(value)
    if kind == "array" and isinstance(value, dict):
        return [value]
    if isinstance(value, str) and kind in ("integer", "number", "boolean", "array", "object"):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            return _MISFIT
        if _is(read, kind):
            return read
        if kind == "array" and isinstance(read, dict):
            return [read]
    return _MISFIT


def _name(value: Any) -> str:
    kinds = ("null", "boolean", "integer", "number", "string", "array")
    return next((kind for kind in kinds if _is(value, kind)), "object")


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"
