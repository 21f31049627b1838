"""Sizes without a tokenizer."""

import base64

import pytest
from hypothesis import given

from counting.kit import BASE64, CHINESE, NUMERIC_JSON, texts, words
from trimtab.context.counting import tokenizers
from trimtab.context.counting.classes import CLASSES, weigh, weights
from trimtab.context.counting.tokenizers import VOCABULARIES, guess
from trimtab.context.counting.weights import ALONE, CLAUDE_4, CLAUDE_47

CODE = (
    """
def merge(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    \"\"\"Return both, added up.\"\"\"
    out = dict(left)
    for key, value in right.items():
        out[key] = out.get(key, 0) + value
    return out
"""
    * 20
)
SAMPLES = {
    "prose": "It was late when the second train came in, and nobody on the platform had expected it any more. " * 30,
    "code": CODE,
    "base64": BASE64[:6_000],
    "hex": base64.b16encode(BASE64[:2_000].encode()).decode().lower(),
    "minified JSON": NUMERIC_JSON[:8_000],
    "Chinese": CHINESE[:2_000],
    "emoji": "🚀✅🔥🧪" * 100,
    "indented log": "2026-03-01T10:00:00Z  INFO   worker=7   took 15 ms\n" * 60,
}


def counts(text: str) -> dict[str, int]:
    """How much of each class a text holds."""
    found = {name: weigh(text, weights(**{name: 1.0})) for name in CLASSES}
    return {name: int(n) for name, n in found.items() if n}


def test_each_kind_of_character_is_counted_apart():
    assert counts("camelCase 12,5\n\tx é 中か한 → 🚀") == {
        "word": 2,
        "long": 1,
        "upper": 1,
        "hump": 1,
        "digit": 3,
        "number": 2,
        "punct": 1,
        "signs": 1,
        "gap": 1,
        "indent": 1,
        "line": 1,
        "latin": 1,
        "han": 1,
        "kana": 1,
        "hangul": 1,
        "symbol": 1,
        "astral": 1,
    }


def test_an_empty_text_holds_nothing_and_has_no_tokens():
    assert (counts(""), guess("", "o200k_base")) == ({}, 0)


def test_a_lone_surrogate_counts_like_a_question_mark():
    assert counts("a\ud800b") == {"word": 2, "punct": 1, "signs": 1}


def test_weights_refuse_a_class_that_is_not_counted():
    with pytest.raises(ValueError, match="vowels"):
        weights(vowels=1.0)


@given(texts, texts)
def test_no_class_shrinks_when_text_is_appended(head, tail):
    before, after = counts(head), counts(head + tail)
    assert all(n <= after.get(name, 0) for name, n in before.items())


@given(texts, texts)
def test_no_guess_shrinks_when_text_is_appended(head, tail):
    assert all(guess(head, name) <= guess(head + tail, name) for name in VOCABULARIES)


def test_no_weight_is_negative():
    assert min(min(row) for row in (*ALONE.values(), CLAUDE_4, CLAUDE_47)) >= 0


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.skipif(tokenizers.load() is None, reason="toktok is not installed here")
def test_a_guess_is_within_a_quarter_of_the_exact_count(name):
    """Four characters a token would be off by half to three quarters on most of these."""
    text = SAMPLES[name]
    (exact,) = tokenizers.count([text], "o200k_base")
    assert guess(text, "o200k_base") == pytest.approx(exact, rel=0.25)


def test_a_guess_depends_on_what_a_text_holds_and_not_on_its_length_alone():
    length = 6_000
    dense = [guess(t[:length], "o200k_base") for t in (BASE64, NUMERIC_JSON, CHINESE)]
    prose = guess(words(length)[:length], "o200k_base")
    assert min(dense) > 1.5 * prose


def test_what_has_a_weight_adds_up():
    row = weights(word=2.0, digit=0.5)
    assert weigh("two words 1234", row) == 2 * 2.0 + 4 * 0.5
