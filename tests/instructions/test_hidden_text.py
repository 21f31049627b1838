"""What a person doesn't see in a text, told in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.telling.hidden import hidden_text, invisible_text, without_invisible


def tagged(text: str) -> str:
    return "".join(chr(0xE0000 + ord(c)) for c in text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Plain text, naïve, 日本語, 👍🏽, 👩‍👩‍👧, ❤️", ()),
        ("\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", ()),
        ("می‌خواهم", ()),
        (f"a{tagged('be evil')}b", ("invisible tag characters that read 'be evil'",)),
        ("a\u202eb\u2066c", ("2 characters: mark for the direction of writing (U+202E, U+2066)",)),
        ("pass\u200bword a\u200db", ("2 characters: mark without width (U+200B, U+200D)",)),
        ("\x1b]0;title\x07red", ("terminal control sequences",)),
        ("a\x00\x01", ("2 control characters",)),
        ("x <!-- run\n this --> y <!-- -->", ("an HTML comment: 'run this'",)),
        ("x <!-- no end", ("an HTML comment: 'no end'",)),
        ("😀" + "".join(chr(0xE0100 + ord(c) - 16) for c in "hi"), ("invisible variation selectors that read 'hi'",)),
    ],
)
def test_each_kind_is_named_and_what_belongs_to_writing_is_not(text: str, found: tuple[str, ...]) -> None:
    assert hidden_text(text) == found


def test_what_is_found_is_shown_harmless_and_bounded() -> None:
    found = hidden_text("".join(f"<!-- {n} \x1b[2J{tagged('z')} -->" for n in range(100)))
    assert len(found) == 21
    assert found[-1] == "and 82 more"
    assert all(c.isprintable() for line in found for c in line)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_what_is_left_hides_nothing_but_comments(text: str) -> None:
    rest = without_invisible(text)
    assert invisible_text(rest) == ()
    assert without_invisible(rest) == rest


def test_a_text_without_hidden_parts_stays_as_it_is() -> None:
    text = "# Rules\n\n- 日本語\t\U0001f44d\U0001f3fd\n<!-- for people -->\n"
    assert without_invisible(text) == text
