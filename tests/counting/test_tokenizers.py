"""Exact vocabularies, and what happens without them."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from counting.kit import BASE64
from trimtab.context.counting import tokenizers

needs_toktok = pytest.mark.skipif(tokenizers.load() is None, reason="toktok is not installed here")


@pytest.fixture
def without_toktok(monkeypatch):
    monkeypatch.setattr(tokenizers, "load", lambda: None)


@needs_toktok
@pytest.mark.parametrize(
    ("vocabulary", "tokens"), [("o200k_base", 8), ("cl100k_base", 8), ("qwen3.5", 8), ("o200k_harmony", 8)]
)
def test_a_known_vocabulary_counts_exactly(vocabulary, tokens):
    """The figure for o200k and cl100k is that of tiktoken."""
    assert tokenizers.count(["The quick brown fox jumps over it."], vocabulary) == [tokens]


@needs_toktok
def test_text_that_spells_a_special_token_is_ordinary_text():
    assert tokenizers.count(["<|endoftext|>"], "o200k_base") > [1]


@needs_toktok
def test_a_lone_surrogate_counts_like_its_replacement():
    assert tokenizers.count(["a\ud800b"], "o200k_base") == tokenizers.count(["a\ufffdb"], "o200k_base")


@needs_toktok
def test_a_megabyte_without_a_blank_is_counted():
    assert tokenizers.count(["a" * 1_000_000], "o200k_base")[0] > 100_000


@needs_toktok
def test_threads_get_the_same_counts():
    texts = [BASE64[i : i + 500] for i in range(0, 20_000, 500)]
    alone = [tokenizers.count([t], "o200k_base")[0] for t in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda t: tokenizers.count([t], "o200k_base")[0], texts)) == alone


@needs_toktok
def test_an_unknown_vocabulary_is_o200k():
    assert tokenizers.count(["hello world"], "nobody's") == tokenizers.count(["hello world"], "o200k_base")


def test_without_the_library_counts_are_guesses(without_toktok):
    assert tokenizers.count(["hello world", ""], "o200k_base") == [tokenizers.guess("hello world", "o200k_base"), 0]


def test_a_library_that_is_not_there_is_no_error(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(tokenizers, "import_module", absent)
    tokenizers.load.cache_clear()
    try:
        assert tokenizers.load() is None
    finally:
        tokenizers.load.cache_clear()
