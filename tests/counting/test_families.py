"""Which model is counted how."""

import pytest

from trimtab.context.counting.families import FAMILIES, family_of, media_rule
from trimtab.context.counting.tokenizers import VOCABULARIES
from trimtab.types.models import ModelInfo


def named(model_id: str, tokenizer: str = "") -> str:
    return family_of(ModelInfo("p", model_id, "openai-chat", tokenizer=tokenizer)).name


@pytest.mark.parametrize(
    ("model_id", "tokenizer", "family"),
    [
        ("gpt-5.4", "o200k", "o200k"),
        ("openai/gpt-oss-20b", "", "harmony"),
        ("o3", "", "o200k"),
        ("gpt-4.1-mini", "", "o200k"),
        ("gpt-4-turbo", "", "cl100k"),
        ("claude-opus-4-5-20251101", "claude", "claude-4"),
        ("claude-opus-4-6[1m]", "claude", "claude-4"),
        ("anthropic/claude-sonnet-4.6", "claude", "claude-4"),
        ("claude-opus-4-7", "claude", "claude-4.7"),
        ("claude-opus-4-8[1m]", "claude", "claude-4.7"),
        ("anthropic/claude-opus-5.5", "claude", "claude-4.7"),
        ("claude-sonnet-4-5", "claude", "claude-4-turn"),
        ("claude-sonnet-4-20250514", "claude", "claude-4-turn"),
        ("claude-opus-4-1", "claude", "claude-4-turn"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "", "claude-4-turn"),
        ("qwen/qwen3.8-27b", "qwen3.5", "qwen3.5"),
        ("gemini-2.5-flash", "gemini", "gemini"),
        ("deepseek-chat", "deepseek", "deepseek"),
        ("devstral-2", "tekken", "tekken"),
        ("kimi-k2.6", "kimi", "kimi"),
        ("glm-5.3", "glm", "glm"),
        ("grok-4-1-fast", "grok", "grok"),
        ("llama-3.3-70b-versatile", "llama3", "llama3"),
        ("somebody/else", "", "other"),
        ("somebody/else", "qwen", "qwen3.5"),
        ("", "", "other"),
    ],
)
def test_a_model_is_counted_by_its_tokenizer_or_else_by_its_id(model_id, tokenizer, family):
    assert named(model_id, tokenizer) == family


def test_every_row_names_a_vocabulary_that_can_be_counted_and_says_where_it_comes_from():
    assert {f.vocabulary for f in FAMILIES.values()} <= set(VOCABULARIES)
    assert all(f.source for f in FAMILIES.values())


def test_an_exact_row_adds_nothing_to_its_vocabulary():
    assert all((f.scale, any(f.extra)) == (1.0, False) for f in FAMILIES.values() if f.exact)


@pytest.mark.parametrize(
    ("model_id", "rule"),
    [
        ("gpt-5.4", "openai_tiles"),
        ("gpt-4o-mini", "openai_tiles"),
        ("gpt-5-mini", "openai_patches"),
        ("gpt-4.1-nano", "openai_patches_nano"),
        ("claude-opus-4-6", "anthropic"),
        ("claude-opus-4-7", "anthropic_large"),
        ("gemini-2.5-pro", "google"),
    ],
)
def test_pictures_are_counted_by_the_formula_of_the_model(model_id, rule):
    assert media_rule(ModelInfo("p", model_id, "openai-chat")) == rule
