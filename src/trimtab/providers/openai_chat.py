"""Chat Completions: OpenAI, and every server that speaks like it.

Request: messages become bytes here; the answer is `openai_chat_decoder.py`. The rule of this file: the same messages give the same bytes, and
`messages` stands last in the body, so from step to step a request only grows at its end.

What a server wants differently stands in `ModelInfo.compat`:

    max_tokens_field    "max_tokens" | "max_completion_tokens"; default: the latter for provider openai, else the former
    stream_usage        false: don't ask for usage (`stream_options` is refused)
    developer_role      true: the system prompt has role "developer"
    session_field       name of a body field that gets the session id (like "prompt_cache_key", "user"), for cache affinity
    session_header      the same, as a header
    reasoning_content   true: the model's own thinking must come back as `reasoning_content`
    call_id_length      ids of calls have exactly this many letters and digits (Mistral: 9)
    think_tags          false: `<think>` at the start of an answer is text
    extra_body          fields put into the body as they are
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from trimtab.providers.chat_thinking import thinking_fields
from trimtab.providers.history import adapt, describe_image
from trimtab.providers.lenient import portable_name
from trimtab.providers.openai_chat_decoder import ChatDecoder
from trimtab.providers.wire import Endpoint, WireRequest
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest


class _TextPart(msgspec.Struct):
    text: str
    type: Literal["text"] = "text"


class _Url(msgspec.Struct):
    url: str


class _ImagePart(msgspec.Struct):
    image_url: _Url
    type: Literal["image_url"] = "image_url"


_Content: TypeAlias = str | list[_TextPart | _ImagePart]


class _Instructions(msgspec.Struct):
    role: Literal["system", "developer"]
    content: str


class _User(msgspec.Struct):
    role: Literal["user"]
    content: _Content


class _Function(msgspec.Struct):
    name: str
    arguments: str


class _Call(msgspec.Struct):
    id: str
    type: Literal["function"]
    function: _Function
    extra_content: dict[str, Any] | UnsetType = UNSET


class _Assistant(msgspec.Struct):
    role: Literal["assistant"]
    content: str | None
    reasoning_content: str | UnsetType = UNSET
    tool_calls: list[_Call] | UnsetType = UNSET


class _Tool(msgspec.Struct):
    role: Literal["tool"]
    tool_call_id: str
    content: str


_Message: TypeAlias = _Instructions | _User | _Assistant | _Tool


class _FunctionSpec(msgspec.Struct):
    name: str
    description: str
    parameters: dict[str, Any]


class _ToolSpec(msgspec.Struct):
    function: _FunctionSpec
    type: Literal["function"] = "function"


_encoder = msgspec.json.Encoder()
_PORTABLE = re.compile(r"[A-Za-z0-9_-]{1,40}")  # OpenAI refuses longer ones here, not in its Responses API
_PRINTABLE = re.compile(r"[!-~]{1,64}")
_NO_OUTPUT = "(no output)"
_NO_RESULT = "(no result was recorded)"
_SEE_BELOW = "(the image follows in the next message)"


@dataclass(frozen=True, slots=True)
class OpenAIChat:
    """The wire; see `wire.Wire`."""

    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        """Shape a request."""
        compat = request.model.compat
        headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        if request.session_id and isinstance(name := compat.get("session_header"), str):
            headers[name] = request.session_id
        body = _settings(request)
        if request.tools:
            body["tools"] = [
                _ToolSpec(_FunctionSpec(portable_name(t.name), t.description, t.parameters)) for t in request.tools
            ]
        extra = compat.get("extra_body")
        if isinstance(extra, dict):
            body |= extra
        body["messages"] = list(_messages(request))
        return WireRequest("chat/completions", headers, _encoder.encode(body))

    def decoder(self, request: ModelRequest) -> ChatDecoder:
        """A decoder for the answer to `request`."""
        think_tags = request.model.compat.get("think_tags", True) is not False
        return ChatDecoder(think_tags=think_tags)


def _settings(request: ModelRequest) -> dict[str, Any]:
    """Every field of the body but tools and messages."""
    model, compat = request.model, request.model.compat
    body: dict[str, Any] = {"model": model.id, "stream": True}
    if compat.get("stream_usage", True):
        body["stream_options"] = {"include_usage": True}
    if request.max_output is not None:
        default = "max_completion_tokens" if model.provider == "openai" else "max_tokens"
        body[str(compat.get("max_tokens_field") or default)] = request.max_output
    if (
        not model.thinking or request.thinking in model.thinking
    ):  # no listed levels: nobody knows better than the person
        body |= thinking_fields(request.thinking, model.thinking_style)
    if request.session_id and isinstance(name := compat.get("session_field"), str):
        body[name] = request.session_id
    return body


def _messages(request: ModelRequest) -> Iterator[_Message]:
    """Yield wire messages. The results of a step follow its calls, in call order, whatever stands between them."""
    model = request.model
    legal_id, own_id = _legal_ids(model)
    messages = adapt(request.messages, model, legal_id=legal_id, own_id=own_id)
    if request.system:
        yield _Instructions("developer" if model.compat.get("developer_role") else "system", request.system)
    position = 0
    while position < len(messages):
        message = messages[position]
        position += 1
        if isinstance(message, User):
            yield from _user(message.parts)
        elif isinstance(message, Assistant):
            end = _next_answer(messages, position)
            results = {m.call_id: m for m in reversed(messages[position:end]) if isinstance(m, ToolResult)}
            yield from _step(message, results, model)


def _next_answer(messages: Sequence[Message], start: int) -> int:
    return next((i for i in range(start, len(messages)) if isinstance(messages[i], Assistant)), len(messages))


def _step(message: Assistant, results: dict[str, ToolResult], model: ModelInfo) -> Iterator[_Message]:
    """One answer, then the results of its calls, then their images, which a tool message can't carry."""
    text = message.text
    calls = [_call(c) for c in message.tool_calls]
    wants = model.compat.get("reasoning_content")
    thought = "".join(p.text for p in message.parts if isinstance(p, Thinking)) if wants else ""
    if text or calls or thought:
        yield _Assistant("assistant", text or (None if calls else ""), thought or UNSET, calls or UNSET)
    images: list[Part] = []
    for call, sent in zip(message.tool_calls, calls, strict=True):
        result = results.get(call.id)
        if result is None:
            yield _Tool("tool", sent.id, _NO_RESULT)
            continue
        pictures = [p for p in result.parts if isinstance(p, Image)]
        shown = [p for p in pictures if p.data]
        words = [result.text, *(describe_image(p) for p in pictures if not p.data)]
        content = "\n".join(w for w in words if w) or (_SEE_BELOW if shown else _NO_OUTPUT)
        yield _Tool("tool", sent.id, content)
        if shown:
            images += [Text(f"Image of the result of {call.name} ({sent.id}):"), *shown]
    if images:
        yield from _user(images)


def _call(call: ToolCall) -> _Call:
    if call.arguments is None:
        # Servers that parse the history refuse broken JSON for good; the model reads what it wrote in the error result.
        arguments = _encoder.encode({"invalid_arguments": call.raw}).decode()
    else:
        arguments = call.raw if call.raw.strip() else "{}"
    extra = (call.wire or {}).get("extra_content")
    return _Call(call.id, "function", _Function(portable_name(call.name), arguments), UNSET if extra is None else extra)


def _legal_ids(model: ModelInfo) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """The ids that this server takes, and those of its own making; some servers expect a form of their own back."""
    length = model.compat.get("call_id_length")
    if isinstance(length, int):
        return re.compile(rf"[A-Za-z0-9]{{{length}}}"), None
    return _PORTABLE, _PRINTABLE


def _user(parts: Iterable[Part]) -> Iterator[_Message]:
    content: list[_TextPart | _ImagePart] = []
    for part in parts:
        if isinstance(part, Text):
            content.append(_TextPart(part.text))
        elif isinstance(part, Image):
            content.append(_image(part) if part.data else _TextPart(describe_image(part)))
    texts = [p.text for p in content if isinstance(p, _TextPart)]
    if len(texts) == len(content):  # many servers take only a string
        if content:
            yield _User("user", "\n".join(texts))
    else:
        yield _User("user", content)


def _image(image: Image) -> _ImagePart:
    return _ImagePart(_Url(f"data:{image.media_type};base64,{image.data}"))
