"""How a server describes a tool, as answers of people are bound to it: its digest, and what differs from the form that they allowed.

    RemoteTool ──digest──▶ mcp__SERVER__TOOL#DIGEST        allowed ──▶ CACHE/mcp/allowed/DIGEST.json ──▶ the difference, once it changed

What is hashed is what a model reads of the tool. A form that isn't kept any more only costs the difference: it is asked about all the same.
"""

import hashlib
import os
import secrets
from collections.abc import MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trimtab.coding.mcp.values import RemoteTool
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.tools.diffs import unified
from trimtab.context.stores.private import make_private

_LENGTH = 32
"""Hexadecimal digits: nobody makes two forms with one digest."""
_SAID = 600
_LINES, _WIDTH = 80, 200
_LARGEST = 200_000
_HELD = 1_000


def digest_of(tool: RemoteTool) -> str:
    """A hash of all that a server says of the tool and a model reads."""
    return hashlib.sha256(msgspec.json.encode(tool, order="deterministic")).hexdigest()[:_LENGTH]


def call_of(call_id: str, server: str, tool: str) -> str:
    """The name of a call among those of a session and of all that work for it: models give like ids to their calls."""
    return "\0".join((call_id, server, tool))


def difference(before: RemoteTool, now: RemoteTool) -> str:
    """What changed, in a few words; empty when nothing did."""
    old, new = _arguments(before), _arguments(now)
    told = ["its description"] if before.description != now.description else []
    told += [f"{what} {', '.join(sorted(names)[:5])}" for what, names in _of_arguments(old, new) if names]
    if not told and before.parameters != now.parameters:
        told = ["the schema of its arguments"]
    if before.reads != now.reads:
        told.append("it says now that it only reads" if now.reads else "it no longer says that it only reads")
    return one_line("; ".join(told))


def _arguments(tool: RemoteTool) -> dict[str, object]:
    found = tool.parameters.get("properties")
    return found if isinstance(found, dict) else {}


def _of_arguments(old: dict[str, object], new: dict[str, object]) -> tuple[tuple[str, set[str]], ...]:
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    return (
        ("new arguments:", set(new.keys() - old.keys())),
        ("without:", set(old.keys() - new.keys())),
        ("other arguments:", changed),
    )


@dataclass(frozen=True, slots=True)
class AllowedForms:
    """The forms that people allowed, a file for each. All of it touches the disk."""

    folder: Path

    def read(self, digest: str) -> RemoteTool | None:
        """What was kept under `digest`."""
        try:
            with self._file(digest).open("rb") as file:
                tool = msgspec.json.decode(file.read(_LARGEST), type=RemoteTool)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return tool if digest_of(tool) == digest else None

    def write(self, tool: RemoteTool) -> None:
        """Keep it; what can't be kept costs a difference."""
        path = self._file(digest_of(tool))
        beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
        with suppress(OSError):
            make_private(self.folder)
            fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(fd, "wb") as out:
                out.write(msgspec.json.encode(tool))
            beside.replace(path)

    def _file(self, digest: str) -> Path:
        return self.folder / f"{digest}.json"


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A `permissions.forms.Form`. `held` are the digests that calls under way were allowed with, by `call_of`."""

    server: str
    tool: RemoteTool
    allowed: AllowedForms
    held: MutableMapping[str, str]

    @property
    def digest(self) -> str:
        """Of the tool as it is now."""
        return digest_of(self.tool)

    def change_since(self, digest: str) -> str:
        """In a few words."""
        before = self.allowed.read(digest)
        changed = difference(before, self.tool) if before else ""
        return f"changed: {changed}" if changed else "its server describes it otherwise"

    def lines(self, since: str) -> tuple[str, ...]:
        """What the server says of it; where another form was allowed, line by line what is other than there."""
        said = shortened(self.tool.description, _SAID)
        marked = tuple(f"> {line}" for line in said.split("\n"))  # so that no line of a server's reads as one of ours
        head = (f"the server {self.server} says of it:", *marked) if said else ()
        if not since:
            return head
        before = self.allowed.read(since)
        if before is None:
            return (*head, "it isn't what it was when you allowed it; how it was isn't kept any more")
        diff = (unified(_written(before), _written(self.tool), size=_LARGEST) or "").splitlines()
        more = len(diff) - _LINES
        told = [shortened(line, _WIDTH) for line in diff[:_LINES]] + (
            [f"… and {more:,} more lines"] if more > 0 else []
        )
        return (f"since you allowed it, changed: {difference(before, self.tool)}", *told)

    def agreed(self, call_id: str) -> None:
        """Hold it."""
        while len(self.held) >= _HELD:
            del self.held[next(iter(self.held))]
        self.held[call_of(call_id, self.server, self.tool.name)] = self.digest

    def keep(self) -> None:
        """Keep it among those that were allowed."""
        self.allowed.write(self.tool)


def _written(tool: RemoteTool) -> str:
    schema = msgspec.json.format(msgspec.json.encode(tool.parameters, order="deterministic"), indent=1).decode()
    reads = "it only reads, it says\n" if tool.reads else ""
    return f"{tool.description}\n{reads}arguments: {schema}\n"
