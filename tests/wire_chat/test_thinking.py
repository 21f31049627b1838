"""How a thinking level is spelt for each kind of Chat Completions server."""

from typing import Any

import pytest

from trimtab.providers.catalogue import Catalogue
from trimtab.providers.chat_thinking import thinking_fields


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
