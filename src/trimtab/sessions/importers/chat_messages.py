"""Messages of the Chat Completions API, which many dumps share: `role`, `content`, `tool_calls`, `tool_call_id`.

Shape: https://platform.openai.com/docs/api-reference/chat. System messages in front are the system prompt; later ones are injected.
"""

from typing import Any

from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import count_of, list_of, mapping_of, moment_of, parts_of, text_of, usage_of
from trimtab.types.messages import StopReason, Text, Thinking
from trimtab.types.usage import Usage

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
"""Who speaks in a chat."""

_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refused",
}


def is_message(value: Any) -> bool:
    """Say whether this is a chat message."""
    data = mapping_of(value)
    return text_of(data.get("role")) in ROLES and ("content" in data or "tool_calls" in data)


def split_system(messages: list[Any]) -> tuple[str, list[dict[str, Any]]]:
    """Return the system prompt in front and the messages behind it."""
    found = [mapping_of(message) for message in messages]
    count = next((n for n, m in enumerate(found) if m.get("role") not in ("system", "developer")), len(found))
    prompts = [part.text for m in found[:count] for part in parts_of(m.get("content")) if isinstance(part, Text)]
    return "\n\n".join(prompts), found[count:]


def take_message(gathering: Gathering, message: dict[str, Any], answer: Answer) -> None:
    """Hand on one message. `answer` holds what is known of an answer beside the message itself."""
    time = moment_of(message.get("timestamp")) or answer.time
    match message.get("role"):
        case "assistant":
            fill(answer, message, gathering)
            gathering.answered(answer)
        case "tool" | "function":
            recorded = text_of(message.get("tool_call_id"))
            name = text_of(message.get("name")) or text_of(message.get("tool_name"))
            gathering.result(recorded, parts_of(message.get("content")), name=name, time=time)
        case "user":
            gathering.came(parts_of(message.get("content")), time=time)
        case "system" | "developer":
            gathering.came(parts_of(message.get("content")), time=time, injected=True)
        case role:
            gathering.leave_out(f"{role} messages" if isinstance(role, str) else "messages without a role")


def fill(answer: Answer, message: dict[str, Any], gathering: Gathering) -> None:
    """Add thoughts, text and calls of an assistant message to `answer`."""
    thought = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    if thought:
        answer.parts.append(Thinking(thought))
    answer.parts.extend(parts_of(message.get("content")))
    for call in map(mapping_of, list_of(message.get("tool_calls"))):
        function = mapping_of(call.get("function")) or call
        name, arguments = text_of(function.get("name")), function.get("arguments")
        answer.parts.append(gathering.call(text_of(call.get("id")), name, arguments))
    if old := mapping_of(message.get("function_call")):
        answer.parts.append(gathering.call("", text_of(old.get("name")), old.get("arguments")))


def completion(response: dict[str, Any]) -> tuple[Answer, dict[str, Any]]:
    """Return what a response says about its answer, and the message in it (empty when there is none)."""
    choice = mapping_of(next(iter(list_of(response.get("choices"))), None))
    answer = Answer(
        model=text_of(response.get("model")),
        id=text_of(response.get("id")),
        stop=_STOPS.get(text_of(choice.get("finish_reason"))),
        usage=chat_usage(response.get("usage")),
        time=moment_of(response.get("created")),
    )
    message = mapping_of(choice.get("message"))
    answer.hidden = answer.usage is not None and answer.usage.reasoning > 0 and not message.get("reasoning_content")
    return answer, message


def chat_usage(usage: Any) -> Usage | None:
    """The API counts cached tokens inside the prompt, and so do gateways that add Anthropic's names for them."""
    usage = mapping_of(usage)
    prompt = count_of(usage.get("prompt_tokens"))
    cached = count_of(mapping_of(usage.get("prompt_tokens_details")).get("cached_tokens"))
    read = min(prompt, cached or count_of(usage.get("cache_read_input_tokens")))
    written = min(prompt - read, count_of(usage.get("cache_creation_input_tokens")))
    return usage_of(
        prompt - read - written,
        usage.get("completion_tokens"),
        cache_read=read,
        cache_write=written,
        reasoning=mapping_of(usage.get("completion_tokens_details")).get("reasoning_tokens"),
    )
