"""Conversations as a request shows them, for every family of APIs: valid by construction, with all that a maker signs.

    prompt · answer(thinking, text, calls) · results in call order · … · answer · prompt · …

`conversations(maker)` draws whole ones, as they stand when a request is due: the last message is a prompt or a result. Thinking is signed the way
the maker's wire records it, ids are unique, pictures are sound. `foreign=True` mixes in answers of other makers, with ids of other forms.
"""

import base64
import json
from typing import Any

from hypothesis import strategies as st

from support.pictures import gif, jpeg, png, webp
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import Api, ModelInfo

WORDS = st.sampled_from(["ok", "a longer line\nand another", "Größe 🌍", "<tag> & {brace}", "12 of 340"])
MAKERS: dict[Api, ModelInfo] = {
    "anthropic": ModelInfo("anthropic", "claude-x", "anthropic", input=("text", "image"), thinking=("low", "high")),
    "openai-chat": ModelInfo(
        "deepseek", "chat-x", "openai-chat", input=("text", "image"), compat={"reasoning_content": True}
    ),
    "openai-responses": ModelInfo("openai", "gpt-x", "openai-responses", input=("text", "image"), thinking=("low",)),
    "google": ModelInfo("google", "gemini-x", "google", input=("text", "image"), thinking=("low",)),
}
"""One model for each family that has a wire of ours."""


def picture(
    data: bytes, media_type: str = "image/png", *, width: int | None = None, height: int | None = None
) -> Image:
    """An image part that holds these bytes."""
    return Image(media_type, base64.b64encode(data).decode(), width=width, height=height)


_PICTURES = st.sampled_from([picture(png()), picture(jpeg(), "image/jpeg"), picture(webp(), "image/webp")])
_ODD_PICTURES = st.sampled_from([picture(gif(), "image/gif"), Image("image/png", body="sha256-0", name="far.png")])


def signed_thoughts(draw: st.DrawFn, api: Api, tag: str) -> list[Part]:
    """What a maker records of its thinking before it speaks or acts: none, or some, signed its way."""
    if not draw(st.booleans()):
        return []
    text = draw(WORDS)
    match api:
        case "anthropic":
            hidden = [Thinking("", signature=f"hidden-{tag}", redacted=True)] if draw(st.booleans()) else []
            return [Thinking(text, signature=f"sig-{tag}"), *hidden]
        case "openai-responses":
            item = {"type": "reasoning", "id": f"rs_{tag}", "summary": [], "encrypted_content": f"enc-{tag}"}
            return [Thinking(text, wire={"item": item})]
        case "google":
            return [Thinking(text, wire={"thoughtSignature": f"sig-{tag}"} if draw(st.booleans()) else None)]
        case _:
            return [Thinking(text)]


def own_items(draw: st.DrawFn, api: Api, provider: str, tag: str) -> list[Part]:
    """An item that only its provider understands, now and then."""
    if api != "openai-responses" or draw(st.integers(0, 4)):
        return []
    return [Opaque(provider, {"type": "web_search_call", "id": f"ws_{tag}", "status": "completed"})]


def _call_wire(draw: st.DrawFn, api: Api, tag: str, *, first: bool) -> dict[str, Any] | None:
    if api == "google":
        return {"id": f"g{tag}", **({"thoughtSignature": f"call-sig-{tag}"} if first else {})}
    if api == "openai-chat" and first and draw(st.booleans()):
        return {"extra_content": {"google": {"thought_signature": f"extra-{tag}"}}}
    return None


def _calls(draw: st.DrawFn, api: Api, tag: str, *, odd_ids: bool) -> list[ToolCall]:
    made: list[ToolCall] = []
    for n in range(draw(st.integers(1, 3))):
        call_id = f"call_{tag}_{n}" + (draw(st.sampled_from(["", "|fc.1", "x" * 70])) if odd_ids else "")
        name = draw(st.sampled_from(["read", "bash", "grep"]))
        arguments = draw(st.sampled_from([{}, {"path": "a.py"}, {"command": "ls -l", "deep": {"x": [1, None]}}, None]))
        raw = '{"broken' if arguments is None else json.dumps(arguments)
        wire = _call_wire(draw, api, f"{tag}_{n}", first=n == 0)
        made.append(ToolCall(call_id, name, arguments, raw, wire=wire))
    return made


def _result(draw: st.DrawFn, call: ToolCall, handle: str, *, images: bool) -> ToolResult:
    parts: list[Part] = [Text(draw(WORDS))] if draw(st.integers(0, 5)) else []
    if images and not draw(st.integers(0, 3)):
        parts.append(draw(_PICTURES))
    return ToolResult(call.id, call.name, tuple(parts), is_error=draw(st.booleans()), handle=handle)


@st.composite
def loops(
    draw: st.DrawFn, maker: ModelInfo, *, number: int, images: bool, foreign: bool, going_on: bool
) -> list[Message]:
    """A prompt and the tool loop that it starts; `going_on`: it ends where the next request is due, else with an answer."""
    asked: list[Part] = [Text(draw(WORDS))]
    if images and not draw(st.integers(0, 3)):
        asked.append(draw(_PICTURES | _ODD_PICTURES) if maker.api != "google" else draw(_PICTURES))
    out: list[Message] = [User(tuple(asked), origin=draw(st.sampled_from(["prompt", "follow_up", "command"])))]
    for step in range(draw(st.integers(0, 3))):
        tag = f"{number}{step}"
        stranger = foreign and draw(st.booleans())
        provider, model = ("elsewhere", "m") if stranger else (maker.provider, maker.id)
        said: list[Part] = [*signed_thoughts(draw, maker.api, tag), *own_items(draw, maker.api, provider, tag)]
        said += [Text(draw(WORDS))] if draw(st.booleans()) else []
        calls = _calls(draw, maker.api, tag, odd_ids=stranger)
        out.append(Assistant((*said, *calls), "tool_use", provider=provider, model=model))
        out += [_result(draw, c, f"r{number}{step}{n}", images=images) for n, c in enumerate(calls)]
        if not draw(st.integers(0, 4)):
            out.append(User((Text(draw(WORDS)),), origin="steering"))
    if not going_on:
        thought = signed_thoughts(draw, maker.api, f"{number}e")
        out.append(Assistant((*thought, Text(draw(WORDS))), "stop", provider=maker.provider, model=maker.id))
    return out


@st.composite
def conversations(
    draw: st.DrawFn, maker: ModelInfo, *, images: bool = True, foreign: bool = False, most_loops: int = 3
) -> tuple[Message, ...]:
    """A conversation at the moment of a request: closed loops, then one that is going on (perhaps only its prompt)."""
    count = draw(st.integers(1, most_loops))
    out: list[Message] = []
    for number in range(count):
        last = number == count - 1
        out += draw(loops(maker, number=number, images=images, foreign=foreign, going_on=last))
    return tuple(out)
