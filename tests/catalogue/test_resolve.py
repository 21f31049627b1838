"""From a name to a model: splitting, layers, candidates, and what is assumed when nobody said."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.catalogue import Catalogue, ProviderInfo
from trimtab.providers.resolve import (
    DEFAULT_MAX_OUTPUT,
    DEFAULT_WINDOW,
    THINKING_LEVELS,
    Resolved,
    is_loopback,
    resolve,
)
from trimtab.providers.wire import Endpoint
from trimtab.types.config import ModelConfig, ProviderConfig
from trimtab.types.errors import ConfigError, UnknownModel
from trimtab.types.models import ModelInfo, Price, cost_usd
from trimtab.types.usage import Usage

BIG = ModelInfo(
    provider="vendor",
    id="big",
    api="openai-responses",
    context_window=400_000,
    max_output=100_000,
    thinking=("off", "low", "high"),
    thinking_style="effort",
    prices=(Price(1.0, 2.0), Price(2.0, 4.0, above=200_000)),
    source="catalogue",
    compat={"a": 1},
)
PLAIN = msgspec.structs.replace(BIG, id="org/plain", thinking=(), thinking_style="")
SHARED = msgspec.structs.replace(BIG, provider="other", id="shared", api="openai-chat")
CATALOGUE = Catalogue(
    providers=(
        ProviderInfo("vendor", "openai-responses", "https://api.vendor.example/v1", "VENDOR_API_KEY"),
        ProviderInfo("other", "openai-chat", "https://other.example/v1", "OTHER_API_KEY"),
        ProviderInfo("ollama", "openai-chat", "http://127.0.0.1:11434/v1"),
    ),
    models=(BIG, PLAIN, SHARED, msgspec.structs.replace(BIG, id="shared")),
)
LOCAL = ProviderConfig(base_url="http://127.0.0.1:8080/v1/")


@dataclass(frozen=True)
class Override:
    context_window: int | None = None
    max_output: int | None = None
    thinking: str | None = None


def find(ref: str | None, /, overrides: dict[str, Override] | None = None, **providers: ProviderConfig) -> Resolved:
    return resolve(ref, config_providers=providers, catalogue=CATALOGUE, model_overrides=overrides)


def test_a_listed_model_comes_with_its_facts_and_where_to_ask() -> None:
    assert find("vendor/big") == Resolved(
        model=BIG,
        endpoint=Endpoint("vendor", "openai-responses", "https://api.vendor.example/v1"),
        api_key_env="VENDOR_API_KEY",
        thinking=None,
    )
    assert find("vendor/big").needs_key


def test_an_unlisted_id_is_sent_as_written_with_cautious_sizes_and_a_note() -> None:
    found = find("local/Qwen3/coder:30b@q4", local=LOCAL)
    assert found.model == ModelInfo(
        provider="local",
        id="Qwen3/coder:30b@q4",
        api="openai-chat",
        context_window=DEFAULT_WINDOW,
        max_output=DEFAULT_MAX_OUTPUT,
    )
    assert found.endpoint == Endpoint("local", "openai-chat", "http://127.0.0.1:8080/v1")
    assert found.notes == (
        "local/Qwen3/coder:30b@q4 is in no list: assuming a window of 32,768 tokens and 4,096 tokens of output "
        "(set providers.local.context_window and .max_output)",
    )
    assert not found.needs_key


@pytest.mark.parametrize(("ref", "near"), [("vendor/bigg", "vendor/big"), ("vendor/org/plian", "vendor/org/plain")])
def test_an_id_that_nearly_is_a_listed_one_is_sent_as_written_with_a_note_that_names_the_listed_one(
    ref: str, near: str
) -> None:
    found = find(ref)
    assert found.model.ref == ref
    assert found.notes[0].startswith(f"{ref} is in no list (did you mean {near}?): assuming ")
    sized = find(ref, vendor=ProviderConfig(context_window=8_000, max_output=500))
    assert sized.notes == (f"{ref} is in no list (did you mean {near}?); it is sent as written",)


@pytest.mark.parametrize("ref", ["vendor/shared-8b", "other/bigg", "vendor/zzz"])
def test_an_id_with_more_behind_it_of_another_provider_or_like_none_is_no_misspelling(ref: str) -> None:
    assert "did you mean" not in find(ref).notes[0]


def test_a_declared_model_without_sizes_is_not_said_to_be_in_no_list() -> None:
    found = find("local/tiny", local=msgspec.structs.replace(LOCAL, models=(ModelConfig("tiny"),)))
    assert found.notes[0].startswith("nobody states the sizes of local/tiny: assuming a window of 32,768 tokens")


def test_a_part_of_names_offers_the_models_that_have_it() -> None:
    with pytest.raises(UnknownModel) as caught:
        find("sha")
    assert (caught.value.message, caught.value.hint) == (
        "no model is called 'sha'",
        "did you mean vendor/shared, other/shared?",
    )


def test_a_window_that_the_server_states_replaces_the_assumption_and_nothing_else() -> None:
    found = find("local/x", local=LOCAL).with_probed_window(8_192)
    assert (found.model.context_window, found.model.source) == (8_192, "probe")
    assert found.notes == ("local/x: a window of 8,192 tokens, as its server says",)
    declared = find("local/x", local=msgspec.structs.replace(LOCAL, context_window=4_000))
    assert declared.with_probed_window(8_192) == declared
    assert find("vendor/big").with_probed_window(8_192) == find("vendor/big")
    assert find("local/x", local=LOCAL).with_probed_window(None) == find("local/x", local=LOCAL)


def test_the_sizes_of_a_provider_hold_for_its_unlisted_models_and_silence_the_note() -> None:
    found = find("local/x", local=msgspec.structs.replace(LOCAL, context_window=8_000, max_output=500))
    assert (found.model.context_window, found.model.max_output, found.model.source) == (8_000, 500, "config")
    assert found.notes == ()


@pytest.mark.parametrize(
    ("provider", "override", "window"),
    [
        (ProviderConfig(), None, 400_000),
        (ProviderConfig(context_window=1_000), None, 1_000),
        (ProviderConfig(context_window=1_000, models=(ModelConfig("big", context_window=2_000),)), None, 2_000),
        (ProviderConfig(models=(ModelConfig("big", context_window=2_000),)), Override(context_window=3_000), 3_000),
    ],
)
def test_a_window_that_the_user_declares_always_wins(
    provider: ProviderConfig, override: Override | None, window: int
) -> None:
    found = find("vendor/big", {"vendor/big": override} if override else {}, vendor=provider)
    assert found.model.context_window == window
    assert found.model.max_output == 100_000
    assert found.notes == ()


def test_a_users_row_lays_over_the_catalogue_field_by_field() -> None:
    row = ModelConfig("big", input=("text", "image"), thinking=("low",), price_output=9.0, compat={"b": 2})
    provider = ProviderConfig(
        models=(row,),
        compat={"a": 0},
        headers={"x-team": "t"},
        max_retries=1,
        idle_timeout_s=5.0,
        max_retry_wait_s=9.0,
        ca_file="/ca",
    )
    found = find("vendor/big", vendor=provider)
    assert found.model == msgspec.structs.replace(
        BIG, input=("text", "image"), thinking=("low",), prices=(Price(1.0, 9.0),), compat={"a": 0, "b": 2}
    )
    assert found.endpoint == Endpoint(
        "vendor",
        "openai-responses",
        "https://api.vendor.example/v1",
        headers={"x-team": "t"},
        max_retries=1,
        max_retry_wait_s=9.0,
        ca_file="/ca",
        idle_timeout_s=5.0,
    )


def test_another_api_under_a_listed_name_forgets_how_levels_were_said() -> None:
    assert find("vendor/big", vendor=ProviderConfig(api="anthropic")).model.thinking_style == ""
    assert find("vendor/big", vendor=ProviderConfig(api="openai-chat")).model.thinking_style == "effort"


@pytest.mark.parametrize(
    ("ref", "model_id", "level"),
    [
        ("vendor/big:high", "big", "high"),
        ("vendor/big:none", "big", "off"),
        ("big:low", "big", "low"),
        ("vendor/org/plain", "org/plain", None),
        ("ollama/qwen3:8b", "qwen3:8b", None),
        ("ollama/qwen3:8b:max", "qwen3:8b", "max"),
        ("vendor/big:HIGH", "big:HIGH", None),
        ("vendor/:high", ":high", None),
    ],
)
def test_only_a_known_level_after_the_last_colon_is_taken_off(ref: str, model_id: str, level: str | None) -> None:
    found = find(ref)
    assert (found.model.id, found.thinking) == (model_id, level)


def test_an_id_that_is_listed_with_its_colon_is_that_model() -> None:
    provider = msgspec.structs.replace(LOCAL, models=(ModelConfig("m:high"),))
    assert (find("local/m:high", local=provider).model.id, find("local/m:high", local=provider).thinking) == (
        "m:high",
        None,
    )
    assert find("m:high", local=provider).model.id == "m:high"


def test_a_level_that_the_model_lacks_becomes_the_nearest_one_with_a_note() -> None:
    assert find("vendor/big:max").thinking == "high"
    assert find("vendor/big:max").notes == ("vendor/big has no thinking level 'max': using 'high'",)
    assert find("vendor/org/plain:high").thinking is None
    assert find("vendor/org/plain:high").notes == ("vendor/org/plain has no thinking levels: 'high' is left out",)
    assert (find("vendor/org/plain:off").thinking, find("vendor/org/plain:off").notes) == (None, ())


def test_a_models_own_default_level_is_used_when_the_reference_names_none() -> None:
    assert find("vendor/big", {"vendor/big": Override(thinking="low")}).thinking == "low"
    assert find("vendor/big:high", {"vendor/big": Override(thinking="low")}).thinking == "high"
    with pytest.raises(ConfigError, match="'loud' is not a thinking level of vendor/big"):
        find("vendor/big", {"vendor/big": Override(thinking="loud")})


def test_a_bare_id_must_be_unique_in_settings_and_catalogue() -> None:
    assert find("big").model.ref == "vendor/big"
    assert find("big", vendor=ProviderConfig(models=(ModelConfig("big"),))).model.ref == "vendor/big"
    assert find("tiny", local=msgspec.structs.replace(LOCAL, models=(ModelConfig("tiny"),))).model.ref == "local/tiny"
    with pytest.raises(UnknownModel) as caught:
        find("shared")
    assert (caught.value.message, caught.value.hint, caught.value.exit_code) == (
        "2 providers have a model 'shared'",
        "say which: other/shared, vendor/shared",
        2,
    )


def test_an_id_with_a_slash_is_found_without_its_provider_too() -> None:
    assert find("org/plain").model.ref == "vendor/org/plain"


@pytest.mark.parametrize(
    ("ref", "message", "hint"),
    [
        ("vender/big", "no provider is called 'vender'", "did you mean vendor/big, vendor/…?"),
        ("bigg", "no model is called 'bigg'", "did you mean vendor/big?"),
        ("vendor/", "'vendor/' names no model", None),
        ("", "no model is configured", None),
        (None, "no model is configured", None),
    ],
)
def test_an_unknown_name_is_an_error_with_the_nearest_ones(ref: str | None, message: str, hint: str | None) -> None:
    with pytest.raises(UnknownModel) as caught:
        find(ref)
    assert caught.value.message == message
    assert caught.value.hint == hint or (hint is None and caught.value.hint)


def test_a_new_provider_without_an_address_is_a_config_error_that_names_the_setting() -> None:
    with pytest.raises(ConfigError) as caught:
        find("mine/x", mine=ProviderConfig())
    assert "providers.mine.base_url" in caught.value.hint


@pytest.mark.parametrize("url", ["127.0.0.1:8080/v1", "http://[::1/v1", "http://a:port/v1", "http://", "ftp://a/v1"])
def test_an_address_that_is_no_web_url_is_a_config_error_that_quotes_it(url: str) -> None:
    with pytest.raises(ConfigError, match=r"mine\.base_url is no http") as caught:
        find("mine/x", mine=ProviderConfig(base_url=url))
    assert repr(url) in caught.value.message


@pytest.mark.parametrize("path", ["script.jsonl", "/tmp/a/b:high", "../x:1/y.jsonl", "C:\\s.jsonl:low"])
@pytest.mark.parametrize("api", ["scripted", "recorded"])
def test_a_test_model_takes_the_whole_rest_as_its_path(path: str, api: Any) -> None:
    found = find(f"{api}/{path}")
    assert (found.model.api, found.model.id, found.endpoint.base_url, found.thinking) == (api, path, path, None)
    assert not found.needs_key
    named = find(f"fake/{path}", fake=ProviderConfig(api=api, context_window=9_000, max_output=100))
    assert (named.model.context_window, named.endpoint.base_url, named.notes) == (9_000, path, ())


@pytest.mark.parametrize("api", ["scripted", "recorded"])
def test_a_listed_test_model_takes_a_level_behind_its_path(api: Any) -> None:
    rows = (ModelConfig("a.jsonl", thinking=("low",)), ModelConfig("b:low", thinking=("low",)))
    fake = ProviderConfig(api=api, models=rows)
    found = find("fake/a.jsonl:low", fake=fake)
    assert (found.model.id, found.endpoint.base_url, found.thinking) == ("a.jsonl", "a.jsonl", "low")
    assert (find("fake/b:low", fake=fake).model.id, find("fake/c:low", fake=fake).model.id) == ("b:low", "c:low")


def test_a_bridged_model_is_named_as_the_other_library_names_it() -> None:
    for found in (
        find("bridge/bedrock:x.y-v1:0:high"),
        find("bedrock/x.y-v1:0:high", bedrock=ProviderConfig(api="bridge")),
    ):
        assert (found.model.api, found.endpoint.base_url, found.thinking) == ("bridge", "bedrock:x.y-v1:0", "high")
        assert not found.needs_key


def test_a_vendors_key_stays_home_when_the_name_points_at_another_host() -> None:
    moved = find("vendor/big", vendor=ProviderConfig(base_url="https://proxy.example/v1"))
    assert (moved.api_key_env, moved.notes) == ("", ())
    asked = ProviderConfig(base_url="https://proxy.example/v1", api_key_env="VENDOR_API_KEY")
    assert (find("vendor/big", vendor=asked).api_key_env, find("vendor/big", vendor=asked).notes) == (
        "VENDOR_API_KEY",
        (),
    )
    assert find("vendor/big", vendor=LOCAL).notes == ()


def test_a_header_that_authorises_makes_a_key_needless_and_a_key_never_shows() -> None:
    assert not find("vendor/big", vendor=ProviderConfig(headers={"Authorization": "Bearer x"})).needs_key
    found = find("vendor/big", vendor=ProviderConfig(api_key="sk-1"))
    assert found.endpoint.api_key == "sk-1"
    assert "sk-1" not in repr(found)
    assert find("vendor/big").with_key("sk-2").endpoint.api_key == "sk-2"
    assert find("vendor/big").with_key(None) == find("vendor/big")


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9", True),
        ("http://localhost:80", True),
        ("http://a.localhost", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.0.1", False),
        ("http://127.0.0.1.example.com", False),
        ("http://localhost.example.com", False),
        ("http://[::1", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_what_only_looks_like_it(url: str, local: bool) -> None:
    assert is_loopback(url) is local


@given(model_id=st.text(min_size=1).filter(lambda t: t.strip() == t), level=st.sampled_from(THINKING_LEVELS))
def test_any_id_of_a_declared_provider_survives_with_and_without_a_level(model_id: str, level: str) -> None:
    words = {*THINKING_LEVELS, "none"}
    if model_id.rpartition(":")[2] not in words or not model_id.rpartition(":")[0]:
        assert find(f"local/{model_id}", local=LOCAL).model.id == model_id
    found = find(f"local/{model_id}:{level}", local=LOCAL)
    assert (found.model.id, found.thinking) == (model_id, level)


@pytest.mark.parametrize(
    ("said", "prompt", "usd"),
    [
        ({"price_input": 1.0, "price_output": 0.0}, 500_000, 0.5),
        ({"price_input": 1.0, "price_output": 0.0}, 64_001, 0.064001),
        ({"price_input": 1.0, "price_output": 0.0, "price_above": [(64_000, 2.0)]}, 63_999, 0.063999),
        ({"price_input": 1.0, "price_output": 0.0, "price_above": [(200_000, 4.0), (64_000, 2.0)]}, 64_001, 0.128002),
        ({"price_input": 1.0, "price_output": 0.0, "price_above": [(200_000, 4.0), (64_000, 2.0)]}, 250_000, 1.0),
        ({"price_above": [(64_000, 2.0)]}, 1_000, None),
    ],
)
def test_a_person_says_other_prices_for_long_prompts(said: dict, prompt: int, usd: float | None) -> None:
    steps = [{"tokens": tokens, "input": price, "output": 0.0} for tokens, price in said.pop("price_above", [])]
    rows = [{"id": "mine", **said, "price_above": steps}]
    provider = msgspec.convert({"base_url": "http://127.0.0.1:9/v1", "models": rows}, ProviderConfig)
    model = find("p/mine", p=provider).model
    cost = cost_usd(Usage(input=prompt), model.prices)
    assert cost == (None if usd is None else pytest.approx(usd))
