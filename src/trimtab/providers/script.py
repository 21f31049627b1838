"""Scripts for the scripted model: JSON lines to typed lines, or one error that says where the script is wrong.

A line per request attempt. Every mistake is found when the script is read, before anything runs.
"""

import json
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import msgspec

from trimtab.types.errors import ConfigError
from trimtab.types.messages import StopReason
from trimtab.types.near import nearest

_Positive = Annotated[int, msgspec.Meta(gt=0)]
_Count = Annotated[int, msgspec.Meta(ge=0)]
_Seconds = Annotated[float, msgspec.Meta(ge=0)]

_MOST_BYTES = 64 << 20
"""The largest script; a device that never ends is none."""
_PIECE = 1 << 20


class ScriptedCall(msgspec.Struct, frozen=True):
    """A tool call. `arguments` as a string is sent as it is, so that a script can break the JSON; without `id` a fresh one is made."""

    name: str
    arguments: dict[str, Any] | str = {}
    id: str = ""

    @property
    def raw(self) -> str:
        """The argument text as it streams."""
        return self.arguments if isinstance(self.arguments, str) else json.dumps(self.arguments, ensure_ascii=False)


class ScriptedUsage(msgspec.Struct, frozen=True):
    """Reported usage, in tokens. The counts stand side by side, as in `types.Usage`."""

    input: _Count = 0
    output: _Count = 0
    cache_read: _Count = 0
    cache_write: _Count = 0


class ScriptedError(msgspec.Struct, frozen=True):
    """A failure as a server would send it: HTTP status (0: the connection broke), body, and Retry-After in seconds."""

    status: _Count = 0
    body: Any = ""
    retry_after_s: _Seconds | None = None

    @property
    def text(self) -> str:
        """The body as text; an object is encoded as JSON."""
        return self.body if isinstance(self.body, str) else json.dumps(self.body, ensure_ascii=False)


class Expect(msgspec.Struct, frozen=True):
    """Strings that the request must and must not hold, in its system prompt or any message."""

    contains: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


class Line(msgspec.Struct, frozen=True):
    """The answer to one request attempt.

    `chunk` is the number of characters per delta (default: a part in one delta); `delay_ms` passes before the first event,
    `chunk_delay_ms` before each delta. Without `usage` none is reported. `error` comes after whatever else the line holds.
    """

    text: str = ""
    thinking: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage | None = None
    stop_reason: StopReason | None = None
    error: ScriptedError | None = None
    delay_ms: _Count = 0
    chunk_delay_ms: _Count = 0
    chunk: _Positive | None = None
    expect: Expect = Expect()
    number: int = 0
    """Where the line stands in its file, from 1; filled by the reader."""


def read_script(path: str | Path) -> tuple[Line, ...]:
    """Return the lines of a script file. Raises `ConfigError` with file, line and column."""
    try:
        with Path(path).open("rb") as file:
            # In pieces, because a buffered read takes memory for all that it may give.
            data = b"".join(islice(iter(partial(file.read, _PIECE), b""), _MOST_BYTES // _PIECE + 1))
    except (OSError, ValueError) as exc:  # a NUL in the name
        raise ConfigError(
            f"can't read the script {str(path)!r}: {getattr(exc, 'strerror', None) or exc}",
            hint="name an existing JSON Lines file: --model scripted/PATH",
        ) from exc
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"the script {str(path)!r} is larger than {_MOST_BYTES:,} bytes", hint="name a smaller one")
    rows = enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1)
    return tuple(_decode(row, number, str(path)) for number, row in rows if row.strip())


def make_script(rows: Iterable[Line | Mapping[str, Any]]) -> tuple[Line, ...]:
    """Return lines from values; a mapping has the fields of a line of a script file. Raises `ConfigError`."""
    lines = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, Line):
            lines.append(msgspec.structs.replace(row, number=number))
        else:
            lines.append(_decode(json.dumps(row).encode(), number, "script"))
    return tuple(lines)


def _decode(row: bytes, number: int, file: str) -> Line:
    try:
        text = row.decode()
        value = json.loads(text)
    except json.JSONDecodeError as exc:
        raise _wrong(file, number, exc.colno, f"not JSON: {exc.msg}") from exc
    except UnicodeDecodeError as exc:
        raise _wrong(file, number, exc.start + 1, "not UTF-8") from exc
    except RecursionError as exc:
        raise _wrong(file, number, 1, "nested too deeply") from exc
    stranger = _stranger(value)
    if stranger is not None:
        path, complaint = stranger
        raise _wrong(file, number, _column(text, f"`${path}`"), complaint)
    try:
        line = msgspec.convert(value, Line)
    except msgspec.ValidationError as exc:
        raise _wrong(file, number, _column(text, str(exc)), str(exc)) from exc
    return msgspec.structs.replace(line, number=number)


def _stranger(value: Any) -> tuple[str, str] | None:
    """Where an object has fields but none that is known, and what is wrong with the first; None when there is no such object.

    A field more is ignored; with not one known field an object is a slip, and would pass for an empty one.
    """
    inside = value if isinstance(value, dict) else {}
    for name, kind in {"": Line, "usage": ScriptedUsage, "error": ScriptedError, "expect": Expect}.items():
        here = inside.get(name) if name else value
        known = [field for field in kind.__struct_fields__ if field != "number"]
        if isinstance(here, dict) and here and not any(field in known for field in here):
            field = next(iter(here))
            meant = f" (did you mean {near!r}?)" if (near := nearest(field, known)) else ""
            what = f"of {name!r}" if name else "of an answer"
            return f".{name}.{field}", f"unknown field {field!r}{meant}, and no field {what}: {', '.join(known)}"
    return None


def _column(text: str, complaint: str) -> int:
    """The column of the field that `complaint` names (`… - at `$.usage.input``), else 1."""
    column = 0
    for name in complaint.rpartition("`$")[2].rstrip("`").split("."):
        key = name.split("[")[0]
        at = text.find(f'"{key}"', column) if key else -1
        column = max(column, at)
    return column + 1


def _wrong(file: str, line: int, column: int, complaint: str) -> ConfigError:
    return ConfigError(
        f"{file}, line {line}, column {column}: {complaint}",
        hint="each line of a script is one JSON object, the answer to one request",
    )
