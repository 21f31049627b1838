"""What each API refuses, checked on the JSON that would be sent. The rules are written from the APIs' pages, and use nothing of ours.

`sent_body(model, messages)` is what our wire sends; `broken(api, body)` returns what is wrong with it, in words; [] when the server would take it.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.google import GoogleWire
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.openai_responses import OpenAIResponses
from trimtab.providers.wire import Endpoint, Wire
from trimtab.types.messages import Message
from trimtab.types.models import ModelInfo, ModelRequest

_WIRES: dict[str, Callable[[], Wire]] = {
    "openai-chat": OpenAIChat,
    "openai-responses": OpenAIResponses,
    "anthropic": AnthropicWire,
    "google": GoogleWire,
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ITEM_WITH_FOLLOWER = "reasoning"


def sent_body(model: ModelInfo, messages: tuple[Message, ...]) -> dict[str, Any]:
    """Return the JSON that the wire of `model` sends for these messages."""
    endpoint = Endpoint(model.provider, model.api, "http://localhost/v1")
    body: dict[str, Any] = json.loads(_WIRES[model.api]().request(endpoint, ModelRequest(model, messages)).body)
    return body


def broken(api: str, body: dict[str, Any]) -> list[str]:
    """Return every rule of `api` that `body` breaks."""
    return list(_CHECKS[api](body))


def anthropic(body: dict[str, Any]) -> Iterator[str]:
    """Turns alternate from the user on; all results of a batch open the next user turn, in call order."""
    turns = body["messages"]
    if not turns:
        yield "no messages"
        return
    if turns[0]["role"] != "user":
        yield "the first message is not the user's"
    for n, turn in enumerate(turns):
        if not turn["content"]:
            yield f"message {n} is empty"
        if n and turns[n - 1]["role"] == turn["role"]:
            yield f"message {n} has the role of the one before"
        if any(block["type"] == "text" and not block["text"].strip() for block in turn["content"]):
            yield f"message {n} has a blank text"
    yield from _anthropic_pairs(turns)
    images = [b for t in turns for c in t["content"] for b in (c, *_inside(c)) if b["type"] == "image"]
    if len(images) > 100:
        yield "more than 100 images"
    if any(i["source"]["media_type"] not in ("image/png", "image/jpeg", "image/gif", "image/webp") for i in images):
        yield "an image of a kind that it doesn't take"


def _anthropic_pairs(turns: list[dict[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    wanted: list[str] = []
    for n, turn in enumerate(turns):
        results = [b["tool_use_id"] for b in turn["content"] if b["type"] == "tool_result"]
        if results != wanted:
            yield f"message {n} answers {results}, wanted {wanted}"
        if any(block["type"] != "tool_result" for block in turn["content"][: len(results)]):
            yield f"message {n} has something before its results"
        wanted = [b["id"] for b in turn["content"] if b["type"] == "tool_use"]
        for call_id in wanted:
            if call_id in seen or not _ID.fullmatch(call_id):
                yield f"id {call_id!r} is repeated or illegal"
            seen.add(call_id)
    if wanted:
        yield f"calls {wanted} have no results"


def _inside(block: dict[str, Any]) -> list[dict[str, Any]]:
    content = block.get("content")
    return content if block["type"] == "tool_result" and isinstance(content, list) else []


def openai_chat(body: dict[str, Any]) -> Iterator[str]:
    """Tool messages stand right behind the calls that they answer, one for each."""
    wanted: list[str] = []
    seen: set[str] = set()
    if not [m for m in body["messages"] if m["role"] != "system"]:
        yield "no messages"
    for n, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            if not wanted or message["tool_call_id"] != wanted.pop(0):
                yield f"message {n} answers no call right before it"
            if not message["content"]:
                yield f"message {n} is an empty result"
            continue
        if wanted:
            yield f"message {n} stands between calls and the results of {wanted}"
        wanted = [call["id"] for call in message.get("tool_calls", ())]
        for call in message.get("tool_calls", ()):
            if call["id"] in seen or not _ID.fullmatch(call["id"]) or len(call["id"]) > 40:
                yield f"id {call['id']!r} is repeated or illegal"
            seen.add(call["id"])
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield f"arguments of {call['id']!r} are no object"
        if not message.get("content") and not message.get("tool_calls") and not message.get("reasoning_content"):
            yield f"message {n} is empty"
    if wanted:
        yield f"calls {wanted} have no results"


def openai_responses(body: dict[str, Any]) -> Iterator[str]:
    """Every output has its call and every call its output; a reasoning item leads to something of the same answer."""
    items = body["input"]
    if not items:
        yield "no items"
    if body.get("store") is not False or "previous_response_id" in body:
        yield "it relies on the server's memory"
    called: list[str] = []
    answered: list[str] = []
    for n, item in enumerate(items):
        kind = item["type"]
        if kind == "function_call":
            if item["call_id"] in called or not _ID.fullmatch(item["call_id"]):
                yield f"id {item['call_id']!r} is repeated or illegal"
            called.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] not in called or item["call_id"] in answered:
                yield f"item {n} answers no call"
            answered.append(item["call_id"])
        elif kind == _ITEM_WITH_FOLLOWER:
            behind = items[n + 1] if n + 1 < len(items) else {"type": "end"}
            if behind["type"] in ("end", "function_call_output") or behind.get("role") == "user":
                yield f"item {n} is reasoning without what follows it"
        elif kind == "message" and not item["content"]:
            yield f"item {n} is empty"
    if called != answered:
        yield f"calls {called}, answers {answered}"


def google(body: dict[str, Any]) -> Iterator[str]:
    """Responses equal the calls right before them in number, order and name; the history begins with the user's words."""
    contents = body["contents"]
    if not contents:
        yield "no contents"
        return
    if contents[0]["role"] != "user" or any("functionResponse" in p for p in contents[0]["parts"]):
        yield "it begins with the model or with a response"
    wanted: list[tuple[str, str | None]] = []
    for n, content in enumerate(contents):
        if not content["parts"]:
            yield f"content {n} is empty"
        if n and content["role"] == "model" == contents[n - 1]["role"]:
            yield f"content {n} is the model's, like the one before"
        responses = [p["functionResponse"] for p in content["parts"] if "functionResponse" in p]
        if [(r["name"], r.get("id")) for r in responses] != wanted:
            yield f"content {n} answers {responses}, wanted {wanted}"
        if responses and len(responses) != len(content["parts"]):
            yield f"content {n} mixes responses with something else"
        calls = [p["functionCall"] for p in content["parts"] if "functionCall" in p]
        wanted = [(c["name"], c.get("id")) for c in calls]
        if any(p.get("inlineData", {}).get("mimeType") == "image/gif" for p in content["parts"]):
            yield f"content {n} has a picture of a kind that it doesn't take"
    if wanted:
        yield f"calls {wanted} have no responses"


_CHECKS: dict[str, Callable[[dict[str, Any]], Iterator[str]]] = {
    "anthropic": anthropic,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
    "google": google,
}
