"""A session as it happened, for whoever writes it down: what was said, and where the context was edited.

log, path of the leaf ──▶ Said | Edited | Noted, in order, whole and without secrets
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from trimtab.context.archive import Archive
from trimtab.context.reasons import all_in_words
from trimtab.context.stores.bodies import BodyStore, inflate
from trimtab.context.summary.redact import redact
from trimtab.sessions.export.redacted import without_secrets
from trimtab.types.codec import Entry
from trimtab.types.edits import Compact, edit_kind
from trimtab.types.entries import (
    EditEntry,
    MessageEntry,
    ModelChangeEntry,
    RevertEntry,
    ThinkingChangeEntry,
)
from trimtab.types.messages import Assistant, Message

WORDS: Mapping[str, str] = {
    "elide": "put aside",
    "summarize": "summarised",
    "fold": "folded",
    "truncate": "cut",
    "compress": "compressed",
    "drop": "dropped",
    "restore": "brought back",
    "offload": "arguments put aside",
    "compact": "replaced by a summary",
    "restate": "said again",
    "pin": "pinned",
    "unpin": "unpinned",
    "expire": "marked to go",
}
"""What an edit did to its targets."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message, whole. `label` is the name that a person gave the entry."""

    entry_id: str
    time: str
    message: Message
    label: str = ""


@dataclass(frozen=True, slots=True)
class Edited:
    """An edit of the context: what was done to how many messages, by whom, why, from how many tokens to how many. `text` is a summary that stands instead. `reverted`: it was taken back later."""

    entry_id: str
    time: str
    what: str
    targets: int
    author: str
    reason: str
    before: int | None
    after: int | None
    text: str
    reverted: bool


@dataclass(frozen=True, slots=True)
class Noted:
    """Something else that a reader should know, in words."""

    entry_id: str
    time: str
    text: str


Step: TypeAlias = Said | Edited | Noted


def story_of(archive: Archive, bodies: BodyStore) -> tuple[Step, ...]:
    """The steps on the path of the leaf. A cut answer that was asked for again is left out."""
    return steps_of(archive.path(), archive.labels, bodies)


def steps_of(path: Sequence[Entry], labels: Mapping[str, str], bodies: BodyStore) -> tuple[Step, ...]:
    """The steps of these entries, one behind the other."""
    return tuple(_steps(path, _reverted(path), labels, bodies))


def messages_of(archive: Archive, bodies: BodyStore) -> tuple[Message, ...]:
    """All that was said on the path of the leaf, as `story_of` gives it."""
    return tuple(step.message for step in story_of(archive, bodies) if isinstance(step, Said))


def _reverted(path: Sequence[Entry]) -> set[str]:
    """Entries that don't stand: taken back by a revert that stands itself."""
    gone: set[str] = set()
    for entry in reversed(path):
        if entry.type == "revert" and entry.id not in gone and isinstance(value := entry.value, RevertEntry):
            gone.add(value.target)
    return gone


def _steps(path: Sequence[Entry], reverted: set[str], labels: Mapping[str, str], bodies: BodyStore) -> Iterator[Step]:
    for entry in path:
        match entry.value:
            case MessageEntry(message=Assistant(superseded=True)):
                continue
            case MessageEntry(message=message):
                label = redact(labels.get(entry.id, ""))
                yield Said(entry.id, entry.time, without_secrets(inflate(message, bodies)), label)
            case EditEntry() as edit:
                yield _edited(entry, edit, reverted=entry.id in reverted)
            case RevertEntry(target=target, author=author):
                yield Noted(entry.id, entry.time, f"{_who(author)} took the edit {target} back")
            case ModelChangeEntry(provider=provider, model=model, instead_of=absent):
                stead = f" in place of {absent}, which couldn't be had" if absent else ""
                yield Noted(entry.id, entry.time, f"from here on {provider}/{model} answers{stead}")
            case ThinkingChangeEntry(level=level):
                yield Noted(entry.id, entry.time, f"thinking: {level or 'as the provider does'}")
            case _:
                continue


def _edited(entry: Entry, value: EditEntry, *, reverted: bool) -> Edited:
    edit = value.edit
    return Edited(
        entry_id=entry.id,
        time=entry.time,
        what=WORDS.get(edit_kind(edit), edit_kind(edit)),
        targets=len(edit.targets),
        author=_who(value.author),
        reason=redact(all_in_words((value.reason,))) if value.reason else "",
        before=value.before_tokens,
        after=value.after_tokens,
        text=redact(edit.summary) if isinstance(edit, Compact) else "",
        reverted=reverted,
    )


def _who(author: str) -> str:
    """An author in words."""
    named = {"user": "you", "model": "the model", "recovery": "the last resort"}
    return named.get(author, author.replace("policy:", "policy "))
