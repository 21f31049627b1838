"""Summaries that were made before, found again by what they are of.

    key      hash of the content, prompt version, model        the same content is never summarised twice
    source   path or address, with its version                 the same document elsewhere reuses its summary; a changed one makes it stale

A value in memory that can be written down and read back; the least recently used give way. It decides nothing: a stale summary is
returned as stale, and the caller says what that means.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import msgspec

from trimtab.types.codec import encode_message
from trimtab.types.messages import Message
from trimtab.types.usage import Usage


class SummaryKey(msgspec.Struct, frozen=True):
    """What makes two requests for a summary the same."""

    content: str
    """`content_hash` of what is summarised."""
    prompt: str
    """Version of the wording, and what else steers it."""
    model: str
    """Who writes it; `digest` when nobody does."""


class KeptSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A summary with all that is known of its making."""

    key: SummaryKey
    """What it is found by."""
    text: str
    """The accepted text."""
    analysis: str = ""
    """What the model noted first; for the log."""
    source: str | None = None
    """Path or address of the document, when it is of one."""
    version: str | None = None
    """Version of that document: a hash, an etag, a time."""
    usage: Usage | None = None
    """What it cost."""
    meta: dict[str, Any] = {}
    """What else is known."""


def content_hash(content: str | Sequence[Message], *, previous: str | None = None) -> str:
    """Return the hash of a text, or of messages; with the earlier summary that is updated, when there is one."""
    digest = sha256()
    for part in (content.encode("utf-8", "replace"),) if isinstance(content, str) else map(encode_message, content):
        digest.update(len(part).to_bytes(8))
        digest.update(part)
    if previous is not None:
        digest.update(b"previous" + previous.encode("utf-8", "replace"))
    return digest.hexdigest()


@dataclass(slots=True)
class SummaryCache:
    """At most `limit` summaries. `versions` is the newest version seen of each source."""

    limit: int = 512
    versions: dict[str, str] = field(default_factory=dict)
    _kept: dict[SummaryKey, KeptSummary] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: SummaryKey) -> KeptSummary | None:
        """The summary of that key, unless its source has changed since."""
        kept = self._kept.get(key)
        if kept is None or self.is_stale(kept):
            return None
        self._kept[key] = self._kept.pop(key)
        return kept

    def put(self, kept: KeptSummary) -> None:
        """Keep a summary; it is the most recently used one now. It doesn't make an older version of its source the newest again."""
        self._kept.pop(kept.key, None)
        self._kept[kept.key] = kept
        if kept.source is not None and kept.version is not None:
            self.versions.setdefault(kept.source, kept.version)
        while len(self._kept) > self.limit:
            self._kept.pop(next(iter(self._kept)))

    def of_source(self, source: str, *, version: str | None = None) -> tuple[KeptSummary, ...]:
        """All summaries of a source, newest first; with `version` only those of that version."""
        found = [k for k in self._kept.values() if k.source == source and version in (None, k.version)]
        return tuple(reversed(found))

    def saw(self, source: str, version: str) -> tuple[KeptSummary, ...]:
        """Take note of a source's version, and return the summaries that are stale by it."""
        self.versions[source] = version
        return tuple(kept for kept in self.of_source(source) if self.is_stale(kept))

    def is_stale(self, kept: KeptSummary) -> bool:
        """Whether another version of its source has been seen since."""
        return kept.source is not None and self.versions.get(kept.source, kept.version) != kept.version

    def dump(self) -> bytes:
        """All of it as JSON."""
        return msgspec.json.encode(_Dump(tuple(self._kept.values()), self.versions))

    @classmethod
    def load(cls, data: bytes, *, limit: int = 512) -> "SummaryCache":
        """Return the cache in `data`; an empty one when it can't be read, since every summary can be made again."""
        cache = cls(limit=limit)
        try:
            dump = msgspec.json.decode(data, type=_Dump)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return cache
        cache.versions.update(dump.versions)
        for kept in dump.kept:
            cache.put(kept)
        return cache


class _Dump(msgspec.Struct, frozen=True):
    kept: tuple[KeptSummary, ...]
    versions: dict[str, str]
