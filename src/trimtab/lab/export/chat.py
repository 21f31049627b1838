"""From messages of ours to rows: plain Chat Completions, with nothing in them that only one provider reads.

One message becomes one message, so the parts of a piece keep their places. Thoughts are kept for whoever trains a model that thinks; pictures are said in words.
"""

import json
from collections.abc import Iterable, Sequence
from typing import assert_never

from trimtab.context.vendor.images import in_words
from trimtab.lab.export.row import ChatCall, ChatFunction, ChatMessage, ChatTool, ToolFunction
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.tools import ToolSpec


def chat_messages(messages: Iterable[Message], system: str = "") -> tuple[ChatMessage, ...]:
    """Return messages as a request has them, the system prompt in front where there is one."""
    head = (ChatMessage("system", system),) if system else ()
    return (*head, *map(chat_message, messages))


def chat_message(message: Message) -> ChatMessage:
    """Return one message."""
    text = _text(message.parts)
    match message:
        case User():
            return ChatMessage("user", text)
        case ToolResult():
            return ChatMessage("tool", text, tool_call_id=message.call_id, name=message.tool_name)
        case Assistant():
            thought = "\n".join(part.text for part in message.parts if isinstance(part, Thinking) and part.text)
            return ChatMessage("assistant", text, thought, tuple(map(_call, message.tool_calls)))
        case _:
            assert_never(message)


def chat_tools(specs: Sequence[ToolSpec]) -> tuple[ChatTool, ...]:
    """Return tools as a request has them."""
    return tuple(ChatTool(ToolFunction(spec.name, spec.description, spec.parameters)) for spec in specs)


def _text(parts: Sequence[Part]) -> str:
    shown = (p.text if isinstance(p, Text) else in_words(p) if isinstance(p, Image) else "" for p in parts)
    return "\n".join(text for text in shown if text)


def _call(call: ToolCall) -> ChatCall:
    """A call with arguments that are a JSON object, whatever the model made of them: a template must be able to read them."""
    raw = (
        call.raw
        if call.arguments is not None and call.raw.strip()
        else json.dumps(call.arguments or {"raw": call.raw} if call.raw.strip() else {})
    )
    return ChatCall(call.id, ChatFunction(call.name, raw))
