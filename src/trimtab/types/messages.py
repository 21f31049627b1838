"""Messages: provider-neutral, immutable, tagged values.

A message is what a model said or was told. Its wire form (JSON in the session file and in events) is pinned:
`{"role": "user|assistant|tool", "parts": [{"type": "text|image|thinking|tool_call|opaque", …}], …}`.
"""

from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.types.errors import ErrorInfo
from trimtab.types.tools import Cut
from trimtab.types.usage import Usage

StopReason = Literal["stop", "length", "tool_use", "refused", "error", "cancelled"]
Origin = Literal["prompt", "steering", "follow_up", "command", "verify", "summary", "answer"]


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    """Plain text. `wire` holds fields of the provider that made it, which only that provider gets back."""

    text: str
    wire: dict[str, Any] | None = None
    body: str | None = None
    """Address of the whole text (`sha256-…`) when a line of the log holds only its head."""


class Image(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="image"):
    """A picture: `data` is base64 of bytes whose type was sniffed, never guessed from a name."""

    media_type: str
    data: str = ""
    body: str | None = None
    name: str | None = None
    width: int | None = None
    height: int | None = None


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="thinking"):
    """What the model thought. `signature` and `wire` go back, unchanged, only to the provider and model that made them.

    `redacted` marks thinking that the provider sent encrypted: `signature` is then its data and `text` is empty.
    """

    text: str
    signature: str | None = None
    redacted: bool = False
    wire: dict[str, Any] | None = None


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_call"):
    """A request of the model to run a tool.

    `raw` is the argument text exactly as it streamed (re-encoding it would break caches); `arguments` is
    that text parsed, or None when it isn't a JSON object.
    """

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str
    wire: dict[str, Any] | None = None
    body: str | None = None


class Opaque(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="opaque"):
    """A provider's own item, kept verbatim and sent back only to that provider."""

    provider: str
    data: dict[str, Any]


UserPart: TypeAlias = Text | Image
AssistantPart: TypeAlias = Text | Thinking | ToolCall | Opaque | Image
Part: TypeAlias = Text | Image | Thinking | ToolCall | Opaque


class User(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role", tag="user"):
    """What a person (or something speaking for them) said."""

    parts: tuple[Part, ...]
    origin: Origin = "prompt"


class Assistant(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role", tag="assistant"):
    """One answer of a model, with its parts in the order they streamed."""

    parts: tuple[Part, ...]
    stop_reason: StopReason
    usage: Usage | None = None
    model: str = ""
    provider: str = ""
    error: ErrorInfo | None = None
    superseded: bool = False
    """A cut answer that was asked for again: kept in the log, never shown to a model."""

    @property
    def text(self) -> str:
        """All text parts joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls, in order."""
        return tuple(p for p in self.parts if isinstance(p, ToolCall))


class ToolResult(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role", tag="tool"):
    """The answer to one call. `details` are for people's eyes and programs, never for the model."""

    call_id: str
    tool_name: str
    parts: tuple[Part, ...]
    is_error: bool
    details: dict[str, Any] | None = None
    cut: Cut | None = None
    handle: str | None = None

    @property
    def text(self) -> str:
        """All text parts joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))


Message: TypeAlias = User | Assistant | ToolResult


def user(text: str, *, origin: Origin = "prompt") -> User:
    """Return a user message with one text part."""
    return User((Text(text),), origin=origin)
