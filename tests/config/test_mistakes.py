"""Mistakes in settings are found where they are and told in a person's words."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.config.lines import line_of
from trimtab.config.mistakes import Path, first_mistake, show_path
from trimtab.config.settings import Settings
from trimtab.types.config import ModelConfig, ProviderConfig

APIS = "openai-chat, openai-responses, anthropic, google, scripted, recorded, bridge"


@pytest.mark.parametrize(
    ("tree", "problem"),
    [
        ({"permissions": {"mode": "yolo"}}, "setting 'permissions.mode': expected one of ask, auto-edit, full, plan, got 'yolo'"),
        ({"providers": {"a": {}, "my host": {"api": "grpc"}}}, f"setting 'providers.\"my host\".api': expected one of {APIS}, got 'grpc'"),
        ({"max_steps": "9"}, "setting 'max_steps': expected a whole number from 1 on, got text"),
        ({"max_steps": 2.5}, "setting 'max_steps': expected a whole number from 1 on, got a number with a fraction"),
        ({"max_steps": True}, "setting 'max_steps': expected a whole number from 1 on, got true"),
        ({"max_steps": 0}, "setting 'max_steps': expected a whole number from 1 on, got 0"),
        ({"tools": {"bash": {"timeout_s": -1}}}, "setting 'tools.bash.timeout_s': expected a number above 0, got -1"),
        ({"tools": {"bash": {"timeout_s": float("nan")}}}, "setting 'tools.bash.timeout_s': expected a number above 0, got nan"),
        ({"providers": {"l": {"max_retries": -2}}}, "setting 'providers.l.max_retries': expected a whole number from 0 on, got -2"),
        ({"context": {"soft": -1}}, "setting 'context.soft': expected a number above 0 and at most 1, got -1"),
        ({"context": {"hard": 1.5}}, "setting 'context.hard': expected a number above 0 and at most 1, got 1.5"),
        ({"context": {"soft_tokens": -5}}, "setting 'context.soft_tokens': expected a whole number from 1 on, got -5"),
        ({"models": {"a/b": {"context": {"hard_tokens": 0}}}}, "setting 'models.\"a/b\".context.hard_tokens': expected a whole number from 1 on, got 0"),
        ({"tools": 5}, "setting 'tools': expected a table, got a whole number"),
        ({"tools": {"enabled": "read"}}, "setting 'tools.enabled': expected a list of texts, got text"),
        ({"tools": {"enabled": ["read", 3]}}, "setting 'tools.enabled[1]': expected text, got a whole number"),
        ({"providers": {"l": {"headers": {"x": 1}}}}, "setting 'providers.l.headers.x': expected text, got a whole number"),
        ({"providers": {"l": {"probe": "yes"}}}, "setting 'providers.l.probe': expected true or false, got text"),
        ({"providers": {"l": {"models": ["m"]}}}, "setting 'providers.l.models[0]': expected a table, got text"),
        ({"providers": {"l": {"models": [{"id": "m"}, {}]}}}, "setting 'providers.l.models[1]': 'id' is missing"),
        ({"providers": {"l": {"models": [{"id": "m", "input": ["smell"]}]}}}, "setting 'providers.l.models[0].input[0]': expected one of text, image, pdf, audio, video, got 'smell'"),
        ({"models": {"a/b": {"max_output": "x"}}}, "setting 'models.\"a/b\".max_output': expected a whole number from 1 on, got text"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_its_place_and_without_words_of_python(tree: dict[str, Any], problem: str) -> None:
    mistake = first_mistake(tree, Settings)
    assert mistake is not None
    assert mistake.problem == problem


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        *((name, "base_url") for name in ("api_base", "baseUrl", "url", "base_ulr", "endpoint")),
        *((name, "api_key") for name in ("apikey", "key", "apiKey")),
        *((name, "context_window") for name in ("window", "context_length", "n_ctx", "max_model_len")),
        ("max_tokens", "max_output"),
        ("timeout", "idle_timeout_s"),
        ("type", "api"),
    ],
)
def test_what_other_programs_call_a_setting_leads_to_ours(said: str, meant: str) -> None:
    mistake = first_mistake({"providers": {"local": {said: "x"}}}, Settings)
    assert mistake is not None
    assert mistake.problem == f"unknown setting 'providers.local.{said}' (did you mean {meant!r}?)"
    assert meant in mistake.hint


def test_a_value_is_never_shown_unless_it_should_have_been_a_choice() -> None:
    mistake = first_mistake({"providers": {"l": {"max_output": "sk-secret"}}}, Settings)
    assert mistake is not None
    assert "sk-secret" not in mistake.problem + mistake.hint


@pytest.mark.parametrize("price", [math.nan, math.inf, -math.inf, -0.01])
@pytest.mark.parametrize("name", ["price_input", "price_output", "price_cache_read", "price_cache_write"])
@pytest.mark.parametrize("kind", [ProviderConfig, ModelConfig])
def test_a_price_is_a_number_by_which_a_limit_of_cost_can_be_kept(
    kind: type[msgspec.Struct], name: str, price: float
) -> None:
    row = {"id": "x", name: price}
    mistake = first_mistake({"models": [row]} if kind is ProviderConfig else row, kind)
    assert mistake is not None
    assert name in mistake.problem


NAMES = st.sampled_from(
    [
        "model",
        "max_steps",
        "tools",
        "bash",
        "timeout_s",
        "enabled",
        "permissions",
        "mode",
        "allow",
        "providers",
        "l",
        "api",
        "base_url",
        "headers",
        "compat",
        "models",
        "id",
        "input",
        "probe",
        "context",
        "soft",
        "verify",
        "other",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["x", "full", "google", "text"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(value=VALUES, kind=st.sampled_from([Settings, ProviderConfig, ModelConfig]))
def test_a_mistake_is_found_exactly_when_the_schema_refuses(value: Any, kind: type[msgspec.Struct]) -> None:
    try:
        msgspec.convert(value, kind, strict=True)
        refused = False
    except msgspec.ValidationError:
        refused = True
    assert (first_mistake(value, kind) is not None) == refused


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("model",), 2),
        (("tools", "enabled", 1), 3),
        (("providers", "local", "max_output"), 9),
        (("providers", "local", "models", 1), 12),
        (("providers", "local", "models", 1, "id"), 13),
        (("append_system_prompt",), 5),
        (("thinking",), None),
        (("max_steps",), None),
    ],
)
def test_the_line_of_a_setting_is_that_of_its_statement_or_none(path: Path, line: int | None) -> None:
    text = '''# model = "old"
model = "x"
tools = { enabled = [
  "read", 3] }
append_system_prompt = """
thinking = 3
"""
[providers.local]
max_output = "max_output"
[[providers.local.models]]
id = "a"
[[providers.local.models]]
id = "model"
'''
    assert line_of(text, path) == line


def test_a_path_is_shown_as_toml_writes_it() -> None:
    assert show_path(("models", 'a/"b"', "context", "soft")) == 'models."a/\\"b\\"".context.soft'


@pytest.mark.parametrize(("key", "row"), [("price_input", True), ("nonsense", False)])
def test_a_key_of_a_models_row_is_led_to_the_row(key: str, row: bool) -> None:
    mistake = first_mistake({"models": {"my host/org/m": {key: 1}}}, Settings)
    assert mistake is not None
    there = 'It belongs in the model\'s row: [[providers."my host".models]] with id = "org/m".'
    assert (mistake.hint == there) == row
