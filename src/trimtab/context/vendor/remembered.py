"""What was given, kept beside the engine, so that what nobody edited goes back as it came.

    decode   dict ─▶ ids that no other call has ─▶ messages; their digest ─▶ the dict
    encode   messages ─▶ looked up by digest ─▶ the dict, or written anew when an edit touched any of them

Looked up by what a model would read of a message, not by identity: a message that went through the log is another object, and one
that got a handle still says the same. Two equal messages take their dicts in the order in which they came.

The one rule: nothing depends on what is remembered but the form. Without it the same is said in the canonical form.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trimtab.context.vendor.call_ids import CallIds
from trimtab.context.vendor.formats import Format
from trimtab.context.vendor.plain import VendorMessage, copied, plain_object
from trimtab.types.messages import Assistant, Message, ToolResult


@dataclass(frozen=True, slots=True)
class _Source:
    """A dict and the digests of the messages in it."""

    digests: tuple[bytes, ...]
    given: dict[str, Any]

    def stands_at(self, start: int, window: Sequence[Message]) -> bool:
        """Whether the messages from `start` on are those of the dict. The first is known to be."""
        held = window[start : start + len(self.digests)]
        return len(held) == len(self.digests) and all(
            digest(m) == d for m, d in zip(held[1:], self.digests[1:], strict=True)
        )


@dataclass(slots=True)
class Remembered:
    """One conversation in one format."""

    format: Format
    _sources: dict[bytes, list[_Source]] = field(default_factory=dict)
    """By digest of the first message."""
    _calls: dict[str, str] = field(default_factory=dict)
    _ids: CallIds = field(default_factory=CallIds)
    _count: int = 0

    def decode(self, message: VendorMessage) -> tuple[Message, ...]:
        """Return the messages in the next dict. Raises `VendorMessageError`, and then remembers nothing of it."""
        fields = plain_object(message, self._count)
        messages = self.format.decode(fields, index=self._count, calls=self._calls)
        unique = self.format.renamed(fields, lambda ids: self._ids.of_calls(ids, self._calls), self._ids.of_result)
        if unique != fields:
            messages = self.format.decode(unique, index=self._count, calls=self._calls)
        given = self.format.givable(unique)
        self._count += 1
        self._note(messages)
        if given is not None and messages:
            digests = tuple(digest(m) for m in messages)
            self._sources.setdefault(digests[0], []).append(_Source(digests, given))
        return messages

    def encode(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Return a conversation in the format; the dicts are the caller's to change."""
        taken: dict[bytes, int] = {}

        def known(window: Sequence[Message], start: int) -> tuple[int, dict[str, Any]] | None:
            first = digest(window[start])
            fitting = [s for s in self._sources.get(first, ()) if s.stands_at(start, window)]
            if not fitting:
                return None
            nth = taken.get(first, 0)
            taken[first] = nth + 1
            source = fitting[min(nth, len(fitting) - 1)]
            return len(source.digests), source.given

        return self.format.encode(messages, known)

    def names_of(self, call_id: str) -> list[str]:
        """Return what the calls of that id are named in messages, those of the newest answer first."""
        return self._ids.names_of(call_id)

    def dump(self) -> dict[str, Any]:
        """Return everything as JSON values."""
        sources = [[[d.hex() for d in s.digests], copied(s.given)] for held in self._sources.values() for s in held]
        return {
            "format": self.format.name,
            "count": self._count,
            "calls": dict(self._calls),
            "ids": self._ids.dump(),
            "sources": sources,
        }

    def load(self, dumped: dict[str, Any]) -> None:
        """Take over what `dump` gave, for a conversation that goes on."""
        self._count = dumped["count"]
        self._calls = dict(dumped["calls"])
        self._ids.load(dumped["ids"])
        self._sources = {}
        for names, given in dumped["sources"]:
            digests = tuple(bytes.fromhex(n) for n in names)
            self._sources.setdefault(digests[0], []).append(_Source(digests, copied(given)))

    def _note(self, messages: Iterable[Message]) -> None:
        for message in messages:
            if isinstance(message, Assistant):
                self._calls.update((c.id, c.name) for c in message.tool_calls)


def digest(message: Message) -> bytes:
    """Return 16 bytes that tell apart messages that a model would read differently."""
    read: list[Any] = [type(message).__name__, message.parts, message.wire]
    if isinstance(message, ToolResult):
        read += [message.call_id, message.is_error]
    elif isinstance(message, Assistant):
        read.append(message.provider)
    return hashlib.blake2b(msgspec.json.encode(read), digest_size=16).digest()
