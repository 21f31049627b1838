"""OpenAI Responses, used without its memory: every request carries the whole window.

The engine decides what a model sees, so nothing may live on the server: `store` is false, encrypted reasoning is asked for and sent
back, a previous response id is never used. The system prompt goes into `instructions` (it counts as the first bytes of the prompt, and
local servers turn it into their system message); everything else becomes input items, in order:

    User         message: input_text, input_image
    Text         message of the assistant, with its `phase` when the model gave one
    Thinking     the reasoning item, verbatim from `wire["item"]`, while what followed it is there; else nothing
    ToolCall     function_call, arguments as they streamed (what is no JSON object, quoted in one: local servers parse it again)
    ToolResult   function_call_output; its images inside, or in a user message after the batch (`compat.tool_images`)
    Opaque       the item itself

Item ids of messages and calls are not sent: an id binds an item to the reasoning before it, and an edited context may have dropped that.
Switches in `ModelInfo.compat`: `prompt_cache_key` and `tool_images` (bool; default: only for the provider "openai"),
`reasoning_summary` (text, default "auto"; null asks for none), `extra_body` (fields put into the body as they are).

The answer's half is `openai_responses_answer.py`. Source: platform.openai.com/docs/api-reference/responses.
"""

from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.providers.history import adapt, describe_image
from trimtab.providers.lenient import arguments_object, portable_name
from trimtab.providers.openai_responses_answer import ResponsesDecoder
from trimtab.providers.wire import Endpoint, WireRequest
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.tools import ToolSpec


class _InputText(msgspec.Struct, frozen=True, tag_field="type", tag="input_text"):
    text: str


class _InputImage(msgspec.Struct, frozen=True, tag_field="type", tag="input_image"):
    image_url: str
    detail: Literal["auto"] = "auto"


_Content: TypeAlias = _InputText | _InputImage


class _Message(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="message"):
    role: Literal["user", "assistant"]
    content: str | list[_Content]
    phase: str | None = None


class _Call(msgspec.Struct, frozen=True, tag_field="type", tag="function_call"):
    call_id: str
    name: str
    arguments: str


class _Output(msgspec.Struct, frozen=True, tag_field="type", tag="function_call_output"):
    call_id: str
    output: str | list[_Content]


_Item: TypeAlias = _Message | _Call | _Output | dict[str, Any]


class _Tool(msgspec.Struct, frozen=True, tag_field="type", tag="function"):
    name: str
    description: str
    parameters: dict[str, Any]
    strict: bool = False
    """Said aloud: without it the API rewrites the schema into its strict subset."""


class _Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The whole request. `input` stands last, so from step to step the bytes only grow at their end.

    `stream` and `store` have no default, so they are never omitted: the API would take that for their opposite.
    """

    model: str
    stream: Literal[True]
    store: Literal[False]
    instructions: str = ""
    tools: list[_Tool] = []
    reasoning: dict[str, str] = {}
    include: list[str] = []
    max_output_tokens: int | None = None
    prompt_cache_key: str = ""
    input: list[_Item]


_encoder = msgspec.json.Encoder()


class OpenAIResponses:
    """The Responses API as a `Wire`."""

    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        """Shape a request. Pure; the same input gives the same bytes, a longer history only appends to `input`."""
        headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        body: _Body | dict[str, Any] = _body(request)
        extra = request.model.compat.get("extra_body")
        if isinstance(extra, dict):
            fields = msgspec.to_builtins(body)
            items = fields.pop("input")
            body = {**fields, **extra, "input": items}
        return WireRequest("/responses", headers, _encoder.encode(body))

    def decoder(self, request: ModelRequest) -> ResponsesDecoder:
        """A decoder for the answer to `request`."""
        model = request.model
        return ResponsesDecoder(provider=model.provider, max_output=request.max_output, window=model.context_window)


def _body(request: ModelRequest) -> _Body:
    model = request.model
    at_home = model.provider == "openai"
    reasoning = _reasoning(model, request.thinking)
    return _Body(
        model=model.id,
        stream=True,
        store=False,
        instructions=request.system,
        tools=[_tool(t) for t in request.tools],
        reasoning=reasoning,
        include=["reasoning.encrypted_content"] if model.thinking or reasoning else [],
        max_output_tokens=request.max_output,
        prompt_cache_key=request.session_id if _switch(model, "prompt_cache_key", at_home) else "",
        input=list(_items(adapt(request.messages, model), tool_images=_switch(model, "tool_images", at_home))),
    )


def _switch(model: ModelInfo, name: str, default: bool) -> bool:  # noqa: FBT001 - a table lookup
    return bool(model.compat.get(name, default))


def _reasoning(model: ModelInfo, level: str | None) -> dict[str, str]:
    """What is asked of the model's thinking; {} when nothing says that it thinks. Where no levels are listed, the person knows best."""
    if not model.thinking and level is None:
        return {}
    summary = model.compat.get("reasoning_summary", "auto")
    reasoning: dict[str, str] = {}
    if level is not None and (not model.thinking or level in model.thinking):
        reasoning["effort"] = "none" if level == "off" else level
    if isinstance(summary, str) and level != "off":
        reasoning["summary"] = summary
    return reasoning


def _tool(spec: ToolSpec) -> _Tool:
    return _Tool(portable_name(spec.name), spec.description, spec.parameters)


def _items(messages: tuple[Message, ...], *, tool_images: bool) -> Iterator[_Item]:
    """All input items. Images that an output can't hold wait until its batch is over, so that outputs stay together."""
    waiting: list[_Content] = []
    for message in messages:
        if isinstance(message, ToolResult):
            yield _output(message, waiting, tool_images=tool_images)
            continue
        if waiting:
            yield _Message("user", waiting)
            waiting = []
        if isinstance(message, User):
            yield _Message("user", [c for p in message.parts for c in _content(p)])
        else:
            yield from _answer(message)
    if waiting:
        yield _Message("user", waiting)


def _output(result: ToolResult, waiting: list[_Content], *, tool_images: bool) -> _Output:
    images = [p for p in result.parts if isinstance(p, Image)]
    if not images:
        return _Output(result.call_id, result.text)
    if tool_images:
        return _Output(result.call_id, [c for p in result.parts for c in _content(p)])
    waiting.append(_InputText(f"Images of {result.tool_name} ({result.call_id}):"))
    waiting.extend(c for p in images for c in _content(p))
    return _Output(result.call_id, result.text or "(images follow)")


def _content(part: Part) -> Iterator[_Content]:
    if isinstance(part, Text):
        yield _InputText(part.text)
    elif isinstance(part, Image):
        yield (
            _InputImage(f"data:{part.media_type};base64,{part.data}") if part.data else _InputText(describe_image(part))
        )


def _answer(message: Assistant) -> list[_Item]:
    """The items of one answer. A reasoning item at the end has lost what it led to, and the API refuses it."""
    items: list[_Item] = []
    kept = 0
    for part in message.parts:
        item = _answer_item(part)
        if item is None:
            continue
        items.append(item)
        if not isinstance(part, Thinking):
            kept = len(items)
    return items[:kept]


def _answer_item(part: Part) -> _Item | None:
    if isinstance(part, Text):
        phase = (part.wire or {}).get("phase")
        return _Message("assistant", part.text, phase=phase if isinstance(phase, str) else None)
    if isinstance(part, ToolCall):
        return _Call(part.id, portable_name(part.name), bytes(arguments_object(part)).decode())
    if isinstance(part, Opaque):
        return part.data
    if isinstance(part, Image):
        return _Message("assistant", describe_image(part))
    return _reasoning_item(part)


def _reasoning_item(part: Thinking) -> dict[str, Any] | None:
    """The item to send back, or None when the server could make nothing of it: it stores none, so a bare id names nothing."""
    item = (part.wire or {}).get("item")
    if not isinstance(item, dict) or not (item.get("encrypted_content") or item.get("content")):
        return None
    return item
