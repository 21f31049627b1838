"""Builders for session tests: a clock, messages, a disk that refuses, and logs on it."""

import errno
import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User

MOMENT = datetime(2026, 5, 4, 3, 2, 1, 987_000, tzinfo=UTC)
HEADER = {"type": "session", "format": 1, "id": "s-1", "cwd": "/proj", "created": "2026-01-01T00:00:00.000Z"}


def now() -> datetime:
    """A clock that stands still."""
    return MOMENT


def ask(text: str) -> User:
    """A prompt."""
    return User((Text(text),))


def say(text: str, *calls: str) -> Assistant:
    """An answer that calls `read` once for each id."""
    parts = tuple(ToolCall(call, "read", {"path": call}, json.dumps({"path": call})) for call in calls)
    return Assistant((Text(text), *parts), stop_reason="tool_use" if calls else "stop")


def result(call: str, text: str = "content") -> ToolResult:
    """An answer to a call."""
    return ToolResult(call, "read", (Text(text),), is_error=False)


def synthetic(call: str, text: str = "interrupted") -> ToolResult:
    """What stands in for a missing answer."""
    return ToolResult(call, "read", (Text(text),), is_error=True)


def line(entry_id: str, parent: str | None, text: str = "hello", **more: Any) -> bytes:
    """A message line, without its end."""
    message = {"role": "user", "parts": [{"type": "text", "text": text}]}
    envelope = {"type": "message", "id": entry_id, "parent": parent, "time": "2026-01-01T00:00:00.000Z"}
    return json.dumps({**envelope, "message": message, **more}, ensure_ascii=False).encode()


def header(**more: Any) -> bytes:
    """The first line, without its end."""
    return json.dumps({**HEADER, **more}).encode()


def write(path: Path, *lines: bytes, end: bytes = b"\n") -> Path:
    """A session file of these lines."""
    path.write_bytes(b"\n".join(lines) + end)
    return path


def reopened(path: Path) -> SessionLog:
    """The session as a reader sees it."""
    return SessionLog.open(path, now=now, read_only=True)


def texts(messages: Sequence[Message]) -> list[str]:
    """The text of each message."""
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in messages]


class RefusingDisk:
    """A disk that takes `room` more bytes, then says it is full; `sync_error` lets fsync fail."""

    def __init__(self, room: int = 1 << 30, *, sync_error: int = 0) -> None:
        self.room = room
        self.sync_error = sync_error
        self.writes = 0
        self.syncs = 0

    def open(self, path: Path, *, create: bool) -> int:
        """Really open."""
        return os.open(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT | os.O_EXCL if create else 0), 0o600)

    def write(self, fd: int, data: bytes) -> int:
        """Write what there is room for."""
        if self.room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.writes += 1
        written = os.write(fd, data[: self.room])
        self.room -= written
        return written

    def sync(self, fd: int) -> None:
        """Count, or fail."""
        if self.sync_error:
            raise OSError(self.sync_error, os.strerror(self.sync_error))
        self.syncs += 1
