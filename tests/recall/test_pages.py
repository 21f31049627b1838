"""A text in pages: all of it, in pieces that fit."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.recall.pages import Page, page, page_at, page_ends


def count(text: str) -> int:
    """Four characters a token, begun ones whole."""
    return -(-len(text) // 4)


def words(text: str) -> int:
    """A counter that is anything but even."""
    return len(text.split()) + text.count("\n")


def every_page(text: str, max_tokens: int, counter=count) -> list[Page]:
    """All pages in order."""
    total = page(text, 1, max_tokens, counter).of
    return [page(text, n, max_tokens, counter) for n in range(1, total + 1)]


TEXTS = st.text(st.sampled_from("ab \n\r東🙂") | st.characters(), max_size=400)


@given(TEXTS, st.integers(1, 60), st.sampled_from([count, words, len]))
def test_pages_joined_are_the_text(text, max_tokens, counter):
    assert "".join(p.text for p in every_page(text, max_tokens, counter)) == text


@given(TEXTS, st.integers(1, 60), st.sampled_from([count, words, len]))
def test_a_page_fits_unless_it_is_one_character(text, max_tokens, counter):
    assert [p for p in every_page(text, max_tokens, counter) if counter(p.text) > max_tokens and len(p.text) > 1] == []


@given(TEXTS, st.integers(1, 60))
def test_lines_are_numbered_through_all_pages(text, max_tokens):
    pages = every_page(text, max_tokens)
    assert (pages[0].first_line, pages[-1].last_line) == (1, len(text.split("\n")) - (text.endswith("\n")))
    for one, two in itertools.pairwise(pages):
        assert two.first_line == one.last_line + one.text.endswith("\n")


def test_pages_end_behind_lines():
    text = "".join(f"line {n}\n" for n in range(100))
    pages = every_page(text, 50)
    assert len(pages) > 3
    assert all(p.text.endswith("\n") for p in pages)


def test_a_line_longer_than_a_page_is_split_inside():
    assert [p.text for p in every_page("abcdefghij", 1)] == ["abcd", "efgh", "ij"]


def test_a_page_is_nearly_full():
    text = "\n".join(str(n) for n in range(20_000))
    sizes = [count(p.text) for p in every_page(text, 1_000)]
    assert min(sizes[:-1]) > 900


@pytest.mark.parametrize(("asked", "given_"), [(0, 1), (-3, 1), (2, 2), (99, 3)])
def test_nobody_turns_too_far(asked, given_):
    assert page("abcdefghij", asked, 1, count).number == given_


def test_an_empty_text_has_one_page():
    assert page("", 1, 10, count) == Page("", 1, 1, 1, 1)


def test_a_position_is_on_the_page_that_holds_it():
    ends = page_ends("abcdefghij", 1, count)
    assert [page_at(ends, at) for at in (0, 3, 4, 9, 50)] == [1, 1, 2, 3, 3]


def test_paging_counts_an_even_text_only_a_few_times_over():
    text = "".join(f"{n} some words of a line\n" for n in range(20_000))
    seen = 0

    def counted(piece: str) -> int:
        nonlocal seen
        seen += len(piece)
        return count(piece)

    page_ends(text, 1_000, counted)
    assert seen < 4 * len(text)
