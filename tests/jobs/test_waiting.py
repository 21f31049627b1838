"""A text that is waited for is found wherever in the output it stands."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.jobs.waiting import Search
from trimtab.coding.tools.terminal import plain


@given(
    st.lists(st.sampled_from(["a", "b", "é", "\n", "\x1b[1m", "ab\n"]), max_size=30),
    st.lists(st.integers(1, 9), max_size=9),
    st.text("abé", min_size=1, max_size=4),
)
def test_a_search_finds_what_the_whole_holds_however_it_comes_in(
    printed: list[str], cuts: list[int], text: str
) -> None:
    whole = "".join(printed).encode()
    search, there, at = Search(text), False, 0
    with TemporaryDirectory() as folder:
        file = Path(folder, "output")
        for size in (*cuts, len(whole)):
            at = min(at + size, len(whole))
            file.write_bytes(whole[:at])
            there = there or search.goes_on_in(file)
    assert there == (text in plain("".join(printed)))
