"""Any history makes a legal request, and a longer one only adds at its end."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given

from support.histories import histories
from trimtab.providers.anthropic import AnthropicWire
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Message
from trimtab.types.models import CacheRules, ModelInfo, ModelRequest

ENDPOINT = Endpoint("p", "anthropic", "http://127.0.0.1/v1")
PLAIN = ModelInfo("p", "m", "anthropic", input=("text", "image"))
MODEL = ModelInfo("p", "m", "anthropic", input=("text", "image"), cache=CacheRules("explicit"))


def encode(history: list[list[Message]], model: ModelInfo) -> bytes:
    flat = tuple(m for piece in history for m in piece)
    return AnthropicWire().request(ENDPOINT, ModelRequest(model, flat, system="S")).body


def messages(history: list[list[Message]]) -> list[dict[str, Any]]:
    return json.loads(encode(history, MODEL))["messages"]


def flat_blocks(sent: list[dict[str, Any]]) -> list[str]:
    """Every block with its role, without its mark."""
    blocks = []
    for message in sent:
        for block in message["content"]:
            block.pop("cache_control", None)
            blocks.append(message["role"] + json.dumps(block))
    return blocks


@given(histories(provider="p"))
def test_a_longer_history_only_adds_bytes_at_the_end(history: list[list[Message]]) -> None:
    sent = [encode(history[:n], PLAIN) for n in range(1, len(history) + 1) if messages(history[:n])]
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]}]}"))


@given(histories(provider="p"))
def test_marks_move_and_nothing_else_changes(history: list[list[Message]]) -> None:
    sent = [flat_blocks(messages(history[:n])) for n in range(len(history) + 1)]
    for shorter, longer in pairwise(sent):
        assert longer[: len(shorter)] == shorter


@given(histories(provider="p"))
def test_roles_alternate_results_come_first_and_answer_the_calls_before(history: list[list[Message]]) -> None:
    sent = messages(history)
    assert [m["role"] for m in sent] == ["user", "assistant"] * (len(sent) // 2) + ["user"] * (len(sent) % 2)
    called: list[str] = []
    for message in sent:
        kinds = [b["type"] for b in message["content"]]
        assert kinds
        if message["role"] == "assistant":
            called = [b["id"] for b in message["content"] if b["type"] == "tool_use"]
            assert len(set(called)) == len(called)
        else:
            results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
            assert kinds[: len(results)] == ["tool_result"] * len(results)
            assert results == called
    assert not any(b["text"].isspace() or not b["text"] for m in sent for b in m["content"] if b["type"] == "text")


@given(histories(provider="p"))
def test_the_same_input_gives_the_same_bytes(history: list[list[Message]]) -> None:
    flat = tuple(m for piece in history for m in piece)
    request = ModelRequest(MODEL, flat, system="S")
    assert AnthropicWire().request(ENDPOINT, request) == AnthropicWire().request(ENDPOINT, request)
