"""Session entries: every record of the log.

A session is a tree: each entry names its parent. The first line of a file is the `Header`; it has no parent and
is not an entry. `TIP` types move the leaf when they are appended; `label` and `leaf` don't, and neither does a type that this
version doesn't know, so a newer program's records are kept without steering an older one.
"""

from typing import Any, TypeAlias

import msgspec

from trimtab.types.edits import Edit, EditCost
from trimtab.types.messages import Message

FORMAT = 1


class Header(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="session"):
    """Line 1 of a session file. `created` is RFC 3339, UTC."""

    id: str
    """The session."""
    cwd: str
    """The folder that it began in."""
    created: str
    """When; RFC 3339, UTC."""
    format: int
    """Version of this format."""
    parent_session: str | None = None
    """The session that it was forked from."""
    version: str = ""
    """The version of Trimtab that wrote it."""


class Envelope(msgspec.Struct, frozen=True):
    """What every entry has, whatever its type; decoding step one."""

    type: str
    id: str = ""
    parent: str | None = None
    time: str = ""


class _Entry(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", kw_only=True):
    id: str
    """Names the entry in this session."""
    parent: str | None
    """The entry before it; null: none."""
    time: str
    """When it was written; RFC 3339, UTC."""


class MessageEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="message"):
    """A message."""

    message: Message
    """The message."""


class EditEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="edit"):
    """A reversible change of what the model sees."""

    edit: Edit
    """What changes. It holds the text that it renders, so any later version shows the same bytes."""
    reason: str = ""
    """Why, in words."""
    author: str = "user"
    """`user`, `model`, `policy:NAME`, or `recovery` (the ladder and what follows an overflow)."""
    before_tokens: int | None = None
    """Counted size of what it changes, before."""
    after_tokens: int | None = None
    """The same after it."""
    cost: EditCost = EditCost()
    """What it cost."""
    batch: str | None = None
    """Edits that were applied together name the same batch."""


class RevertEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="revert"):
    """Takes one edit back; everything else stays as it is. A revert can be reverted too."""

    target: str
    """Id of the edit or revert entry."""
    reason: str = ""
    """Why, in words."""
    author: str = "user"
    """As in an edit."""


class LabelEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="label"):
    """A name that a person gave to `target`; an empty one takes it away."""

    target: str
    """Id of an entry."""
    label: str = ""
    """The name."""


class LeafEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="leaf"):
    """The leaf moves to `target` (None: before the first entry)."""

    target: str | None
    """Id of an entry."""


class ModelChangeEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="model_change"):
    """From here on, requests go to `provider`/`model`."""

    provider: str
    """Its name."""
    model: str
    """The id at the provider."""
    instead_of: str | None = None
    """The model, `PROVIDER/ID`, in whose place it answers while that one can't be had; it stays the session's own."""
    reason: str = ""
    """Why, in words."""


class ThinkingChangeEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="thinking_change"):
    """From here on, the model thinks at `level`."""

    level: str | None
    """Null: the default."""


class SessionInfoEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="session_info"):
    """Facts about the session: a title, a new working folder, another context policy, another window, whether it is put away. Later ones win, field by field."""

    title: str | None = None
    """What lists show."""
    cwd: str | None = None
    """Where the session goes on."""
    policy: str | None = None
    """The context policy that decides from here on, as it was named (`mask(keep=5)`). While no entry says one, it is `rules`."""
    window: int | None = None
    """Tokens that prompt and answer may have together from here on, where the settings or the server said so, or where it was assumed. While no entry says it, it is what a list says of the model."""
    max_output: int | None = None
    """Tokens that one answer may have, said with `window`."""
    archived: bool | None = None
    """Whether lists leave the session out from here on. A message behind it takes it back: who goes on with a session wants to see it."""


class RepairEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="repair"):
    """What was found damaged, and how it is read from here on. Never a rewrite."""

    kind: str
    """One of the kinds above."""
    detail: dict[str, Any] = {}
    """Where and what."""


class CustomEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="custom"):
    """A record of an extension or of the harness itself (`kind` = "parked": `call_id` waits for a person)."""

    kind: str
    """Whose record it is."""
    call_id: str | None = None
    """The call that it is about."""
    data: dict[str, Any] = {}
    """What its owner keeps in it."""


KnownEntry: TypeAlias = (
    MessageEntry
    | EditEntry
    | RevertEntry
    | LabelEntry
    | LeafEntry
    | ModelChangeEntry
    | ThinkingChangeEntry
    | SessionInfoEntry
    | RepairEntry
    | CustomEntry
)

TIP_TYPES = frozenset(
    {"message", "edit", "revert", "model_change", "thinking_change", "session_info", "repair", "custom"}
)
"""Types whose entries become the leaf when they are appended."""
