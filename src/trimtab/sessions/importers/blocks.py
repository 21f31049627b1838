"""Content blocks of Anthropic's Messages API, which Claude Code and message dumps share.

Shape: https://docs.anthropic.com/en/api/messages
"""

from typing import Any

from trimtab.sessions.importers.gathering import Answer, Gathering, opaque
from trimtab.sessions.importers.values import mapping_of, parts_of, text_of, usage_of
from trimtab.types.messages import Origin, Part, StopReason, Text, Thinking
from trimtab.types.usage import Usage

_STOPS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_use",
    "refusal": "refused",
}


def stop_of(reason: Any) -> StopReason | None:
    """Our word for a stop reason; None where none is told."""
    return _STOPS.get(reason, "stop") if isinstance(reason, str) else None


def anthropic_usage(usage: Any) -> Usage | None:
    """The API reports disjoint counts; `cache_creation` splits the writes by lifetime."""
    usage = mapping_of(usage)
    return usage_of(
        usage.get("input_tokens"),
        usage.get("output_tokens"),
        cache_read=usage.get("cache_read_input_tokens"),
        cache_write=usage.get("cache_creation_input_tokens"),
        cache_write_1h=mapping_of(usage.get("cache_creation")).get("ephemeral_1h_input_tokens"),
    )


def add_blocks(answer: Answer, content: Any, gathering: Gathering) -> None:
    """Add the content of an assistant message to `answer`."""
    if not isinstance(content, list):
        answer.parts.extend(parts_of(content))
        return
    for piece in content:
        block = mapping_of(piece)
        match block.get("type"):
            case "thinking":
                text, signature = text_of(block.get("thinking")), text_of(block.get("signature"))
                if text or signature:
                    answer.hidden = answer.hidden or not text
                    answer.parts.append(Thinking(text, signature or None))
            case "redacted_thinking":
                answer.hidden = True
                answer.parts.append(Thinking("", text_of(block.get("data")) or None, redacted=True))
            case "tool_use":
                name = text_of(block.get("name"))
                answer.parts.append(gathering.call(text_of(block.get("id")), name, block.get("input")))
            case str(kind) if kind != "text":
                answer.parts.append(opaque("anthropic", block))
            case _:
                answer.parts.extend(parts_of([piece]))


def take_user_blocks(
    gathering: Gathering,
    content: Any,
    *,
    time: float | None = None,
    injected: bool = False,
    origin: Origin = "prompt",
) -> None:
    """Hand on the content of a user message: each result as itself, runs of anything else as one message."""
    said: list[Part] = []
    for piece in content if isinstance(content, list) else [content]:
        block = mapping_of(piece)
        if block.get("type") != "tool_result":
            said.extend(parts_of([piece]))
            continue
        gathering.came(said, time=time, injected=injected, origin=origin)
        said = []
        parts, failed = result_parts(block.get("content")), block.get("is_error") is True
        gathering.result(text_of(block.get("tool_use_id")), parts, is_error=failed, time=time)
    gathering.came(said, time=time, injected=injected, origin=origin)


def result_parts(content: Any) -> list[Part]:
    """Parts of a result; a reference to a tool shows its name."""
    parts: list[Part] = []
    for block in content if isinstance(content, list) else [content]:
        if (data := mapping_of(block)).get("type") == "tool_reference":
            parts.append(Text(f"[tool {text_of(data.get('tool_name'))}]"))
        else:
            parts.extend(parts_of([block]))
    return parts
