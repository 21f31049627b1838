"""Messages, models and numbers in pi's shapes.

    User, Assistant, ToolResult ──▶ message        ModelInfo ──▶ model        Usage ──▶ usage with its cost

Source of the shapes: the types and pages that the npm package `@earendil-works/pi-coding-agent` 1.6 publishes. Pure; what pi has no place for stands in fields
of other names, which its clients pass over.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, TypeAlias, assert_never

from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, Price, cost_usd
from trimtab.types.usage import Usage

Json: TypeAlias = dict[str, Any]
_APIS = {
    "openai-chat": "openai-completions",
    "anthropic": "anthropic-messages",
    "google": "google-generative-ai",
}
_STOPS = {
    "stop": "stop",
    "length": "length",
    "tool_use": "toolUse",
    "refused": "error",
    "error": "error",
    "cancelled": "aborted",
}


def millis(time: str) -> int:
    """RFC 3339 as milliseconds since the epoch; 0 for what is none."""
    try:
        return int(datetime.fromisoformat(time).timestamp() * 1000)
    except (ValueError, OverflowError):
        return 0


def message_of(message: Message, *, time: str = "", model: ModelInfo | None = None) -> Json:
    """A message. `model` is the one in use: its prices are those of answers that are its own."""
    match message:
        case User():
            told: Json = {"role": "user", "content": contents(message.parts), "timestamp": millis(time)}
            return told if message.origin == "prompt" else {**told, "origin": message.origin}
        case Assistant():
            return _answer(message, time, model)
        case ToolResult():
            return {
                "role": "toolResult",
                "toolCallId": message.call_id,
                "toolName": message.tool_name,
                "content": contents(message.parts),
                **({} if message.details is None else {"details": message.details}),
                "isError": message.is_error,
                "timestamp": millis(time),
            }
        case _:
            assert_never(message)


def _answer(message: Assistant, time: str, model: ModelInfo | None) -> Json:
    own = model if model is not None and (model.provider, model.id) == (message.provider, message.model) else None
    error = message.error.message if message.error else "the model refused" if message.stop_reason == "refused" else ""
    return {
        "role": "assistant",
        "content": contents(message.parts),
        "api": api_of(own) if own else "",
        "provider": message.provider,
        "model": message.model,
        "usage": usage_of(message.usage or Usage(), own.prices if own else ()),
        "stopReason": _STOPS[message.stop_reason],
        **({"errorMessage": error} if error else {}),
        "timestamp": millis(time),
    }


def begun(*, model: ModelInfo, time: str) -> Json:
    """An answer of which nothing has come yet."""
    return {
        "role": "assistant",
        "content": [],
        "api": api_of(model),
        "provider": model.provider,
        "model": model.id,
        "usage": usage_of(Usage(), ()),
        "stopReason": "pending",
        "timestamp": millis(time),
    }


def failed(error: str, *, model: ModelInfo, time: str, aborted: bool = False) -> Json:
    """The answer that stands for none: a turn that ended before the model could say anything."""
    ended = {"stopReason": "aborted"} if aborted else {"stopReason": "error", "errorMessage": error}
    return {**begun(model=model, time=time), **ended}


def contents(parts: Iterable[Part]) -> list[Json]:
    """The parts of a message; a provider's own items have no place here."""
    return [content for part in parts if (content := _content(part)) is not None]


def _content(part: Part) -> Json | None:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Image():
            return {"type": "image", "data": part.data, "mimeType": part.media_type}
        case Thinking():
            hidden = {"redacted": True} if part.redacted else {}
            return {"type": "thinking", "thinking": part.text, **hidden}
        case ToolCall():
            return call_of(part)
        case Opaque():
            return None
        case _:
            assert_never(part)


def call_of(call: ToolCall) -> Json:
    """A call of a tool; one whose arguments are no JSON object has none, and its text beside them."""
    shown: Json = {"type": "toolCall", "id": call.id, "name": call.name, "arguments": call.arguments or {}}
    return shown if call.arguments is not None else {**shown, "rawArguments": call.raw}


def usage_of(usage: Usage, prices: tuple[Price, ...]) -> Json:
    """Tokens, and what they cost at `prices`; 0 where none is known."""
    parts = {
        "input": Usage(input=usage.input),
        "output": Usage(output=usage.output),
        "cacheRead": Usage(cache_read=usage.cache_read),
        "cacheWrite": Usage(cache_write=usage.cache_write, cache_write_1h=usage.cache_write_1h),
    }
    tiers = [p for p in prices if usage.prompt >= p.above]
    tier = (max(tiers, key=lambda p: p.above),) if tiers else ()
    at = tuple(Price(p.input, p.output, p.cache_read, p.cache_write, p.cache_write_1h) for p in tier)
    costs = {name: cost_usd(part, at) or 0.0 for name, part in parts.items()}
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        **({"reasoning": usage.reasoning} if usage.reasoning else {}),
        "totalTokens": usage.total,
        "cost": {**costs, "total": sum(costs.values())},
    }


def model_of(model: ModelInfo) -> Json:
    """A model. Prices are those of short prompts, in USD per million tokens; 0 where none is known."""
    price = min(model.prices, key=lambda p: p.above, default=Price(0.0, 0.0))
    return {
        "id": model.id,
        "name": model.name or model.id,
        "api": api_of(model),
        "provider": model.provider,
        "baseUrl": "",
        "reasoning": bool(model.thinking),
        "input": list(model.input),
        "contextWindow": model.context_window,
        "maxTokens": model.max_output,
        "cost": {
            "input": price.input,
            "output": price.output,
            "cacheRead": price.read,
            "cacheWrite": price.write,
        },
    }


def api_of(model: ModelInfo) -> str:
    """pi's name of an API, where it has one."""
    return _APIS.get(model.api, model.api)


def thinking_of(level: str | None, model: ModelInfo) -> str:
    """The level in use, in a word."""
    return level or ("default" if model.thinking else "off")


def words_of(parts: Sequence[Part]) -> str:
    """The text of what a person said."""
    return "".join(part.text for part in parts if isinstance(part, Text))
