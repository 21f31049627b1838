"""How a thinking level is spelt for each kind of Chat Completions server."""

import json
from typing import Any

import pytest

from trimtab.providers.catalogue import Catalogue
from trimtab.providers.chat_thinking import thinking_fields
from trimtab.providers.openai_chat import OpenAIChat
from trimtab.providers.wire import Endpoint
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo, ModelRequest


def sent(level: str | None, **fields: Any) -> dict[str, Any]:
    model = ModelInfo("p", "m", "openai-chat", **fields)
    request = ModelRequest(model, (user("hi"),), thinking=level)
    body = OpenAIChat().request(Endpoint("p", "openai-chat", "http://127.0.0.1/v1"), request).body
    plain = {"model", "stream", "stream_options", "messages"}
    return {k: v for k, v in json.loads(body).items() if k not in plain}


def test_a_request_spells_the_level_of_its_model_and_leaves_out_one_that_the_model_lacks() -> None:
    assert sent("off", thinking=("off", "high"), thinking_style="toggle") == {"thinking": {"type": "disabled"}}
    assert sent("low", thinking=("off", "high"), thinking_style="toggle") == {}
    assert sent(None, thinking=("off", "high"), thinking_style="toggle") == {}


def test_a_model_whose_levels_nobody_lists_gets_what_was_asked() -> None:
    assert sent("high") == {"reasoning_effort": "high"}
    assert sent(None) == {}


@pytest.mark.parametrize(
    ("style", "off", "high"),
    [
        ("", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("effort", {"reasoning_effort": "none"}, {"reasoning_effort": "high"}),
        ("toggle", {"thinking": {"type": "disabled"}}, {"thinking": {"type": "enabled"}}),
        (
            "toggle_effort",
            {"thinking": {"type": "disabled"}},
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
        ),
        ("enable_thinking", {"enable_thinking": False}, {"enable_thinking": True}),
        ("reasoning", {"reasoning": {"effort": "none"}}, {"reasoning": {"effort": "high"}}),
    ],
)
def test_a_level_is_spelt_as_the_server_wants_it(style: str, off: dict[str, Any], high: dict[str, Any]) -> None:
    assert thinking_fields("off", style) == off
    assert thinking_fields("high", style) == high
    assert thinking_fields(None, style) == {}


def test_every_chat_model_of_the_catalogue_uses_a_known_spelling() -> None:
    known = {"", "effort", "toggle", "toggle_effort", "enable_thinking", "reasoning"}
    assert {m.thinking_style for m in Catalogue.load().models() if m.api == "openai-chat"} <= known
