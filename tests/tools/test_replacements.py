"""Properties of replacing: bytes outside the spans never change, whatever the file is like."""

from hypothesis import assume, given
from hypothesis import strategies as st

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.replacements import Replacement, replace_all
from trimtab.coding.tools.text_files import decode, encode, sniff

words = st.text(st.sampled_from("ab é\t日\udce9"), max_size=6)
ends = st.sampled_from(["\n", "\r\n", ""])
files = st.lists(st.tuples(words, ends), max_size=8).map(lambda rows: "".join(a + b for a, b in rows))
codecs = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"])


@given(files, st.integers(0, 40), st.integers(1, 20), files, codecs)
def test_bytes_outside_the_span_are_untouched(text: str, start: int, length: int, new: str, codec: str) -> None:
    data = text.encode(codec, "ignore")
    encoding = sniff(data)
    assume(encoding is not None)
    assert encoding is not None
    original = decode(data, encoding)
    old = original[start : start + length]
    # a span that begins or ends inside CRLF isn't one that a model can name
    assume(old and not old.startswith("\n") and not old.endswith("\r") and old.isprintable() | ("\n" in old))
    try:
        edited = replace_all(original, [Replacement(old.replace("\r\n", "\n"), new)])
        after = encode(edited.text, encoding)
    except (ToolFailure, UnicodeEncodeError):
        return
    at = original.find(old) if original.count(old) else start
    head, tail = encode(original[:at], encoding), original[at + len(old) :].encode(encoding.name, encoding.errors)
    assert after.startswith(head)
    assert after.endswith(tail)
    assert decode(after, encoding)[at : len(edited.text) - len(original[at + len(old) :])].replace("\r\n", "\n") == (
        new.replace("\r\n", "\n")
    )
    assert "\r\r\n" not in edited.text or "\r\r\n" in original + new


@given(st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), unique=True, min_size=1), st.text("xy\n", max_size=4))
def test_replacements_are_independent_of_their_order(names: list[str], new: str) -> None:
    text = "a\nb\r\nc\nd\r\ne\n"
    edits = [Replacement(name, new + name.upper()) for name in names]
    assert replace_all(text, edits) == replace_all(text, edits[::-1])


@given(files, files)
def test_the_lines_reported_hold_the_new_text(text: str, new: str) -> None:
    edited = replace_all(text + "\nUNIQUE\n" + text, [Replacement("UNIQUE", new + "!")])
    first, last = edited.lines[0]
    lines = edited.text.replace("\r\n", "\n").split("\n")
    assert "\n".join(lines[first - 1 : last]) == new.replace("\r\n", "\n") + "!"
