"""Anthropic-shaped messages as JSON: a list of messages, or a request `{system, messages, tools}`, with its response where there is one."""

from typing import Any

from trimtab.sessions.importers.blocks import add_blocks, anthropic_usage, stop_of, take_user_blocks
from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import list_of, mapping_of, parts_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Text

NAME = "anthropic"

_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking"})


def fits(value: Any) -> bool:
    """Say whether this is a conversation, or a message of one, in blocks that only this API has."""
    if isinstance(value, list):
        return any(_has_blocks(message) for message in value)
    data = mapping_of(value)
    messages = list_of(data.get("messages"))
    if any(_has_blocks(message) for message in messages):
        return True
    plain = bool(messages) and all(mapping_of(m).get("role") in ("user", "assistant") for m in messages)
    return _has_blocks(value) or (plain and isinstance(data.get("system"), str | list))


def read(source: Source) -> list[Recording]:
    """Return the conversation in a file."""
    values = source.values()
    items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    requests = [request for item in items if (request := mapping_of(item)) and "messages" in request]
    return [_read(source, request) for request in requests] or [_read(source, {"messages": items})]


def _has_blocks(message: Any) -> bool:
    data = mapping_of(message)
    blocks = list_of(data.get("content"))
    return data.get("role") in ("user", "assistant") and any(
        text_of(mapping_of(b).get("type")) in _BLOCKS for b in blocks
    )


def _read(source: Source, request: dict[str, Any]) -> Recording:
    gathering = Gathering()
    model = text_of(request.get("model"))
    messages = [mapping_of(message) for message in list_of(request.get("messages"))]
    response = mapping_of(request.get("response"))
    for message in [*messages, *([{**response, "role": "assistant"}] if response else [])]:
        match message.get("role"):
            case "assistant":
                _answer(gathering, message, model)
            case "user":
                take_user_blocks(gathering, message.get("content"))
            case _:
                gathering.leave_out("messages of another role")
    system = "\n\n".join(part.text for part in parts_of(request.get("system")) if isinstance(part, Text))
    return gathering.recording(source, NAME, system=system, id=text_of(request.get("id")), model=model)


def _answer(gathering: Gathering, message: dict[str, Any], model: str) -> None:
    answer = Answer(
        model=text_of(message.get("model")) or model,
        provider="anthropic",
        id=text_of(message.get("id")),
        stop=stop_of(message.get("stop_reason")),
        usage=anthropic_usage(message.get("usage")),
    )
    add_blocks(answer, message.get("content"), gathering)
    gathering.answered(answer)
