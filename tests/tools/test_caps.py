"""Cutting on code points, and counting lines."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.tools.caps import head_bytes, line_count

texts = st.text(st.sampled_from("ab\né🌍 "), max_size=60)
sizes = st.integers(0, 80)


@given(texts, sizes)
def test_a_cut_never_splits_a_code_point(text: str, size: int) -> None:
    kept = head_bytes(text, size)
    assert text.startswith(kept)
    assert len(kept.encode()) <= size
    assert kept == text or len(kept.encode()) > size - 4


@given(texts)
def test_lines_are_counted_as_a_person_counts_them(text: str) -> None:
    assert line_count(text) == len(text.split("\n")) - (text.endswith("\n") or not text)
