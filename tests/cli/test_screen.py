"""What is shown fits the terminal, and is left as it is in a pipe."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.telling.tables import shortened, stacked, table
from trimtab.frontends.cli.screen import width_of, wrapped

ROWS = [("ID", "TITLE", "N"), ("a1", "a long title of a session", "12"), ("b", "short", "7")]


def test_a_pipe_has_no_width_and_nothing_is_wrapped_or_cut() -> None:
    assert width_of(io.StringIO()) is None
    assert wrapped("word " * 100, None) == "word " * 100
    assert table(ROWS, None)[1] == "a1  a long title of a session  12"


def test_lines_break_between_words_and_go_on_indented() -> None:
    assert wrapped("note: one two three\n  a hint of words", 12) == "note: one\n  two three\n  a hint of\n    words"


def test_what_a_person_copies_is_not_broken() -> None:
    assert wrapped("see https://example.com/a-long-path/x", 10) == "see\n  https://example.com/a-long-path/x"


def test_a_table_gives_way_in_its_elastic_column() -> None:
    assert table(ROWS, 20, elastic=1) == ["ID  TITLE         N", "a1  a long titl…  12", "b   short         7"]


def test_a_table_without_an_elastic_column_loses_columns_from_the_right() -> None:
    assert table(ROWS, 30)[2] == "b   short"


def test_numbers_stand_below_each_other_at_the_right() -> None:
    assert table([("ID", "N"), ("a1", "1,200"), ("b", "7")], None, right=(1,)) == [
        "ID      N",
        "a1  1,200",
        "b       7",
    ]


def test_a_stacked_table_keeps_every_column_and_repeats_the_first() -> None:
    assert stacked(ROWS, 30) == [
        "ID  TITLE",
        "a1  a long title of a session",
        "b   short",
        "",
        "ID  N",
        "a1  12",
        "b   7",
    ]
    assert stacked(ROWS, None) == table(ROWS, None)


@given(st.lists(st.tuples(*[st.text("ab", min_size=1, max_size=30)] * 5), min_size=1, max_size=3), st.integers(1, 90))
def test_a_stacked_table_shows_every_cell_at_any_width(rows: list[tuple[str, ...]], width: int) -> None:
    assert {cell for row in rows for cell in row} <= set(" ".join(stacked(rows, width)).split())


@given(
    st.lists(st.tuples(*[st.text("ab ", max_size=30)] * 4), min_size=1, max_size=4),
    st.integers(20, 100),
    st.sampled_from([None, 2]),
)
def test_no_line_is_wider_than_the_terminal(rows: list[tuple[str, ...]], width: int, elastic: int | None) -> None:
    least = sum(max(len(row[i]) for row in rows) for i in (0, 1)) + 2
    assert all(len(line) <= max(width, least) for line in table(rows, width, elastic=elastic))


@pytest.mark.parametrize(("text", "width", "cut"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("abc", 0, "…")])
def test_a_shortened_text_says_that_it_is(text: str, width: int, cut: str) -> None:
    assert shortened(text, width) == cut


def test_what_goes_on_in_a_row_of_columns_stays_in_the_last_one() -> None:
    row = "Ctrl-D    on an empty line: leaves"
    assert wrapped(row, 26) == "Ctrl-D    on an empty\n          line: leaves"
    assert wrapped("  1  once: this time, nothing is kept", 24) == "  1  once: this time,\n     nothing is kept"
    assert wrapped("id  3 min  7 entries  what is here?", 30).splitlines()[1].startswith(" " * 11)


def test_a_column_that_leaves_no_room_is_no_margin() -> None:
    assert wrapped(" " * 25 + "the MCP servers and their tools", 30) == "    the MCP servers and their\n      tools"
    assert (
        wrapped("/cost" + " " * 20 + "what this session took so far", 30) == "/cost  what this session took\n  so far"
    )
