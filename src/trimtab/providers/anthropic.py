"""Anthropic Messages (`POST …/v1/messages`, streamed), by Anthropic and by servers that speak it (llama.cpp, gateways).

A request: `adapt` the history → fold it into alternating turns of typed blocks → mark cache breakpoints → encode. In a user turn all
tool results stand before any text. What never changes is encoded first and the messages last, so a longer history only adds bytes
near the end. Answers: `anthropic_answer.py`.

Thinking by `model.thinking_style` ("" sends nothing):

    budget     {"type": "enabled", "budget_tokens": N}: N by level, always below `max_tokens`; left out where it doesn't fit, and
               inside a tool loop that began without signed thinking (another model began it), where the API refuses it
    adaptive   {"type": "adaptive"} and `output_config.effort` = level
    effort     `output_config.effort` alone

The level "off" disables. Switches in `model.compat`: `bearer` (the key goes into `Authorization`), `betas` (list for `anthropic-beta`),
`user_id` (send the session id as `metadata.user_id`), `unsigned_thinking` (send thinking that has no signature: servers that think in
the open), `thinking_display`, `thinking_budgets` (tokens by level).

Source: docs.claude.com, "Messages", "Prompt caching", "Extended thinking".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from trimtab.providers.anthropic_answer import AnthropicDecoder
from trimtab.providers.history import adapt_numbered, describe_image
from trimtab.providers.lenient import arguments_object
from trimtab.providers.wire import Decoder, Endpoint, WireRequest
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest

VERSION = "2023-06-01"
"""What is sent here is legal in 2026-10-21 too; the older version is the one that every gateway and local server knows. The
endpoint's own `headers` win over it."""
_MAX_MARKS = 4
_MIN_BUDGET = 1_024
_BUDGETS = {"minimal": 1_024, "low": 4_096, "medium": 10_240, "high": 20_480, "xhigh": 32_768, "max": 49_152}
_EFFORTS = {"minimal": "low"}
_ILLEGAL_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")
_OPENING = "(The conversation began before this point.)"
_NO_OUTPUT = "(no output)"


class _Mark(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="ephemeral"):
    ttl: str | None = None


class _TextBlock(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="text"):
    text: str
    citations: list[Any] | None = None
    cache_control: _Mark | None = None


class _Source(msgspec.Struct, frozen=True, tag_field="type", tag="base64"):
    media_type: str
    data: str


class _ImageBlock(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="image"):
    source: _Source
    cache_control: _Mark | None = None


class _ResultBlock(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_result"):
    tool_use_id: str
    content: list["_TextBlock | _ImageBlock"]
    is_error: bool = False
    cache_control: _Mark | None = None


class _ThinkingBlock(msgspec.Struct, frozen=True, tag_field="type", tag="thinking"):
    thinking: str
    signature: str


class _RedactedBlock(msgspec.Struct, frozen=True, tag_field="type", tag="redacted_thinking"):
    data: str


class _ToolUseBlock(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="tool_use"):
    id: str
    name: str
    input: msgspec.Raw
    caller: Any = None


_UserBlock: TypeAlias = _TextBlock | _ImageBlock | _ResultBlock
_Block: TypeAlias = _UserBlock | _ThinkingBlock | _RedactedBlock | _ToolUseBlock | dict[str, Any]


class _WireMessage(msgspec.Struct, frozen=True):
    role: Literal["user", "assistant"]
    content: list[_Block]


class _WireTool(msgspec.Struct, frozen=True, omit_defaults=True):
    name: str
    description: str
    input_schema: dict[str, Any]
    cache_control: _Mark | None = None


class _Body(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    model: str
    max_tokens: int
    stream: bool | None = None
    thinking: dict[str, Any] | None = None
    output_config: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    tools: list[_WireTool] | None = None
    system: list[_TextBlock] | None = None
    messages: list[_WireMessage]


@dataclass(slots=True)
class _Turn:
    """One message of the request while it grows. Results are kept apart because they must come first."""

    role: Literal["user", "assistant"]
    results: list[_Block] = field(default_factory=list)
    blocks: list[_Block] = field(default_factory=list)

    @property
    def content(self) -> list[_Block]:
        return self.results + self.blocks


_Place: TypeAlias = tuple[list[_Block], int]
"""A block of a turn that grows: its list, and its index there."""


class AnthropicWire:
    """The Messages API as a pure pair of halves. Stateless."""

    def request(self, endpoint: Endpoint, request: ModelRequest) -> WireRequest:
        """Shape a request; the same input gives the same bytes."""
        model = request.model
        turns, wanted = _turns(adapt_numbered(request.messages, model), model, request.cache_marks)
        max_tokens = request.max_output or model.max_output
        thinking, output = _thinking(request, max_tokens, turns)
        tools = [_WireTool(legal_name(t.name), t.description, t.parameters) for t in request.tools]
        system = [_TextBlock(request.system)] if request.system.strip() else []
        if model.cache.kind == "explicit":
            _place_marks(tools, system, turns, model.cache, wanted=wanted)
        body = _Body(
            model=model.id,
            max_tokens=max_tokens,
            stream=True,
            thinking=thinking,
            output_config=output,
            metadata={"user_id": request.session_id} if request.session_id and model.compat.get("user_id") else None,
            tools=tools or None,
            system=system or None,
            messages=[_WireMessage(t.role, t.content) for t in turns],
        )
        return WireRequest("/messages", _headers(endpoint, model), msgspec.json.encode(body))

    def decoder(self, request: ModelRequest) -> Decoder:
        """A decoder for the answer to `request`."""
        return AnthropicDecoder(request.model.provider)


def legal_name(name: str) -> str:
    """Return a tool name as the API accepts it; a model of another wire may have invented an illegal one."""
    return _ILLEGAL_IN_NAME.sub("_", name)[:128] or "_"


def _headers(endpoint: Endpoint, model: ModelInfo) -> dict[str, str]:
    headers = {"anthropic-version": VERSION}
    if endpoint.api_key:
        if model.compat.get("bearer"):
            headers["authorization"] = f"Bearer {endpoint.api_key}"
        else:
            headers["x-api-key"] = endpoint.api_key
    if betas := model.compat.get("betas"):
        headers["anthropic-beta"] = ",".join(betas)
    return headers


def _turns(
    messages: Iterable[tuple[int, Message]], model: ModelInfo, marks: Iterable[int] = ()
) -> tuple[list[_Turn], list[_Place]]:
    """Fold numbered messages into alternating turns that begin with the user; blank ones leave no trace.

    Also returns, for each of `marks`, the last block that a user or a tool sent up to that message: an answer may end in a block that can't
    carry a breakpoint.
    """
    turns: list[_Turn] = []
    wanted = {m for m in marks if m >= 0}
    places: list[_Place] = []
    last: _Place | None = None
    for number, message in messages:
        if reached := {m for m in wanted if m < number}:
            wanted -= reached
            places += [last] if last else []
            last = None  # a second mark in the same place would be a breakpoint lost
        turn = _turn(message, model)
        if not turn.content:
            continue
        if not turns and turn.role == "assistant":
            turns.append(_Turn("user", blocks=[_TextBlock(_OPENING)]))
        if turns and turns[-1].role == turn.role:
            turns[-1].results += turn.results
            turns[-1].blocks += turn.blocks
        else:
            turns.append(turn)
        if turn.role == "user":
            blocks = turns[-1].blocks if isinstance(message, User) else turns[-1].results
            last = blocks, len(blocks) - 1
    return turns, [*places, last] if last and wanted else places


def _turn(message: Message, model: ModelInfo) -> _Turn:
    if isinstance(message, Assistant):
        blocks = [b for part in message.parts if (b := _answer_block(part, model)) is not None]
        return _Turn("assistant", blocks=_without_trailing_blanks(blocks))
    seen = [b for part in message.parts if (b := _user_block(part)) is not None]
    if isinstance(message, ToolResult):
        content = seen or [_TextBlock(_NO_OUTPUT)]
        return _Turn("user", results=[_ResultBlock(message.call_id, content, is_error=message.is_error)])
    return _Turn("user", blocks=[*seen])


def _user_block(part: Part) -> _TextBlock | _ImageBlock | None:
    if isinstance(part, Text) and part.text.strip():
        return _TextBlock(part.text)
    if isinstance(part, Image):
        return _ImageBlock(_Source(part.media_type, part.data)) if part.data else _TextBlock(describe_image(part))
    return None


def _answer_block(part: Part, model: ModelInfo) -> _Block | None:
    """One block of an answer, or None for what the API wouldn't take. The history is adapted, so signatures are the model's own."""
    if isinstance(part, ToolCall):
        return _ToolUseBlock(part.id, legal_name(part.name), arguments_object(part), (part.wire or {}).get("caller"))
    if isinstance(part, Thinking):
        if part.redacted:
            return _RedactedBlock(part.signature) if part.signature else None
        if part.signature or (part.text and model.compat.get("unsigned_thinking")):
            return _ThinkingBlock(part.text, part.signature or "")
        return None
    if isinstance(part, Text):
        return _TextBlock(part.text, (part.wire or {}).get("citations")) if part.text.strip() else None
    if isinstance(part, Image):
        return _TextBlock(describe_image(part))
    return part.data


def _without_trailing_blanks(blocks: list[_Block]) -> list[_Block]:
    """The API refuses a last answer that ends in whitespace. Done to every answer, so that no bytes change when it stops being the last."""
    if blocks and isinstance(blocks[-1], _TextBlock):
        blocks[-1] = replace(blocks[-1], text=blocks[-1].text.rstrip())
    return blocks


def _place_marks(
    tools: list[_WireTool],
    system: list[_TextBlock],
    turns: list[_Turn],
    cache: CacheRules,
    *,
    wanted: list[_Place],
) -> None:
    """Put breakpoints where a later request will look for them, as far as the cache has any.

    One at the end of what no step changes (the API's order is tools, system, messages, so it covers both). The others where the request
    wants them; without a wish one at the end of the newest user turn (the next request reads it) and one at the end of the user turn before
    (this request reads it).
    """
    mark = _Mark("1h" if cache.ttl_s >= 3_600 else None)
    left = min(cache.breakpoints or _MAX_MARKS, _MAX_MARKS)
    if system:
        system[-1] = replace(system[-1], cache_control=mark)
        left -= 1
    elif tools:
        tools[-1] = replace(tools[-1], cache_control=mark)
        left -= 1
    user_turns = [t.blocks or t.results for t in reversed(turns) if t.role == "user"]
    newest_first = wanted[::-1] or [(blocks, len(blocks) - 1) for blocks in user_turns[:2]]
    for blocks, index in newest_first[: max(left, 0)]:
        block = blocks[index]
        if isinstance(block, _UserBlock):
            blocks[index] = replace(block, cache_control=mark)


def _thinking(
    request: ModelRequest, max_tokens: int, turns: list[_Turn]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the values of `thinking` and `output_config`."""
    level, style, compat = request.thinking, request.model.thinking_style, request.model.compat
    if level is None or not style:
        return None, None
    if level == "off":
        return (None if style == "effort" else {"type": "disabled"}), None
    shown = {"display": compat["thinking_display"]} if compat.get("thinking_display") else {}
    effort = {"effort": _EFFORTS.get(level, level)}
    if style == "effort":
        return None, effort
    if style == "adaptive":
        return {"type": "adaptive", **shown}, effort
    budgets = {**_BUDGETS, **compat.get("thinking_budgets", {})}
    # Half of the output stays for the answer where the cap is small; the API wants a budget below `max_tokens`.
    budget = min(budgets.get(level, _BUDGETS["medium"]), max(max_tokens // 2, min(_MIN_BUDGET, max_tokens - 1)))
    if budget < _MIN_BUDGET or not _loop_began_with_thinking(turns):
        return None, None
    return {"type": "enabled", "budget_tokens": budget, **shown}, None


def _loop_began_with_thinking(turns: list[_Turn]) -> bool:
    """False inside a tool loop whose first answer has no thinking in front: the API would refuse to think there."""
    prompt = max((i for i, t in enumerate(turns) if t.role == "user" and not t.results), default=-1)
    answers = [t for t in turns[prompt + 1 :] if t.role == "assistant"]
    return not answers or isinstance(answers[0].content[0], _ThinkingBlock | _RedactedBlock)
