"""Replies taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.summary.reply import Malformed, Reply, parse_reply


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("<analysis>notes</analysis>\n<summary>\nrecord\n</summary>", Reply("record", "notes")),
        ("just a record", Reply("just a record")),
        ("<summary>record</summary>", Reply("record")),
        ("<analysis>notes</analysis> record", Reply("record", "notes")),
        ("Here:\n<analysis>n</analysis><summary>record</summary> done", Reply("record", "n")),
        ("<analysis>I'll write <summary> next</analysis><summary>r</summary>", Reply("r", "I'll write <summary> next")),
        ("<summary>uses the </summary> tag of HTML</summary>", Reply("uses the </summary> tag of HTML")),
        ("<think>hm</think><summary>r</summary>", Reply("r", "hm")),
        ("<Analysis>n</ANALYSIS><Summary>r</summary >", Reply("r", "n")),
        ("<analysis>only notes</analysis>", Reply("", "only notes")),
        ("", Reply("")),
    ],
)
def test_a_reply_is_taken_apart(text, reply):
    assert parse_reply(text) == reply


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<summary>record that was cu", "<summary> is not closed"),
        ("<analysis>notes <summary>record</summary>", "<analysis> is not closed"),
        ("<analysis>n</analysis><summary>a</summary><summary>b", "<summary> is not closed"),
        ("record</summary>", "</summary> closes nothing"),
        ("<think>still thinking", "<think> is not closed"),
    ],
)
def test_a_tag_that_does_not_close_is_rejected(text, reason):
    assert parse_reply(text) == Malformed(reason)


@given(
    st.lists(
        st.sampled_from(["<summary>", "</summary>", "<analysis>", "</analysis>", "<think>", "x", " "]), max_size=9
    ).map("".join)
)
def test_any_reply_has_an_outcome(text):
    reply = parse_reply(text)
    assert isinstance(reply, Malformed) or (reply.summary == reply.summary.strip())
