"""Our words to pydantic-ai's and back. Imports the library: load it through `bridge.py` only.

    User, ToolResult    parts of one ModelRequest per batch           PartStartEvent   PartStarted, PartDelta
    Assistant           ModelResponse                                 PartDeltaEvent   PartDelta
    wire                id, provider_name, provider_details           get() at the end PartEnded for every part, Ended
    Opaque              any part of no kind of ours, as its JSON      exception        Ended with an error

Final values come from `get()`, because the library's own part-end events may stand before the last arguments. The one rule: the library's
objects never leave this file.
"""

import base64
import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any, TypeAlias

from msgspec.structs import replace
from pydantic_ai import messages as theirs
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings, ThinkingLevel
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from trimtab.providers.classify import classify
from trimtab.providers.history import adapt, describe_image
from trimtab.providers.lenient import compact, text_of
from trimtab.types.errors import ErrorClass, ErrorInfo
from trimtab.types.messages import (
    Assistant,
    Image,
    Opaque,
    Part,
    StopReason,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
)
from trimtab.types.models import ModelRequest
from trimtab.types.stream import DeltaKind, Ended, PartDelta, PartEnded, PartStarted, StreamEvent, make_call
from trimtab.types.text import scrub
from trimtab.types.usage import Usage

_RequestPart: TypeAlias = theirs.UserPromptPart | theirs.ToolReturnPart
_WIRE = ("id", "provider_name", "provider_details")
_TEXT: DeltaKind = "text"
_THINKING: DeltaKind = "thinking"
_ARGUMENTS: DeltaKind = "tool_arguments"
_LEVELS: dict[str, ThinkingLevel] = {
    "off": False,
    "none": False,
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "xhigh",
    "max": "max",
}
_STOPS: dict[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "refused",
    "tool_call": "tool_use",
}
_KINDS: tuple[tuple[type[Exception], ErrorClass, bool], ...] = (
    (ModelContextWindowExceededError, "overflow", False),
    (ModelQuotaExceededError, "quota", False),
    (ModelAuthenticationError, "auth", False),
    (ModelNotFoundError, "invalid", False),
    (ModelRateLimitError, "rate_limit", True),
    (ModelConnectionError, "network", True),
    (ModelRequestTimeout, "network", True),
    (ModelUnavailableError, "server", True),
    (ModelServerError, "server", True),
    (ContentFilterError, "refused", False),
    (UnexpectedModelBehavior, "malformed", True),
)
"""The library's error types in our words, the narrower first; the flag says that the same request may succeed later."""


async def stream(model: Model, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
    """Ask `model`; yield our events. Never raises, except when it is cancelled."""
    try:
        async with model_request_stream(
            model,
            to_messages(request),
            model_settings=_settings(request),
            model_request_parameters=_parameters(request),
            instrument=False,
        ) as answer:
            async for event in answer:
                for mapped in _live(event):
                    yield mapped
            whole = answer.get()
        for number, part in enumerate(whole.parts):
            yield PartEnded(number, from_part(part, provider=request.model.provider))
        yield _ended(whole)
    except Exception as exc:  # noqa: BLE001 - foreign code: whatever it raises is the end of this stream
        yield Ended("error", error=error_info(exc))


def to_messages(request: ModelRequest) -> list[theirs.ModelMessage]:
    """The history of a request in the library's messages; each batch of ours between two answers is one request of theirs."""
    out: list[theirs.ModelMessage] = []
    batch: list[_RequestPart] = []
    system = request.system or None
    for message in adapt(request.messages, request.model):
        if isinstance(message, Assistant):
            if batch:
                out.append(theirs.ModelRequest(parts=batch, instructions=system))
                batch = []
            parts = [p for part in message.parts for p in _to_parts(part)]
            if parts:
                out.append(theirs.ModelResponse(parts=parts, provider_name=_maker(parts)))
        else:
            batch.append(_to_request_part(message))
    if batch or not out:
        out.append(theirs.ModelRequest(parts=batch, instructions=system))
    return out


def from_part(part: theirs.ModelResponsePart, *, provider: str) -> Part:
    """A part of an answer in our words. What has no word is kept as JSON in an `Opaque` of `provider`."""
    match part:
        case theirs.TextPart():
            return Text(scrub(part.content), wire=_wire(part))
        case theirs.ThinkingPart():
            return Thinking(scrub(part.content), signature=part.signature, wire=_wire(part))
        case theirs.ToolCallPart():
            return make_call(part.tool_call_id, part.tool_name, _raw(part.args), wire=_wire(part))
        case _:
            return Opaque(provider, _to_json(part))


def error_info(exc: Exception) -> ErrorInfo:
    """What an exception of the library means: the words of the server first, then the type of the exception."""
    kind, retryable = next(((k, r) for t, k, r in _KINDS if isinstance(exc, t)), ("invalid", False))
    message = str(exc) or type(exc).__name__
    status = exc.status_code if isinstance(exc, ModelHTTPError) else None
    wait = exc.retry_after if isinstance(exc, ModelAPIError) else None
    if isinstance(exc, ModelAPIError) and exc.body is not None:
        info = classify(status, exc.body if isinstance(exc.body, str) else json.dumps(exc.body, default=str))
        if info.kind != "invalid":
            return info if wait is None else _with_wait(info, wait)
    return ErrorInfo(kind, message, status=status, retry_after_s=wait if retryable else None, retryable=retryable)


def _with_wait(info: ErrorInfo, wait: float) -> ErrorInfo:
    return replace(info, retry_after_s=wait) if info.retryable else info


def _settings(request: ModelRequest) -> ModelSettings:
    settings = ModelSettings()
    if request.max_output is not None:
        settings["max_tokens"] = request.max_output
    if request.thinking is not None:
        settings["thinking"] = _LEVELS.get(request.thinking, True)
    return settings


def _parameters(request: ModelRequest) -> ModelRequestParameters:
    # `strict=False` is said aloud: left open, the library decides by the model's name, and local servers refuse a strict tool.
    tools = [
        ToolDefinition(name=t.name, description=t.description, parameters_json_schema=t.parameters, strict=False)
        for t in request.tools
    ]
    return ModelRequestParameters(function_tools=tools)


def _to_request_part(message: User | ToolResult) -> _RequestPart:
    images = any(isinstance(p, Image) for p in message.parts)
    content = [c for p in message.parts for c in _to_content(p)] if images else "".join(_texts(message.parts))
    if isinstance(message, User):
        return theirs.UserPromptPart(content)
    return theirs.ToolReturnPart(
        message.tool_name, content, message.call_id, outcome="failed" if message.is_error else "success"
    )


def _texts(parts: tuple[Part, ...]) -> Iterator[str]:
    return (p.text for p in parts if isinstance(p, Text))


def _to_content(part: Part) -> Iterator[str | theirs.BinaryContent]:
    if isinstance(part, Text):
        yield part.text
    elif isinstance(part, Image):
        data = _decoded(part)
        yield theirs.BinaryContent(data, media_type=part.media_type) if data else describe_image(part)


def _decoded(image: Image) -> bytes:
    try:
        return base64.b64decode(image.data, validate=True)
    except ValueError:
        return b""


def _to_parts(part: Part) -> Iterator[theirs.ModelResponsePart]:
    """A part of an answer in the library's words. Thinking that came from elsewhere would be shown to the model as text, so it stays out."""
    if isinstance(part, Text):
        yield theirs.TextPart(part.text, **_fields(part.wire))
    elif isinstance(part, ToolCall):
        yield theirs.ToolCallPart(part.name, part.raw or "{}", part.id, **_fields(part.wire))
    elif isinstance(part, Thinking):
        if part.wire is not None:
            yield theirs.ThinkingPart(part.text, signature=part.signature, **_fields(part.wire))
    elif isinstance(part, Image):
        yield theirs.TextPart(describe_image(part))
    else:
        yield from _from_json(part.data)


def _fields(wire: dict[str, Any] | None) -> dict[str, Any]:
    return {name: wire[name] for name in _WIRE if name in wire} if wire else {}


def _wire(part: theirs.TextPart | theirs.ThinkingPart | theirs.ToolCallPart) -> dict[str, Any] | None:
    fields = {name: getattr(part, name) for name in _WIRE}
    said = {name: value for name, value in fields.items() if value is not None}
    # Thinking goes back by its `wire`, so it always has one, be it empty.
    return said if said or isinstance(part, theirs.ThinkingPart) else None


def _maker(parts: list[theirs.ModelResponsePart]) -> str | None:
    """Who answered, as the library calls it: it sends signatures and ids only to the provider named here."""
    return next((n for p in parts if (n := getattr(p, "provider_name", None))), None)


def _to_json(part: theirs.ModelResponsePart) -> dict[str, Any]:
    dumped = theirs.ModelMessagesTypeAdapter.dump_python([theirs.ModelResponse(parts=[part])], mode="json")
    data: dict[str, Any] = dumped[0]["parts"][0]
    return data


def _from_json(data: dict[str, Any]) -> Iterator[theirs.ModelResponsePart]:
    try:
        loaded = theirs.ModelMessagesTypeAdapter.validate_python([{"kind": "response", "parts": [data]}])
    except ValueError:
        return  # an item of another version of the library, or of another maker of that name
    yield from (p for m in loaded if isinstance(m, theirs.ModelResponse) for p in m.parts)


def _live(event: theirs.ModelResponseStreamEvent) -> Iterator[StreamEvent]:
    if isinstance(event, theirs.PartStartEvent):
        yield from _started(event.index, event.part)
    elif isinstance(event, theirs.PartDeltaEvent):
        match event.delta:
            case theirs.TextPartDelta(content_delta=text) if text:
                yield PartDelta(event.index, "text", text)
            case theirs.ThinkingPartDelta(content_delta=text) if text:
                yield PartDelta(event.index, "thinking", text)
            case theirs.ToolCallPartDelta(args_delta=args) if args:
                yield PartDelta(event.index, "tool_arguments", _raw(args))
            case _:
                pass


def _started(number: int, part: theirs.ModelResponsePart) -> Iterator[StreamEvent]:
    match part:
        case theirs.TextPart():
            kind, text, call_id, name = _TEXT, part.content, "", ""
        case theirs.ThinkingPart():
            kind, text, call_id, name = _THINKING, part.content, "", ""
        case theirs.ToolCallPart():
            kind, text, call_id, name = _ARGUMENTS, _raw(part.args), part.tool_call_id, part.tool_name
        case _:
            return
    yield PartStarted(number, kind, call_id, name)
    if text:
        yield PartDelta(number, kind, text)


def _raw(args: object) -> str:
    """Argument text as it streamed; some models of the library give the object only."""
    if isinstance(args, dict):
        return compact(args)
    return text_of(args)


def _ended(whole: theirs.ModelResponse) -> Ended:
    usage = _usage(whole.usage)
    if whole.finish_reason == "error":
        return Ended(
            "error", usage, error=ErrorInfo("server", "the provider ended the answer with an error", retryable=True)
        )
    if whole.state != "complete":
        return Ended("error", usage, error=ErrorInfo("network", "the answer broke off before its end", retryable=True))
    reason = _STOPS.get(whole.finish_reason or "stop", "stop")
    if reason == "stop" and whole.tool_calls:
        reason = "tool_use"
    return Ended(reason, usage)


def _usage(usage: RequestUsage) -> Usage | None:
    """Our counts don't overlap; the library's cached tokens are inside its input tokens."""
    if not usage.has_values():
        return None
    read, written = usage.cache_read_tokens, usage.cache_write_tokens
    return Usage(
        input=max(usage.input_tokens - read - written, 0),
        output=usage.output_tokens,
        cache_read=read,
        cache_write=written,
        cache_write_1h=usage.cache_write_1h_tokens,
        reasoning=usage.output_reasoning_tokens,
    )
