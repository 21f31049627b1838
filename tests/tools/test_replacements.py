"""Properties of replacing: bytes outside the spans never change, whatever the file is like."""

from hypothesis import assume, given
from hypothesis import strategies as st

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.replacements import Replacement, replace_all
from trimtab.coding.tools.text_files import decode, encode, sniff
from trimtab.types.text import scrub

words = st.text(st.sampled_from("ab é\t日\udce9"), max_size=6)
ends = st.sampled_from(["\n", "\r\n", ""])
files = st.lists(st.tuples(words, ends), max_size=8).map(lambda rows: "".join(a + b for a, b in rows))
codecs = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])


@given(files, st.integers(0, 40), st.integers(1, 20), files, codecs)
def test_bytes_outside_the_span_are_untouched(text: str, start: int, length: int, new: str, codec: str) -> None:
    data = text.encode(codec, "surrogateescape" if codec.startswith("utf-8") else "ignore")
    encoding = sniff(data)
    assume(encoding is not None)
    assert encoding is not None
    original = decode(data, encoding)
    end = min(start + length, len(original))
    old = original[start:end]
    # a span that begins or ends inside CRLF isn't one that a model can name
    assume(old and "\r\n" not in (original[start - 1 : start + 1], original[end - 1 : end + 1]))
    try:
        edited = replace_all(original, [Replacement(old.replace("\r\n", "\n"), scrub(new))])
        after = encode(edited.text, encoding)
    except (ToolFailure, UnicodeEncodeError):
        return
    before, behind = encode(original[:start], encoding), encode(original[end:], encoding)[len(encoding.mark) :]
    assert after.startswith(before)
    assert after.endswith(behind)
    middle = after[len(before) : len(after) - len(behind)]
    assert middle.decode(encoding.name, encoding.errors).replace("\r\n", "\n") == scrub(new).replace("\r\n", "\n")


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
