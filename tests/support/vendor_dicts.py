"""Conversations as programs keep them, in two formats, and values that are anything but."""

import json
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

Dict = dict[str, Any]

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(lambda t: t.strip() != "")
base64 = st.sampled_from(["AAAA", "iVBORw0KGgo=", "R0lGODlh"])
mark: st.SearchStrategy[Dict] = st.just({"type": "ephemeral"})
objects = st.dictionaries(words, st.none() | st.booleans() | st.integers(-9, 9) | words, max_size=3)


def block(fields: Dict, **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Dict]:
    """A dict with fixed or drawn fields, and some of the optional ones behind them."""
    drawn = {k: v if isinstance(v, st.SearchStrategy) else st.just(v) for k, v in fields.items()}
    return st.fixed_dictionaries(drawn, optional=optional)


chat_text = block({"type": "text", "text": words}, cache_control=mark)
chat_url = st.builds("data:image/png;base64,{}".format, base64) | st.just("https://example.org/cat.png")
chat_image = block(
    {"type": "image_url", "image_url": block({"url": chat_url}, detail=st.sampled_from(["low", "high"]))},
    cache_control=mark,
)
chat_file = block({"type": "file", "file": block({"file_id": words})})
chat_user = block(
    {"role": "user", "content": words | st.lists(chat_text | chat_image | chat_file, min_size=1, max_size=3)},
    name=words,
)
chat_system = block(
    {"role": st.sampled_from(["system", "developer"]), "content": words | st.lists(chat_text, min_size=1, max_size=2)}
)


@st.composite
def chat_step(draw: st.DrawFn, n: int) -> list[Dict]:
    """An answer, and the results of its calls."""
    calls = draw(st.lists(st.tuples(words, objects, st.sampled_from(["function", "custom"])), max_size=3))
    answer: Dict = {"role": "assistant"}
    content = words | st.lists(chat_text | block({"type": "refusal", "refusal": words}), min_size=1, max_size=2)
    answer["content"] = draw(content | st.sampled_from([None, ""])) if calls else draw(content)
    answer |= draw(block({}, reasoning_content=words, name=words, refusal=words, annotations=st.just([])))
    out = [answer]
    if calls:
        answer["tool_calls"] = [_chat_call(f"call_{n}_{i}", *call) for i, call in enumerate(calls)]
    for i in range(len(calls)):
        told: Any = draw(st.one_of(st.just(""), words, st.lists(chat_text, min_size=1, max_size=2)))
        out.append({"role": "tool", "tool_call_id": f"call_{n}_{i}", "content": told})
    return out


def _chat_call(call_id: str, name: str, arguments: Dict, kind: str) -> Dict:
    if kind == "custom":
        return {"id": call_id, "type": "custom", "custom": {"name": name, "input": json.dumps(arguments)}}
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


@st.composite
def chat_conversation(draw: st.DrawFn) -> list[Dict]:
    """A legal conversation for Chat Completions."""
    out = draw(st.lists(chat_system, max_size=2))
    for n in range(draw(st.integers(1, 4))):
        out += draw(st.lists(chat_user | chat_system, min_size=1, max_size=2))
        out += draw(chat_step(n))
    return out


text = block({"type": "text", "text": words}, cache_control=mark)
image = block(
    {"type": "image", "source": block({"type": "base64", "media_type": "image/png", "data": base64})},
    cache_control=mark,
) | block({"type": "image", "source": block({"type": "url", "url": "https://example.org/cat.png"})})
document = block({"type": "document", "source": block({"type": "text", "media_type": "text/plain", "data": "hello"})})
thought = block({"type": "thinking", "thinking": words, "signature": words}) | block(
    {"type": "redacted_thinking", "data": words}
)


@st.composite
def anthropic_conversation(draw: st.DrawFn) -> list[Dict]:
    """A legal conversation for Messages: alternating turns, each call answered in the next one, results first."""
    out: list[Dict] = [{"role": "user", "content": draw(words | st.lists(text | image | document, min_size=1))}]
    for n in range(draw(st.integers(1, 4))):
        names = draw(st.lists(words, max_size=3))
        calls = [
            draw(
                block({"type": "tool_use", "id": f"toolu_{n}_{i}", "name": name, "input": objects}, cache_control=mark)
            )
            for i, name in enumerate(names)
        ]
        said = draw(st.lists(thought, max_size=2)) + draw(st.lists(text, min_size=not calls, max_size=2))
        plain = len(said) == 1 and said[0].keys() == {"type", "text"} and draw(st.booleans())
        out.append({"role": "assistant", "content": said[0]["text"] if plain and not calls else said + calls})
        results = [draw(_result(call["id"])) for call in calls]
        more = draw(st.lists(text | image, min_size=not calls, max_size=2))
        out.append({"role": "user", "content": results + more})
    return out


def _result(call_id: str) -> st.SearchStrategy[Dict]:
    content = words | st.lists(text | image, max_size=2)
    return block(
        {"type": "tool_result", "tool_use_id": call_id},
        content=content,
        is_error=st.booleans(),
        cache_control=mark,
    )


_KEYS = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "image_url",
        "url",
        "source",
        "data",
        "media_type",
        "tool_calls",
        "id",
        "function",
        "name",
        "arguments",
        "custom",
        "input",
        "tool_call_id",
        "tool_use_id",
        "thinking",
        "signature",
        "refusal",
        "reasoning_content",
        "audio",
        "function_call",
        "usage",
        "is_error",
        "format",
        "field",
        "stop_reason",
        "model",
        "cache_control",
    ]
)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=2),
    st.sampled_from(
        [
            "system",
            "developer",
            "user",
            "assistant",
            "tool",
            "function",
            "text",
            "image",
            "image_url",
            "refusal",
            "tool_use",
            "tool_result",
            "thinking",
            "redacted_thinking",
            "base64",
            "image/png",
            "data:image/png;base64,AAAA",
            "custom",
            "message",
            "audio",
            '{"a":1}',
            "�",
        ]
    ),
)
anything = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=2), inner, max_size=5),
    max_leaves=12,
)
"""JSON-like and other values in the words of the formats."""


@st.composite
def damaged(draw: st.DrawFn, conversations: st.SearchStrategy[list[Dict]]) -> list[Any]:
    """A legal conversation in which some values were swapped, removed, added or replaced by anything."""
    dicts: list[Any] = deepcopy(draw(conversations))
    for _ in range(draw(st.integers(1, 4))):
        holder, key = draw(st.sampled_from(_places(dicts)))
        match draw(st.sampled_from(["replace", "remove", "add", "swap"])):
            case "replace":
                holder[key] = draw(anything)
            case "remove":
                del holder[key]
            case "add" if isinstance(holder, dict):
                holder[draw(_KEYS)] = draw(anything)
            case _:
                other, there = draw(st.sampled_from(_places(dicts)))
                holder[key] = deepcopy(other[there])
        if not dicts:
            break
    return dicts


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every key of every dict and list, with its holder."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [place for k in keys for place in ((value, k), *_places(value[k]))]
