"""How often names stand in a text is one count, however many names there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context import strings
from trimtab.context.strings import distinctive_strings, times_in

PIECES = [
    "src/aaaa.py",
    "aaaa.py",
    "aaaaaaaa1",
    "aaaa_aaaa",
    "/",
    ".",
    " ",
    "\n",
    "a",
    "é",
    "0123456789ab",
    "camelCase",
    "(",
]


@given(text=st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
def test_in_one_pass_it_is_what_a_search_for_each_gives(text: str) -> None:
    names = distinctive_strings(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_COUNTED_PLAINLY", -1)
        assert times_in(text, names) == [text.count(name) for name in names]


def test_one_name_may_stand_in_another_and_beside_itself() -> None:
    text = "src/parse_it.py parse_it.py parse_it.pyparse_it.py"
    assert times_in(text, ["src/parse_it.py", "parse_it.py"]) == [1, 4]
