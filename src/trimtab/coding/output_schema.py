"""The last answer as data: JSON that fits a schema which a person gave.

    FILE ──load_schema──▶ schema ──▶ a section of the system prompt
    answer ──JSON in it──▶ value ──jsonschema──▶ fits │ what is wrong ──one repair──▶ fits │ the turn ends with `schema_failed`

References to other documents aren't followed: nothing is fetched.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trimtab.agent.events import Error
from trimtab.agent.ports import Closing, Emit
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, user

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_MOST_BYTES = 1_000_000
_MOST_PROBLEMS = 10
_REPAIRS = 1


def load_schema(path: Path) -> Mapping[str, Any]:
    """Read a JSON schema. Raises `UsageError` for a file that can't be read, or is none."""
    try:
        data = path.read_bytes()
    except OSError as e:
        raise UsageError(
            f"{path} can't be read: {e.strerror}", hint="Give a file with a JSON schema to --output-schema."
        ) from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has {len(data):,} bytes", hint=f"A schema may have {_MOST_BYTES:,}.")
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"{path} isn't JSON: {e}", hint="Write a JSON schema into it.") from None
    if not isinstance(schema, dict):
        raise UsageError(f"{path} is no JSON schema: it has to be an object", hint='As in {"type": "object", …}.')
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - only who gives a schema pays for the library
    from jsonschema.validators import validator_for  # noqa: PLC0415

    try:
        validator_for(schema).check_schema(schema)
    except (SchemaError, RecursionError) as e:
        where = "/".join(map(str, getattr(e, "absolute_path", ()))) or "its root"
        raise UsageError(
            f"{path} is no JSON schema: at {where}: {getattr(e, 'message', e)}", hint="Correct that place."
        ) from None
    return schema


def prompt_section(schema: Mapping[str, Any]) -> str:
    """What the system prompt says of it."""
    return (
        "Your last message, when you are done, has to be one JSON value that fits this schema, and nothing else: no words around it.\n"
        f"{json.dumps(schema, ensure_ascii=False)}"
    )


def json_in(text: str) -> str:
    """The JSON text in an answer: all of it, or its only fenced block."""
    fenced = _FENCED.findall(text)
    return (fenced[0] if len(fenced) == 1 else text).strip()


@dataclass(slots=True)
class SchemaCloser:
    """A `Closer` that holds the last answer to `schema`. `value` is what fitted last."""

    schema: Mapping[str, Any]
    value: Any = None
    _repairs: int = 0
    _validator: "Validator" = field(init=False)

    def __post_init__(self) -> None:
        """Make ready to check."""
        from jsonschema.validators import validator_for  # noqa: PLC0415 - as above
        from referencing import Registry  # noqa: PLC0415 - as above

        self._validator = validator_for(self.schema)(self.schema, registry=Registry())

    async def begin(self) -> None:
        """A turn begins."""
        self._repairs, self.value = 0, None

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """Check the answer; once, the model may repair it."""
        problems = self._problems(answer.text)
        if not problems:
            return Closing()
        if self._repairs < _REPAIRS:
            self._repairs += 1
            told = f"Your answer doesn't fit the schema:\n{problems}\nAnswer again with one JSON value that fits it, and nothing else."
            return Closing((user(told, origin="verify"),))
        error = Error(
            kind="schema", message=f"the answer doesn't fit the schema: {problems.partition(chr(10))[0]}", hint=_HINT
        )
        return Closing(reason="schema_failed", error=error)

    def _problems(self, text: str) -> str:
        """What is wrong, a line each; empty when it fits."""
        from referencing.exceptions import Unresolvable  # noqa: PLC0415 - as above

        try:
            value = json.loads(json_in(text))
        except (ValueError, RecursionError) as e:
            return f"it isn't JSON: {e}"
        try:
            found = sorted(self._validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
        except (Unresolvable, RecursionError, re.error) as e:  # a reference that leads nowhere or round, a bad pattern
            return f"the schema can't be followed: {type(e).__name__}: {e}"
        if not found:
            self.value = value
        return "\n".join(f"{error.json_path}: {error.message[:300]}" for error in found[:_MOST_PROBLEMS])


_HINT = "--continue asks again; the answer stands in the session."
