"""Messages: provider-neutral, immutable, tagged values.

A message is what a model said or was told. Its wire form (JSON in the session file and in events) is pinned:
`{"role": "user|assistant|tool", "parts": [{"type": "text|image|thinking|tool_call|opaque", …}], …}`.
"""

import re
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.types.errors import ErrorInfo
from trimtab.types.tools import Cut
from trimtab.types.usage import Usage

StopReason = Literal["stop", "length", "tool_use", "refused", "error", "cancelled"]
Origin = Literal["prompt", "steering", "follow_up", "command", "verify", "summary", "answer", "note"]


class Text(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    """Plain text. `wire` holds fields of the provider that made it, which only that provider gets back."""

    text: str
    """The text, or its head when there is a `body`."""
    wire: dict[str, Any] | None = None
    """Fields of its provider."""
    body: str | None = None
    """Address of the whole text (`sha256-…`) when a line of the log holds only its head."""


class Image(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="image"):
    """A picture: `data` is base64 of bytes whose type was sniffed, never guessed from a name."""

    media_type: str
    """Such as `image/png`."""
    data: str = ""
    """Base64; empty when there is a `body`."""
    body: str | None = None
    """Address of the bytes."""
    name: str | None = None
    """A name for people."""
    width: int | None = None
    """In pixels."""
    height: int | None = None
    """In pixels."""
    wire: dict[str, Any] | None = None
    """Fields of the format that it came in."""


class Thinking(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="thinking"):
    """What the model thought. `signature` and `wire` go back, unchanged, only to the provider and model that made them.

    `redacted` marks thinking that the provider sent encrypted: `signature` is then its data and `text` is empty.
    """

    text: str
    """What the provider shows of it."""
    signature: str | None = None
    """The provider's proof of it."""
    redacted: bool = False
    """Whether it came encrypted."""
    wire: dict[str, Any] | None = None
    """Fields of its provider."""


class ToolCall(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_call"):
    """A request of the model to run a tool.

    `raw` is the argument text exactly as it streamed (re-encoding it would break caches); `arguments` is
    that text parsed, or None when it isn't a JSON object.
    """

    id: str
    """Unique in the session."""
    name: str
    """The tool."""
    arguments: dict[str, Any] | None
    """Parsed; null when `raw` is no JSON object."""
    raw: str
    """As it streamed, or its head when there is a `body`."""
    wire: dict[str, Any] | None = None
    """Fields of its provider."""
    body: str | None = None
    """Address of `[raw, arguments]`."""


class Opaque(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="opaque"):
    """A provider's own item, kept verbatim and sent back only to that provider."""

    provider: str
    """Its owner."""
    data: dict[str, Any]
    """The item."""


UserPart: TypeAlias = Text | Image
AssistantPart: TypeAlias = Text | Thinking | ToolCall | Opaque | Image
Part: TypeAlias = Text | Image | Thinking | ToolCall | Opaque


ATTACHED = re.compile(r'<(?:file|folder) path="([^"\n]+)">\n')
"""How a part of a prompt begins that is an attached file or folder."""


class User(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role", tag="user"):
    """What a person (or something speaking for them) said."""

    parts: tuple[Part, ...]
    """Text and images."""
    origin: Origin = "prompt"
    """How it came in."""
    wire: dict[str, Any] | None = None
    """Fields of the format that it came in."""
    typed: str = ""
    """What the person typed, where more was made of it: a command that brings a template or a skill in. No model reads it."""

    @property
    def text(self) -> str:
        """All text parts joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))

    @property
    def said(self) -> tuple[str, ...]:
        """What a person is reminded of it by: what they typed, else its texts without the files that came along; where nothing else came, the files' names."""
        if self.typed:
            return (self.typed,)
        texts = tuple(p.text for p in self.parts if isinstance(p, Text))
        words = tuple(text for text in texts if text.strip() and not ATTACHED.match(text))
        return words or tuple(f"@{head[1]}" if (head := ATTACHED.match(text)) else text for text in texts)


class Assistant(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="role", tag="assistant"):
    """One answer of a model, with its parts in the order they streamed."""

    parts: tuple[Part, ...]
    """In the order in which they began."""
    stop_reason: StopReason
    """Why the model stopped."""
    usage: Usage | None = None
    """Tokens; null when none were reported."""
    model: str = ""
    """The model that answered."""
    provider: str = ""
    """Its provider."""
    error: ErrorInfo | None = None
    """What went wrong, if anything."""
    superseded: bool = False
    """A cut answer that was asked for again: kept in the log, never shown to a model."""
    wire: dict[str, Any] | None = None
    """Fields of the format that it came in."""

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
    """The call that it answers."""
    tool_name: str
    """The tool."""
    parts: tuple[Part, ...]
    """What the model reads."""
    is_error: bool
    """Whether the model reads it as a failure."""
    details: dict[str, Any] | None = None
    """For people and programs."""
    cut: Cut | None = None
    """What was left out, if anything."""
    handle: str | None = None
    """A short name for the result."""
    wire: dict[str, Any] | None = None
    """Fields of the format that it came in."""

    @property
    def text(self) -> str:
        """All text parts joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))


Message: TypeAlias = User | Assistant | ToolResult


def user(text: str, *, origin: Origin = "prompt") -> User:
    """Return a user message with one text part."""
    return User((Text(text),), origin=origin)
