"""Summaries that were made before, found again by what they are of.

    key      hash of the content, prompt version, model        the same content is never summarised twice
    source   path or address of the document                   one that reads otherwise now has a new summary, and the one of its old text goes

The content of a document is its text alone, whichever call of whichever session read it: so another session finds the summary again, and only
while the text is the same. A value in memory; the least recently used give way. What of it is worth a file is in `take_unsaved`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import msgspec

from trimtab.types.codec import encode_message
from trimtab.types.messages import Message


class SummaryKey(msgspec.Struct, frozen=True):
    """What makes two requests for a summary the same."""

    content: str
    """`content_hash` of what is summarised; of a document it is the version."""
    prompt: str
    """Version of the wording, and what else steers it."""
    model: str
    """Who writes it."""


class KeptSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """A summary with what is known of its making."""

    key: SummaryKey
    """What it is found by."""
    text: str
    """The accepted text."""
    source: str | None = None
    """Path or address of the document, when it is of one."""
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
    """At most `limit` summaries."""

    limit: int = 512
    _kept: dict[SummaryKey, KeptSummary] = field(default_factory=dict)
    _unsaved: list[KeptSummary] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: SummaryKey) -> KeptSummary | None:
        """The summary of that key."""
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._kept[key] = kept
        return kept

    def put(self, kept: KeptSummary) -> None:
        """Keep a summary; it is the most recently used one now."""
        self.fill((kept,))
        if kept.source is not None:
            self._unsaved.append(kept)

    def fill(self, summaries: Iterable[KeptSummary]) -> None:
        """Keep what was written down elsewhere, the oldest first."""
        for kept in summaries:
            for old in [k for k, other in self._kept.items() if k == kept.key or replaces(kept, other)]:
                del self._kept[old]
            self._kept[kept.key] = kept
            while len(self._kept) > self.limit:
                self._kept.pop(next(iter(self._kept)))

    def take_unsaved(self) -> tuple[KeptSummary, ...]:
        """The summaries of documents that came since this was asked last, without what only this session's log needs."""
        unsaved, self._unsaved = self._unsaved, []
        return tuple(msgspec.structs.replace(kept, meta={"mode": kept.meta.get("mode")}) for kept in unsaved)


def replaces(new: KeptSummary, old: KeptSummary) -> bool:
    """Whether `old` is of an earlier text of the document that `new` is of, and so stale."""
    return new.source is not None and new.source == old.source and new.key.content != old.key.content
