"""What a terminal is shown of a text from outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.types.text import strip_terminal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "alink"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x9b2Jgone", "gone"),
        ("\x1bc\x1b(Breset", "reset"),
        ("a\r\nb\rc\x08\x00", "a\nbc"),
        ("left \u202eright", "left right"),
        ("tab\tline\n", "tab\tline\n"),
        ("ends in \x1b", "ends in "),
        ("run\U000e0001\U000e0072\U000e006d\U000e007f this", "run this"),
        (
            "Wales \U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f!",
            "Wales \U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f!",
        ),
        ("\U0001f3f4\U000e0072", "\U0001f3f4"),
    ],
)
def test_a_terminal_gets_the_words_and_no_power(text: str, shown: str) -> None:
    assert strip_terminal(text) == shown


@given(st.text(st.characters(codec="utf-8") | st.sampled_from("\x1b[]\\;0m\x07\x9b\r\u202e")))
def test_what_is_stripped_holds_no_control_and_stays_as_it_is(text: str) -> None:
    shown = strip_terminal(text)
    assert not set(shown) & {chr(c) for c in (*range(9), *range(11, 32), *range(127, 160), 0x202E)}
    assert strip_terminal(shown) == shown
