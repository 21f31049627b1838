"""From a line to what it asks for, or to the answer that says why it asks for nothing.

    line ─JSON?─▶ object ─id, type?─▶ verb ─fields?─▶ Asked
        └ no ─▶ Refused ("parse")  └ no ─▶ Refused (the verb, with its id where it has one)

The one rule: whatever comes in, exactly one thing comes out, and nothing raises.
"""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from trimtab.frontends.rpc.framing import TooLong
from trimtab.frontends.rpc.table import REPLY, VERBS, Verb
from trimtab.frontends.rpc.verbs import Request
from trimtab.types.near import nearest
from trimtab.types.text import scrub_deep

Id: TypeAlias = str | int
_PARSE = "parse"
_LONGEST_ID = 1_024
_LONGEST_NAME = 100
_BAD = (msgspec.MsgspecError, UnicodeError, RecursionError, ValueError)


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that is well formed. `id` comes back with the answer."""

    verb: Verb
    request: Request
    id: Id | None = None
    size: int = 0
    """Bytes of the line that it was."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a client answers to a question, as it stands in the record."""

    id: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """What asks for nothing that there is. `command` is the verb, or `parse` where there is none."""

    command: str
    error: str
    id: Id | None = None


Line: TypeAlias = Asked | Reply | Refused


def read_line(line: bytes | TooLong) -> Line | None:
    """What a line says; None for a blank one."""
    if isinstance(line, TooLong):
        return Refused(
            _PARSE, f"Failed to parse command: a line has at most {line.most:,} bytes, and this one had more"
        )
    if not line.strip():
        return None
    try:
        data = _decoded(line)
    except _BAD as e:
        return Refused(_PARSE, f"Failed to parse command: {_words(e)}")
    if not isinstance(data, dict):
        return Refused(_PARSE, "Failed to parse command: a command is a JSON object with a `type`")
    return _read(data, len(line))


def _decoded(line: bytes) -> Any:
    """The value in a line. Half of a surrogate pair, which a client makes that cuts a text anywhere, becomes U+FFFD."""
    try:
        return msgspec.json.decode(line)
    except _BAD:
        if b"\\u" not in line:
            raise
        return scrub_deep(json.loads(line.decode("utf-8")))


def _read(data: dict[str, Any], size: int) -> Line:
    name, given = data.get("type"), data.get("id")
    echoed = given if _is_id(given) else None
    if not isinstance(name, str):
        return Refused(_PARSE, "Failed to parse command: `type` has to be the name of a command", echoed)
    if name == REPLY:
        if not isinstance(given, str):
            return Refused(REPLY, "`id` has to be that of the question")
        return Reply(given, data)
    shown = name[:_LONGEST_NAME]
    verb = VERBS.get(name)
    if verb is None:
        meant = nearest(shown, VERBS)
        return Refused(shown, f"Unknown command: {shown}" + (f". Did you mean {meant}?" if meant else ""), echoed)
    if given is not None and echoed is None:
        return Refused(name, f"`id` has to be a string of at most {_LONGEST_ID:,} characters, or a whole number")
    try:
        return Asked(verb, msgspec.convert(data, verb.request), echoed, size)
    except _BAD as e:
        return Refused(name, f"{name}: {_words(e)}", echoed)


def _is_id(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= _LONGEST_ID
    return type(value) is int


def _words(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
