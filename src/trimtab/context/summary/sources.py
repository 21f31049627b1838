"""A message as the source of a summary: who said it, under which id, and how its parts read as text.

What a person said and what a tool printed are never mixed: only `by_user` messages speak for the user, everything that a tool or a
program printed is untrusted, whichever role carries it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User

_SPOKEN = frozenset({"prompt", "steering", "follow_up", "command"})


@dataclass(frozen=True, slots=True)
class Source:
    """A message and the id under which it can be found again."""

    id: str
    message: Message

    @property
    def by_user(self) -> bool:
        """Whether a person said it. A late answer of a call and the report of a check come in a user message, but from programs."""
        return isinstance(self.message, User) and self.message.origin in _SPOKEN

    @property
    def untrusted(self) -> bool:
        """Whether it holds what a tool or program printed."""
        return isinstance(self.message, ToolResult) or (
            isinstance(self.message, User) and self.message.origin in ("answer", "verify")
        )

    @property
    def earlier_summary(self) -> bool:
        """Whether it is itself a summary of what came before."""
        return isinstance(self.message, User) and self.message.origin == "summary"

    @property
    def text(self) -> str:
        """What it says, with a note in place of what is no text. Thinking and calls are left out."""
        return "\n".join(note for part in self.message.parts if (note := _read(part)))

    @property
    def letters(self) -> int:
        """Characters of what it says and calls, about: told without reading it."""
        return sum(
            len(part.text) if isinstance(part, Text) else len(part.raw) if isinstance(part, ToolCall) else 40
            for part in self.message.parts
            if not isinstance(part, Thinking)
        )

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in it."""
        return self.message.tool_calls if isinstance(self.message, Assistant) else ()


def sources_of(messages: Sequence[Message], ids: Sequence[str] | None = None) -> tuple[Source, ...]:
    """Return the sources of `messages`, superseded answers left out.

    `ids` names them one by one; without it a result is named by its handle or call, and any other message `m1`, `m2`, … by its place.
    Raises ValueError when the numbers differ.
    """
    names = [_name(message, n) for n, message in enumerate(messages, 1)] if ids is None else ids
    pairs = zip(names, messages, strict=True)
    return tuple(Source(name, m) for name, m in pairs if not (isinstance(m, Assistant) and m.superseded))


def spoken_text(sources: Iterable[Source]) -> str:
    """All that the user said, one message a paragraph."""
    return "\n\n".join(source.text for source in sources if source.by_user)


def _name(message: Message, number: int) -> str:
    return (message.handle or message.call_id) if isinstance(message, ToolResult) else f"m{number}"


def _read(part: Part) -> str:
    if isinstance(part, Text):
        return part.text
    if isinstance(part, Image):
        size = f", {part.width}×{part.height}" if part.width and part.height else ""
        return f"[image: {part.media_type}{size}{', ' + part.name if part.name else ''}]"
    if isinstance(part, Opaque):
        return f"[{part.data.get('type', 'item')} of {part.provider or 'another provider'}, not shown]"
    return ""
