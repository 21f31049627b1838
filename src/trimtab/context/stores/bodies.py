"""Large bodies: content-addressed files beside the log, so that its lines stay short.

    message ──spill──▶ message with heads ──▶ line of the log
                └──▶ sha256-… file, durable before the line that names it
    line ──▶ message with heads ──inflate──▶ message as it was

A body is written under a temporary name, synced and renamed, so an address always names whole content; it is verified whenever it is
read. A body that is missing or damaged gives a note in its place: a session must open without it.
"""

import hashlib
import os
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

import msgspec

from trimtab.context.stores.disk import make_folder, store_errors, sync_folder
from trimtab.types.messages import Image, Message, Part, Text, ToolCall
from trimtab.types.text import scrub

LIMIT = 64 * 1024
HEAD = 1_000
"""Characters of a body that its line keeps for people who read the file."""


class BodyStore(Protocol):
    """Content by address."""

    def put(self, data: bytes) -> str:
        """Keep `data` durably and return its address. Raises `StoreError`."""
        ...

    def get(self, address: str) -> bytes | None:
        """Return the content, or None when it is missing or damaged."""
        ...


class Bodies:
    """Bodies in a folder, which is made when the first one comes. `others` are folders that are only read."""

    def __init__(self, folder: Path, *, others: Iterable[Path] = ()) -> None:
        self.folder = folder
        self._others = tuple(others)

    def put(self, data: bytes) -> str:
        """Keep `data` durably and return its address. Raises `StoreError`."""
        address = address_of(data)
        if _verified(self.folder / address, address) is not None:
            return address
        make_folder(self.folder)
        path = self.folder / address
        temporary = self.folder / f".{address}.{secrets.token_hex(4)}"
        with store_errors(path):
            try:
                with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
            except BaseException:
                temporary.unlink(missing_ok=True)
                raise
        sync_folder(self.folder)
        return address

    def get(self, address: str) -> bytes | None:
        """Return the content, or None when it is missing or damaged."""
        if not is_address(address):
            return None
        found = (_verified(folder / address, address) for folder in (self.folder, *self._others))
        return next((data for data in found if data is not None), None)


class MemoryBodies:
    """Bodies of a session without a file."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep `data` and return its address."""
        address = address_of(data)
        self._kept[address] = data
        return address

    def get(self, address: str) -> bytes | None:
        """Return the content, or None when it is missing."""
        return self._kept.get(address)


def address_of(data: bytes) -> str:
    """Return the address of content."""
    return "sha256-" + hashlib.sha256(data).hexdigest()


def is_address(text: str) -> bool:
    """Say whether `text` has the form of an address (and is thus safe as a file name)."""
    digest = text.removeprefix("sha256-")
    return len(digest) == 64 and len(text) == 71 and all(c in "0123456789abcdef" for c in digest)


def spill(message: Message, bodies: BodyStore, *, limit: int = LIMIT) -> Message:
    """Return `message` with bodies over `limit` bytes replaced by heads; they are durable then. Raises `StoreError`."""
    return _map_parts(message, lambda part: _spill_part(part, bodies, limit))


def inflate(message: Message, bodies: BodyStore) -> Message:
    """Return `message` with its bodies back. What can't be read is described in its place."""
    for part in message.parts:
        if isinstance(part, Text | Image | ToolCall) and part.body is not None:
            break
    else:  # nearly always, and every message of a session that is opened comes by
        return message
    return _map_parts(message, lambda part: _inflate_part(part, bodies))


def _map_parts(message: Message, change: Callable[[Part], Part]) -> Message:
    parts = tuple(change(part) for part in message.parts)
    if all(new is old for new, old in zip(parts, message.parts, strict=True)):
        return message
    return msgspec.structs.replace(message, parts=parts)


def _spill_part(part: Part, bodies: BodyStore, limit: int) -> Part:
    match part:
        case Text(text=text, body=None) if _exceeds(text, limit):
            return msgspec.structs.replace(part, text=text[:HEAD], body=bodies.put(_utf8(text)))
        case Image(data=data, body=None) if _exceeds(data, limit):
            return msgspec.structs.replace(part, data="", body=bodies.put(_utf8(data)))
        case ToolCall(raw=raw, arguments=arguments, body=None) if len(raw) * 4 > limit or arguments:
            return _spill_call(part, bodies, limit)
        case _:
            return part


def _spill_call(call: ToolCall, bodies: BodyStore, limit: int) -> ToolCall:
    """Put both forms of the arguments away: a hook may have changed the parsed one."""
    data = _call_body(call)
    if len(data) <= limit:
        return call
    return msgspec.structs.replace(call, raw=call.raw[:HEAD], arguments=None, body=bodies.put(data))


def _inflate_part(part: Part, bodies: BodyStore) -> Part:
    match part:
        case Text(text=head, body=str(address)):
            data = bodies.get(address)
            text = f"{head}\n[{_lost(address)}]" if data is None else data.decode("utf-8", "replace")
            return msgspec.structs.replace(part, text=text, body=None)
        case Image(body=str(address)):
            data = bodies.get(address)
            if data is None:
                return Text(f"[image {part.name or ''}: {_lost(address)}]")
            return msgspec.structs.replace(part, data=data.decode("ascii", "replace"), body=None)
        case ToolCall(body=str(address)):
            return _inflate_call(part, bodies.get(address), address)
        case _:
            return part


def _inflate_call(call: ToolCall, data: bytes | None, address: str) -> ToolCall:
    if data is not None:
        try:
            raw, arguments = msgspec.json.decode(data, type=tuple[str, dict[str, Any] | None])
            return msgspec.structs.replace(call, raw=raw, arguments=arguments, body=None)
        except msgspec.MsgspecError:
            pass
    note = {"lost": _lost(address)}
    return msgspec.structs.replace(call, raw=msgspec.json.encode(note).decode(), arguments=note, body=None)


def _call_body(call: ToolCall) -> bytes:
    try:
        return msgspec.json.encode((call.raw, call.arguments))
    except UnicodeEncodeError:
        return msgspec.json.encode((scrub(call.raw), None))


def _lost(address: str) -> str:
    return f"the rest was kept in body {address}, which is missing or damaged"


def _exceeds(text: str, limit: int) -> bool:
    """Say whether `text` takes more than `limit` bytes, without encoding the usual short one."""
    return len(text) * 4 > limit and len(_utf8(text)) > limit


def _utf8(text: str) -> bytes:
    return scrub(text).encode("utf-8")


def _verified(path: Path, address: str) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data if address_of(data) == address else None
