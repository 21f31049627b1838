"""Google GenAI (`POST …/v1beta/models/{id}:streamGenerateContent?alt=sse`).

A request: `adapt` the history → fold it into contents of typed parts → encode. After a model content with calls stands one user content
that holds nothing but their responses, as many, with the same names and in the same order; pictures of results and what a person said follow in
a content of their own. The history never begins with the model. What never changes is encoded first and the contents last, so a
longer history only adds bytes near the end. Answers: `google_answer.py`.

Thought signatures and call ids live in `wire` of the part that carried them, and go back on that part. Calls without an id of Google's
(another model made them) are paired by order and name alone.

Thinking by `model.thinking_style` ("" sends nothing):

    budget     `thinkingBudget` = tokens by level, 0 for "off"
    level      `thinkingLevel` = the level, MINIMAL for "off"

Switches in `model.compat`: `signature_sentinel` (the model refuses calls without a thought signature: where the first call of an answer has
none, send the documented sentinel; on by default for the style `level`, whose models all do that), `thinking_budgets` (tokens by level,
"off" too).

Source: ai.google.dev, "generateContent", "Function calling", "Thinking", "Thought signatures".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from trimtab.providers.google_answer import GoogleDecoder
from trimtab.providers.history import adapt, describe_image
from trimtab.providers.lenient import arguments_object
from trimtab.providers.wire import Decoder, Endpoint, WireRequest
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult
from trimtab.types.models import ModelInfo, ModelRequest

SENTINEL = "skip_thought_signature_validator"
_BUDGETS = {"off": 0, "minimal": 512, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 24_576}
_ILLEGAL_IN_NAME = re.compile(r"[^A-Za-z0-9_.:-]")
_ANY_ID = re.compile(r"(?s).+")
_OPENING = "(The conversation began before this point.)"
_NO_OUTPUT = "(no output)"
_PICTURE_FOLLOWS = "(The picture follows.)"


class _Blob(msgspec.Struct, frozen=True, rename="camel"):
    mime_type: str
    data: str


class _FunctionCall(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    args: msgspec.Raw
    id: str | None = None


class _FunctionResponse(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    response: dict[str, str]
    id: str | None = None


class _WirePart(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    text: str | None = None
    thought: bool = False
    inline_data: _Blob | None = None
    function_call: _FunctionCall | None = None
    function_response: _FunctionResponse | None = None
    thought_signature: str | None = None


_Block: TypeAlias = _WirePart | dict[str, Any]


class _Content(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    role: Literal["user", "model"] | None = None
    parts: list[_Block]


class _Declaration(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    description: str
    parameters_json_schema: dict[str, Any]


class _Declarations(msgspec.Struct, frozen=True, rename="camel"):
    function_declarations: list[_Declaration]


class _Generation(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel"):
    max_output_tokens: int | None = None
    thinking_config: dict[str, Any] | None = None


class _Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True, rename="camel"):
    system_instruction: _Content | None = None
    tools: list[_Declarations] | None = None
    generation_config: _Generation | None = None
    contents: list[_Content]


class GoogleWire:
    """The GenAI API as a pure pair of halves. Stateless."""

    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        """Shape a request; the same input gives the same bytes."""
        model = request.model
        generation = _Generation(request.max_output, _thinking(request))
        tools = [_Declaration(legal_name(t.name), t.description, t.parameters) for t in request.tools]
        body = _Body(
            system_instruction=_Content(parts=[_WirePart(request.system)]) if request.system.strip() else None,
            tools=[_Declarations(tools)] if tools else None,
            generation_config=None if generation == _Generation() else generation,
            contents=_contents(adapt(request.messages, model, legal_id=_ANY_ID), model),
        )
        path = f"/models/{quote(model.id.removeprefix('models/'), safe='/:@')}:streamGenerateContent?alt=sse"
        headers = {"x-goog-api-key": endpoint.api_key} if endpoint.api_key else {}
        return WireRequest(path, headers, msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        """A decoder for the answer to `request`."""
        return GoogleDecoder(request.model.provider)


def legal_name(name: str) -> str:
    """Return a tool name as the API accepts it; a model of another wire may have invented an illegal one."""
    legal = _ILLEGAL_IN_NAME.sub("_", name)[:64]
    return legal if legal[:1].isalpha() or legal[:1] == "_" else f"_{legal[:63]}"


@dataclass(slots=True)
class _Round:
    """What follows one answer: the responses to its calls, and everything else."""

    responses: dict[str, _WirePart] = field(default_factory=dict)
    rest: list[_Block] = field(default_factory=list)

    def contents(self, calls: dict[str, ToolCall]) -> list[_Content]:
        """At most two contents; responses in the order of `calls`."""
        order = {call_id: n for n, call_id in enumerate(calls)}
        responses: list[_Block] = [
            self.responses[i] for i in sorted(self.responses, key=lambda i: order.get(i, len(order)))
        ]
        return [_Content(role="user", parts=parts) for parts in (responses, self.rest) if parts]


def _contents(messages: Iterable[Message], model: ModelInfo) -> list[_Content]:
    """Fold messages into contents that begin with the user; blank ones leave no trace."""
    contents: list[_Content] = []
    calls: dict[str, ToolCall] = {}
    following = _Round()
    for message in messages:
        if not isinstance(message, Assistant):
            _follow(following, message, calls)
            continue
        parts = _answer_parts(message, model)
        if not parts:
            continue
        contents += following.contents(calls)
        if contents and contents[-1].role == "model":
            contents[-1] = _Content(role="model", parts=[*contents[-1].parts, *parts])
            calls |= {call.id: call for call in message.tool_calls}
        else:
            contents.append(_Content(role="model", parts=parts))
            calls = {call.id: call for call in message.tool_calls}
        following = _Round()
    contents += following.contents(calls)
    if contents and contents[0].role == "model":
        contents.insert(0, _Content(role="user", parts=[_WirePart(_OPENING)]))
    return contents


def _follow(following: _Round, message: Message, calls: dict[str, ToolCall]) -> None:
    """Add a user message or a tool result."""
    pictures = [_picture(p) for p in message.parts if isinstance(p, Image)]
    if isinstance(message, ToolResult):
        text = message.text if message.text.strip() else _PICTURE_FOLLOWS if pictures else _NO_OUTPUT
        call = calls.get(message.call_id)
        response = _FunctionResponse(
            legal_name(call.name if call else message.tool_name),
            {"error" if message.is_error else "output": text},
            _wire(call).get("id") if call else None,
        )
        following.responses[message.call_id] = _WirePart(function_response=response)
        following.rest += pictures
        return
    for part in message.parts:
        if isinstance(part, Text):
            following.rest.append(_WirePart(part.text))
        elif isinstance(part, Image):
            following.rest.append(_picture(part))


def _picture(image: Image) -> _WirePart:
    return (
        _WirePart(inline_data=_Blob(image.media_type, image.data)) if image.data else _WirePart(describe_image(image))
    )


def _answer_parts(message: Assistant, model: ModelInfo) -> list[_Block]:
    """The parts of one answer; its first call carries a signature where the model insists on one."""
    parts = [p for part in message.parts if (p := _answer_part(part)) is not None]
    if model.compat.get("signature_sentinel", model.thinking_style == "level"):
        for n, part in enumerate(parts):
            if isinstance(part, _WirePart) and part.function_call is not None:
                parts[n] = replace(part, thought_signature=part.thought_signature or SENTINEL)
                break
    return parts


def _answer_part(part: Part) -> _Block | None:
    """One part, or None for what need not go back. The history is adapted, so `wire` is the model's own."""
    if isinstance(part, ToolCall):
        call = _FunctionCall(legal_name(part.name), arguments_object(part), _wire(part).get("id"))
        return _WirePart(function_call=call, thought_signature=_wire(part).get("thoughtSignature"))
    if isinstance(part, Text):
        return _WirePart(part.text, thought_signature=_wire(part).get("thoughtSignature"))
    if isinstance(part, Thinking):
        signature = _wire(part).get("thoughtSignature")
        return _WirePart(part.text, thought=True, thought_signature=signature) if signature else None
    if isinstance(part, Image):
        return _WirePart(describe_image(part))
    return part.data


def _wire(part: Text | Thinking | ToolCall) -> dict[str, Any]:
    return part.wire or {}


def _thinking(request: ModelRequest) -> dict[str, Any] | None:
    level, style = request.thinking, request.model.thinking_style
    if level is None or not style:
        return None
    if style == "level":
        return {"thinkingLevel": "MINIMAL" if level == "off" else level.upper(), "includeThoughts": level != "off"}
    budgets = {**_BUDGETS, **request.model.compat.get("thinking_budgets", {})}
    return {"thinkingBudget": budgets.get(level, _BUDGETS["medium"]), "includeThoughts": level != "off"}
