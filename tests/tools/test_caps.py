"""Cutting: on code points, on whole lines, and with a cut that tells the truth."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.tools.caps import Clip, head, head_and_tail, head_bytes, line_count, rows, tail, tail_bytes
from trimtab.types.tools import Cut

texts = st.text(st.sampled_from("ab\né🌍 "), max_size=60)
sizes = st.integers(0, 80)


def test_a_text_within_the_caps_is_whole() -> None:
    assert head("a\nb\n", lines=2, size=4) == Clip("a\nb\n")
    assert tail("a\nb", lines=2, size=3) == Clip("a\nb")


def test_the_head_keeps_whole_lines() -> None:
    assert head("one\ntwo\nthree\n", lines=9, size=9, where="f", more="go on") == Clip(
        "one\ntwo\n", Cut("lines", ((1, 2),), 3, "f", "go on")
    )


def test_the_tail_keeps_whole_lines() -> None:
    assert tail("one\ntwo\nthree\n", lines=9, size=9) == Clip("three\n", Cut("lines", ((3, 3),), 3))


def test_a_line_longer_than_the_cap_is_cut_inside_and_counted_in_bytes() -> None:
    assert head("ééé", lines=1, size=5) == Clip("éé", Cut("bytes", ((1, 4),), 6))
    assert tail("ééé", lines=1, size=5) == Clip("éé", Cut("bytes", ((3, 6),), 6))


def test_both_ends_say_what_is_between() -> None:
    text = "first\n" + "-" * 88 + "\nlast\n"
    assert head_and_tail(text, head_size=10, tail_size=10, where="log") == Clip(
        "first\n[… 89 bytes not shown …]\nlast\n", Cut("bytes", ((1, 6), (96, 100)), 100, "log")
    )


def test_rows_beyond_the_limit_are_counted() -> None:
    assert rows(["a", "b", "c"], limit=2, more="narrow it") == Clip(
        "a\nb", Cut("rows", ((1, 2),), 3, None, "narrow it")
    )
    assert rows(["a", "b"], limit=2, total=9) == Clip("a\nb", Cut("rows", ((1, 2),), 9))


@given(texts, sizes)
def test_a_cut_never_splits_a_code_point(text: str, size: int) -> None:
    first, last = head_bytes(text, size), tail_bytes(text, size)
    assert text.startswith(first)
    assert text.endswith(last)
    for kept in (first, last):
        assert len(kept.encode()) <= size
        assert kept == text or len(kept.encode()) > size - 4


@given(texts, st.integers(0, 9), sizes)
def test_head_and_tail_obey_both_caps_and_report_what_they_show(text: str, lines: int, size: int) -> None:
    for clip in (head(text, lines=lines, size=size), tail(text, lines=lines, size=size)):
        assert line_count(clip.text) <= lines
        assert len(clip.text.encode()) <= size
        assert (clip.cut is None) == (clip.text == text)
        if clip.cut is not None:
            count = line_count(clip.text) if clip.cut.unit == "lines" else len(clip.text.encode())
            assert sum(b - a + 1 for a, b in clip.cut.shown) == count
            assert clip.cut.total == (line_count(text) if clip.cut.unit == "lines" else len(text.encode()))


@given(texts, sizes, sizes)
def test_both_ends_add_up(text: str, head_size: int, tail_size: int) -> None:
    clip = head_and_tail(text, head_size=head_size, tail_size=tail_size)
    if clip.cut is None:
        assert clip.text == text
    else:
        shown = sum(b - a + 1 for a, b in clip.cut.shown)
        assert f"[… {len(text.encode()) - shown:,} bytes not shown …]" in clip.text
