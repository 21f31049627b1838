"""The shipped catalogue: it loads, it is in step with its source, and its facts hang together."""

import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from trimtab.providers.catalogue import Catalogue, ProviderInfo
from trimtab.providers.resolve import THINKING_LEVELS
from trimtab.types.models import ModelInfo

SCRIPT = Path(__file__).parents[2] / "scripts/make_catalogue.py"
MODELS = Catalogue.load().models()


def test_the_catalogue_that_runs_is_made_from_the_one_that_people_edit() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_shipped_catalogue_knows_the_usual_providers_and_reads_its_file_once() -> None:
    catalogue = Catalogue.load()
    names = {p.name for p in catalogue.providers()}
    vendors = {"openai", "anthropic", "google", "deepseek", "mistral", "dashscope", "moonshotai", "zai", "xai", "groq"}
    hosts = {
        "cerebras",
        "fireworks",
        "together",
        "huggingface",
        "nvidia",
        "vercel-ai-gateway",
        "opencode",
        "openrouter",
    }
    china = {"minimax", "minimax-cn", "moonshotai-cn", "xiaomi"}
    assert vendors | hosts | china | {"ollama", "llamacpp", "vllm", "lmstudio"} <= names
    assert Catalogue.load() is catalogue
    assert "ANTHROPIC_API_KEY" in catalogue.key_variables()


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.ref)
def test_the_facts_of_a_model_hang_together(model: ModelInfo) -> None:
    catalogue = Catalogue.load()
    provider = catalogue.provider(model.provider)
    assert provider is not None
    assert (model.api, model.source) == (provider.api, "catalogue")
    assert 0 < model.max_output < model.context_window
    assert "text" in model.input
    assert set(model.thinking) <= set(THINKING_LEVELS)
    assert list(model.thinking) == sorted(model.thinking, key=THINKING_LEVELS.index)
    assert model.thinking_style or not model.thinking
    assert [p.above for p in model.prices] == sorted({p.above for p in model.prices})
    for price in model.prices:
        assert 0 < price.input <= price.output
        assert price.cache_read is None or price.cache_read <= price.input
    assert catalogue.find(model.provider, model.id) is model


@pytest.mark.parametrize("provider", Catalogue.load().providers(), ids=lambda p: p.name)
def test_a_provider_is_reached_by_https_or_is_this_machine(provider: ProviderInfo) -> None:
    url = urlsplit(provider.base_url)
    assert (url.scheme == "https") == bool(provider.api_key_env)
    assert url.scheme == "https" or url.hostname == "127.0.0.1"
    assert provider.docs.startswith("https://")


def test_a_variable_holds_the_key_of_one_provider() -> None:
    variables = [p.api_key_env for p in Catalogue.load().providers() if p.api_key_env]
    assert len(variables) == len(set(variables))


def test_a_default_model_is_a_listed_one() -> None:
    catalogue = Catalogue.load()
    for provider in catalogue.providers():
        assert not provider.default or catalogue.find(provider.name, provider.default) is not None, provider.name
    token = catalogue.provider("huggingface")
    assert token is not None
    assert token.default == "", "people have HF_TOKEN for downloads, and no project of theirs goes there unasked"


def test_a_tiered_price_is_kept_by_tier() -> None:
    model = Catalogue.load().find("openai", "gpt-5.4")
    assert model is not None
    assert [p.above for p in model.prices] == [0, 272_000]
    assert model.prices[1].input > model.prices[0].input


def test_nearest_finds_refs_for_a_misspelt_ref_or_bare_id() -> None:
    catalogue = Catalogue.load()
    assert catalogue.nearest("openai/gpt-5.l")[0].startswith("openai/gpt-5")
    assert "anthropic/claude-opus-5-5" in catalogue.nearest("claude-opus-5.5")
    assert catalogue.nearest("zzzzzz") == ()


def test_an_unknown_name_is_none_not_an_error() -> None:
    catalogue = Catalogue()
    assert (catalogue.find("a", "b"), catalogue.provider("a"), catalogue.models()) == (None, None, ())
