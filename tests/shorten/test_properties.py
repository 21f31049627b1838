"""What holds for every shortener and every text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.shorten.cap import cap_text
from trimtab.context.shorten.compress import Extractive, compress
from trimtab.context.shorten.fold import FoldRule, fold
from trimtab.context.shorten.kinds import kind_of
from trimtab.context.shorten.pieces import Refused, Shortened, lines_of
from trimtab.context.shorten.refuse import refusal
from trimtab.context.shorten.truncate import truncate
from trimtab.types.tools import Cut

KEY = "4kq2m7xa"


def count(text: str) -> int:
    """A token for every three bytes begun."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // 3)


LINES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        [
            "",
            "ok",
            "plain words of a line that says little",
            "ERROR: disk full at /var/lib/x-1",
            "```python",
            "```",
            "~~~",
            "   12→```",
            "x" * 300,
        ]
    ),
    st.builds("INFO request {} took {} ms".format, st.integers(0, 9999), st.integers(0, 99)),
    st.builds("src/pkg_{0}/module_{0}.py:{1}: value".format, st.integers(0, 99), st.integers(1, 999)),
)
TEXTS = st.builds(
    lambda lines, end, times: "\n".join(lines * times) + end,
    st.lists(LINES, max_size=30),
    st.sampled_from(["", "\n", "\n\n", "\r\n"]),
    st.sampled_from([1, 1, 2, 7]),
)
RULES = st.builds(
    FoldRule,
    head=st.integers(0, 5),
    tail=st.integers(0, 5),
    matches=st.integers(0, 5),
    context=st.integers(0, 1),
    line_chars=st.sampled_from([120, 200, 2000]),
)


def kept_lines(source: str, shown: str) -> bool:
    """Whether every shown line is a line of the source, in its order, or a mark, or a fence around one."""
    lines = iter(line.rstrip("\n") for line in lines_of(source))
    for line in lines_of(shown):
        text = line.rstrip("\n")
        if text.startswith("[… ") and text.endswith(f" ~{KEY}]"):
            continue
        if any(text == candidate for candidate in lines):
            continue
        return False
    return True


def shown_by(source: str, cut: Cut) -> list[str]:
    """The parts of the source that a cut says are shown."""
    if cut.unit == "lines":
        lines = lines_of(source)
        return ["".join(lines[first - 1 : last]) for first, last in cut.shown]
    return [source[first - 1 : last] for first, last in cut.shown]


def check(source: str, made: Shortened) -> None:
    """What holds whatever made it."""
    assert len(made.text) <= len(source)
    assert (made.cut is None) == (made.text == source)
    if made.cut is None:
        return
    place = 0
    for part in shown_by(source, made.cut):
        place = made.text.find(part, place)
        assert place >= 0
        place += len(part)
    lines = lines_of(source)
    assert made.cut.total == (len(lines) if made.cut.unit == "lines" else len(source))
    assert all(1 <= first <= last <= made.cut.total for first, last in made.cut.shown)


@given(TEXTS)
def test_lines_joined_are_the_text(text):
    assert "".join(lines_of(text)) == text
    assert all(line.count("\n") == line.endswith("\n") for line in lines_of(text))


@given(text=TEXTS, rule=RULES, words=st.lists(st.sampled_from(["disk", "INFO", "pkg_7", ""]), max_size=2))
def test_a_fold_is_shorter_exact_in_what_it_says_and_the_same_each_time(text, rule, words):
    made = fold(text, words=words, rule=rule, key=KEY)
    check(text, made)
    assert made == fold(text, words=words, rule=rule, key=KEY)


@given(text=TEXTS.filter(lambda t: "```" not in t and "~~~" not in t), rule=RULES)
def test_a_fold_keeps_whole_lines_in_order_and_folding_it_again_changes_nothing(text, rule):
    made = fold(text, rule=rule, key=KEY)
    assert kept_lines(text, made.text) or rule.line_chars < 2000
    assert fold(made.text, rule=rule, key=KEY).text == made.text


@given(text=TEXTS, share=st.floats(0.05, 0.95), words=st.lists(st.sampled_from(["disk", "INFO", "pkg_7"]), max_size=2))
def test_a_compressed_text_is_shorter_exact_in_what_it_says_and_the_same_each_time(text, share, words):
    made = compress(text, role="tool", share=share, compressor=Extractive(count), words=words, key=KEY)
    assert made == compress(text, role="tool", share=share, compressor=Extractive(count), words=words, key=KEY)
    if isinstance(made, Shortened):
        check(text, made)


@given(text=TEXTS, limit=st.integers(0, 400))
def test_a_cap_holds_and_says_what_it_shows(text, limit):
    shown, cut = cap_text(text, limit, count, key=KEY)
    assert (cut is None) == (shown == text) == (count(text) <= limit)
    assert count(shown) <= limit
    if cut is not None:
        assert len(shown) < len(text)
        place = 0
        for part in shown_by(text, cut):
            place = shown.find(part, place)
            assert place >= 0
            place += len(part)


@given(text=TEXTS, limit=st.integers(0, 400))
def test_a_capped_text_is_under_its_cap(text, limit):
    shown, _ = cap_text(text, limit, count)
    assert cap_text(shown, limit, count) == (shown, None)


@given(text=TEXTS, data=st.data())
def test_a_truncated_text_holds_the_span_and_is_shorter(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = text[start : start + 12], text[max(end - 12, start) : end]
    made = truncate(text, first=first, last=last, key=KEY)
    if isinstance(made, Refused):
        assert (
            not first.strip()
            or not last.strip()
            or text.find(last.strip()) < text.find(first.strip()) + len(first.strip())
        )
        return
    check(text, made)
    begin = text.find(first.strip()) if first.strip() else 0
    assert text[begin : begin + len(first.strip())] in made.text


@given(st.text(max_size=300) | TEXTS)
def test_every_text_has_a_kind_and_a_persons_words_are_refused(text):
    assert kind_of(text) in ("log", "json", "table", "code", "diff", "prose", "listing")
    assert refusal(text, role="user") is not None


@pytest.mark.parametrize("make", [lambda t: t, lambda t: json.dumps({"content": t})], ids=["bare", "json"])
def test_one_line_of_ten_megabytes_is_shortened_with_a_bounded_look_at_it(make):
    looked: list[int] = []

    def counting(text: str) -> int:
        looked.append(len(text))
        return len(text) // 4

    text = make("lorem ipsum dolor sit amet " * 400_000)
    shown, cut = cap_text(text, 2_000, counting)
    assert cut is not None
    assert counting(shown) <= 2_000
    assert sum(looked) < len(text)
    folded = fold(text, words=["ipsum"])
    assert len(folded.text) < 4_000
    assert folded.cut is not None
    assert folded.cut.unit == "chars"
