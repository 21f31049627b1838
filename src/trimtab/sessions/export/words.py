"""Parts of messages in words, for a page and for Markdown alike."""

import msgspec

from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User

_HEAD, _TAIL = 24_000, 6_000
"""Characters shown of the beginning and the end of a long text."""


def speaker(message: Message) -> str:
    """Who speaks."""
    match message:
        case User():
            return "You" if message.origin == "prompt" else f"You ({message.origin.replace('_', '-')})"
        case Assistant():
            return "Assistant"
        case ToolResult():
            return message.tool_name or "Tool"


def bounded(text: str) -> str:
    """`text`, or its beginning and end with a line between them that says how much is left out."""
    left = len(text) - _HEAD - _TAIL
    if left <= 0:
        return text
    return f"{text[:_HEAD]}\n… {left:,} characters are left out here; the session has them …\n{text[-_TAIL:]}"


def arguments(call: ToolCall) -> str:
    """The arguments of a call as a person reads them: a lone text as it is, several by name."""
    given = call.arguments
    if given is None:
        return call.raw
    if len(given) == 1 and isinstance(only := next(iter(given.values())), str):
        return only
    return "\n".join(f"{name}: {_value(value)}" for name, value in given.items())


def gist(call: ToolCall) -> str:
    """The first words of a call's arguments, for a line that stands for it."""
    given = call.arguments or {}
    texts = [value for value in given.values() if isinstance(value, str) and value.strip()]
    line = " ".join((texts[0] if texts else call.raw if not given else "").split())
    return line if len(line) <= 120 else f"{line[:119]}…"


def diff_of(result: ToolResult | None) -> str:
    """The diff that a result carries for people."""
    diff = (result.details or {}).get("diff") if result is not None else None
    return diff if isinstance(diff, str) else ""


def in_words(part: Part) -> str:
    """A part that is no prose, as a line."""
    match part:
        case Image():
            return f"[image {part.name or part.media_type}]"
        case Opaque():
            return f"[an item of {part.provider or 'the provider'}]"
        case Text() | Thinking():
            return part.text
        case ToolCall():
            return f"{part.name} {gist(part)}"


def _value(value: object) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return msgspec.json.encode(value).decode()
