"""Which words a text has for search."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.recall.words import index_words, query_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("parseHTTPRequest", ["parsehttprequest", "parse", "http", "request"]),
        ("max_open_files", ["max_open_files", "max", "open", "files"]),
        ("src/app/main.py:12", ["src", "app", "main", "py", "12"]),
        ("E4711", ["e4711", "4711"]),
        ("r7", ["r7"]),
        ("__init__", ["init"]),
        ("don't", ["don", "t"]),
        ("", []),
        ("… !? 🙂", []),
    ],
)
def test_a_name_is_a_word_whole_and_in_its_parts(text, words):
    assert query_words(text) == words


@pytest.mark.parametrize(
    ("written", "asked"),
    [("CAFÉ", "cafe"), ("Straße", "STRASSE"), ("ＡＢＣ１２３", "abc123"), ("ﬁle", "file"), ("Ёлка", "елка")],
)
def test_case_width_and_accents_make_no_difference(written, asked):
    assert query_words(asked)[0] in index_words(written)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("東京都", ["東京", "京都"]),
        ("ポート4711番", ["ポー", "ート", "4711", "番"]),
        ("데이터베이스", ["데이", "이터", "터베", "베이", "이스"]),
        ("猫", ["猫"]),
    ],
)
def test_scripts_without_spaces_give_pairs_of_letters(text, pairs):
    assert query_words(text) == pairs


def test_marks_stay_with_their_letters():
    assert query_words("हिन्दी में") == ["हिन्दी", "में"]


def test_a_query_of_one_letter_finds_it_inside_a_word():
    assert query_words("猫")[0] in index_words("黒猫がいる")


def test_a_run_of_data_is_one_word_and_has_no_parts():
    assert index_words("aB3" * 100) == [("ab3" * 100)[:64]]


@given(st.text())
def test_what_a_query_asks_for_is_among_the_words_of_the_same_text(text):
    assert set(query_words(text)) <= set(index_words(text))


@given(st.text())
def test_a_word_never_holds_a_blank_or_a_quote(text):
    assert not [word for word in index_words(text) if not word or word.split() != [word] or '"' in word]
