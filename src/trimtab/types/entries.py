"""Session entries: every record of the log.

A session is a tree: each entry names its parent. The first line of a file is the `Header`; it has no parent and
is not an entry. `TIP` types move the leaf when they are appended; `label` and `leaf` don't, and neither does a type that this
version doesn't know, so a newer program's records are kept without steering an older one.
"""

from typing import Any, TypeAlias

import msgspec

from trimtab.types.messages import Message

FORMAT = 1


class Header(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="session"):
    """Line 1 of a session file. `created` is RFC 3339, UTC."""

    id: str
    cwd: str
    created: str
    format: int
    parent_session: str | None = None
    version: str = ""


class Envelope(msgspec.Struct, frozen=True):
    """What every entry has, whatever its type; decoding step one."""

    type: str
    id: str = ""
    parent: str | None = None
    time: str = ""


class _Entry(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", kw_only=True):
    id: str
    parent: str | None
    time: str


class MessageEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="message"):
    """A message."""

    message: Message


class LabelEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="label"):
    """A name that a person gave to `target`; an empty one takes it away."""

    target: str
    label: str = ""


class LeafEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="leaf"):
    """The leaf moves to `target` (None: before the first entry)."""

    target: str | None


class ModelChangeEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="model_change"):
    """From here on, requests go to `provider`/`model`."""

    provider: str
    model: str


class ThinkingChangeEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="thinking_change"):
    """From here on, the model thinks at `level`."""

    level: str | None


class SessionInfoEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="session_info"):
    """Facts about the session: a title, a new working folder. Later ones win, field by field."""

    title: str | None = None
    cwd: str | None = None


class RepairEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="repair"):
    """What was found damaged, and how it is read from here on. Never a rewrite."""

    kind: str
    detail: dict[str, Any] = {}


class CustomEntry(_Entry, frozen=True, omit_defaults=True, kw_only=True, tag="custom"):
    """A record of an extension or of the harness itself (`kind` = "parked": `call_id` waits for a person)."""

    kind: str
    call_id: str | None = None
    data: dict[str, Any] = {}


KnownEntry: TypeAlias = (
    MessageEntry
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
