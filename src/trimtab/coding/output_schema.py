"""The last answer as data: JSON that fits a schema which a person gave.

    FILE ──load_schema──▶ schema ──▶ a section of the system prompt
    answer ──JSON in it──▶ value ──jsonschema, in a process of its own──▶ fits │ what is wrong ──one repair──▶ fits │ the turn ends with `schema_failed`

References to other documents aren't followed: nothing is fetched.
"""

import json
import os
import re
import select
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import msgspec

from trimtab.agent.events import Error
from trimtab.agent.ports import Closing, Emit
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, user

_FENCED = re.compile(r"```[\w-]*\n(.*?)\n?```", re.DOTALL)
_MOST_BYTES = 1_000_000
_PATIENCE_S = 5.0
_REPAIRS = 1
WITHIN_S = 10.0
"""Seconds that one look at an answer may take."""


def load_schema(path: Path) -> Mapping[str, Any]:
    """Read a JSON schema. Raises `UsageError` for a file that can't be read, or is none."""
    try:
        data = _bytes_of(path)
    except TimeoutError:
        raise UsageError(
            f"{path} is a pipe that nothing came from within {_PATIENCE_S:g} s", hint="Give a file with a JSON schema."
        ) from None
    except OSError as e:
        raise UsageError(
            f"{path} can't be read: {e.strerror}", hint="Give a file with a JSON schema to --output-schema."
        ) from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes", hint=f"A schema may have {_MOST_BYTES:,}.")
    try:
        schema = json.loads(data)
    except (ValueError, RecursionError) as e:
        raise UsageError(f"{path} isn't JSON: {e}", hint="Write a JSON schema into it.") from None
    if not isinstance(schema, dict):
        raise UsageError(f"{path} is no JSON schema: it has to be an object", hint='As in {"type": "object", …}.')
    return check_schema(schema, what=str(path))


def _bytes_of(path: Path) -> bytes:
    """What the file holds, up to what a schema may have and a byte. A pipe (`<(…)` of a shell) is waited for, not for ever. Raises `OSError`, `TimeoutError` among them."""
    data, until = b"", time.monotonic() + _PATIENCE_S
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb", buffering=0) as file:
        while len(data) <= _MOST_BYTES:
            if not select.select([file], [], [], max(until - time.monotonic(), 0))[0]:
                raise TimeoutError
            piece = file.read(_MOST_BYTES + 1 - len(data))
            if not piece:
                break
            data += piece
    return data


def check_schema(schema: dict[str, Any], *, what: str) -> Mapping[str, Any]:
    """Return `schema`, which `what` names. Raises `UsageError` when it is no JSON schema, or can't be followed: before anything is asked for it."""
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415 - only who gives a schema pays for the library
    from jsonschema.validators import validator_for  # noqa: PLC0415

    from trimtab.coding.schema_links import flaw_of  # noqa: PLC0415

    try:
        validator_for(schema).check_schema(schema)
    except (SchemaError, RecursionError) as e:
        where = "/".join(map(str, getattr(e, "absolute_path", ()))) or "its root"
        raise UsageError(
            f"{what} is no JSON schema: at {where}: {getattr(e, 'message', e)}", hint="Correct that place."
        ) from None
    if flaw := flaw_of(schema):
        raise UsageError(f"{what} can't be followed: {flaw}", hint="Correct the schema.")
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
    """A `Closer` that holds the last answer to `schema`. `value` is what fitted last, `parsed` what `parse` made of it; `within_s`: seconds that one look may take."""

    schema: Mapping[str, Any]
    parse: Callable[[Any], Any] | None = None
    """Raises `msgspec.ValidationError` for what the schema lets pass and it doesn't."""
    value: Any = None
    parsed: Any = None
    within_s: float = WITHIN_S
    _repairs: int = 0

    async def begin(self) -> None:
        """A turn begins."""
        self._repairs, self.value, self.parsed = 0, None, None

    async def resume(self) -> None:
        """It holds for the same turn."""

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """Check the answer; once, the model may repair it."""
        text = json_in(answer.text)
        problems = await problems_in(self.schema, text, within_s=self.within_s) or self._unparsed(json.loads(text))
        if not problems:
            return Closing()
        if self._repairs < _REPAIRS:
            self._repairs += 1
            listed = "\n".join(problems)
            told = f"Your answer doesn't fit the schema:\n{listed}\nAnswer again with one JSON value that fits it, and nothing else."
            return Closing((user(told, origin="verify"),))
        error = Error(kind="schema", message=f"the answer doesn't fit the schema: {problems[0]}", hint=_HINT)
        return Closing(reason="schema_failed", error=error)

    def _unparsed(self, value: Any) -> list[str]:
        """Keep a value that fits; what is wrong with one that can't be parsed."""
        try:
            self.parsed = value if self.parse is None else self.parse(value)
        except msgspec.ValidationError as problem:
            return [str(problem)]
        self.value = value
        return []


async def problems_in(schema: Mapping[str, Any], text: str, *, within_s: float) -> list[str]:
    """What is wrong with `text`, a line each; empty when it fits. Looked at in a process of its own, which is ended when it takes too long."""
    asked = json.dumps({"schema": schema, "text": text}).encode()
    command = (sys.executable, "-m", "trimtab.coding.schema_check")
    done = None
    with anyio.move_on_after(within_s):
        done = await anyio.run_process(command, input=asked, check=False)
    if done is None:
        return [f"the schema can't be followed: it takes more than {within_s:g} s"]
    try:
        found: list[str] = json.loads(done.stdout)
    except ValueError:
        return [f"the schema can't be followed: {done.stderr.decode(errors='replace').strip()[-200:]}"]
    return found


_HINT = "The answer stands in the session; another prompt can ask again."
