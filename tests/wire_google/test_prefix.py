"""Any history makes a legal request, and a longer one only adds at its end."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import given

from support.histories import histories
from trimtab.providers.google import GoogleWire
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import Message
from trimtab.types.models import ModelInfo, ModelRequest

ENDPOINT = Endpoint("p", "google", "http://127.0.0.1/v1beta")
MODEL = ModelInfo("p", "m", "google", input=("text", "image"), thinking_style="level")


def encode(history: list[list[Message]]) -> bytes:
    flat = tuple(m for piece in history for m in piece)
    return GoogleWire().request(ENDPOINT, ModelRequest(MODEL, flat, system="S")).body


def contents(history: list[list[Message]]) -> list[dict[str, Any]]:
    return json.loads(encode(history))["contents"]


@given(histories(provider="p"))
def test_a_longer_history_only_adds_bytes_at_the_end(history: list[list[Message]]) -> None:
    sent = [encode(history[:n]) for n in range(1, len(history) + 1) if contents(history[:n])]
    for shorter, longer in pairwise(sent):
        assert longer.startswith(shorter.removesuffix(b"]}]}"))


@given(histories(provider="p"))
def test_responses_follow_their_calls_and_equal_them(history: list[list[Message]]) -> None:
    sent = contents(history)
    assert not sent or sent[0]["role"] == "user"
    for before, after in pairwise([*sent, {"role": "user", "parts": []}]):
        assert before["parts"]
        calls = [p["functionCall"] for p in before["parts"] if "functionCall" in p]
        responses = [p["functionResponse"] for p in after["parts"] if "functionResponse" in p]
        assert len(responses) in (0, len(after["parts"]))
        assert [(c["name"], c.get("id")) for c in calls] == [(r["name"], r.get("id")) for r in responses]
        assert all(isinstance(c["args"], dict) for c in calls)


@given(histories(provider="p"))
def test_the_same_input_gives_the_same_bytes(history: list[list[Message]]) -> None:
    request = ModelRequest(MODEL, tuple(m for piece in history for m in piece), system="S")
    assert GoogleWire().request(ENDPOINT, request) == GoogleWire().request(ENDPOINT, request)
