"""A cap keeps head and tail, says in data what it shows, and is cheap for any text."""

from trimtab.context.shorten.cap import cap_text, fit
from trimtab.types.tools import Cut

LINES = "".join(f"line {i} of the log\n" for i in range(1000))


def count(text: str) -> int:
    """A token for every four characters begun."""
    return -(-len(text) // 4)


def test_a_text_within_the_limit_stays_and_has_no_cut():
    assert cap_text("short", 2, count) == ("short", None)
    assert cap_text("", 0, count) == ("", None)


def test_a_cut_between_lines_is_told_in_lines_and_says_where_the_whole_is():
    shown, cut = cap_text(LINES, 60, count, key="4kq2m7xa", where="/tmp/log", next_step="read it with offset")
    assert cut == Cut("lines", ((1, 6), (998, 1000)), 1000, "/tmp/log", "read it with offset")
    assert shown == (
        "".join(f"line {i} of the log\n" for i in range(6))
        + "[… 991 lines, 7-997 ~4kq2m7xa]\n"
        + "".join(f"line {i} of the log\n" for i in range(997, 1000))
    )


def test_a_cut_of_numbered_lines_speaks_of_their_numbers():
    text = "".join(f"{i:6}→line {i}\n" for i in range(101, 500))
    shown, _ = cap_text(text, 40, count)
    assert shown == (
        "   101→line 101\n   102→line 102\n   103→line 103\n   104→line 104\n"
        "[… 392 lines, 105-496]\n   497→line 497\n   498→line 498\n   499→line 499\n"
    )


def test_one_long_line_is_told_in_characters():
    shown, cut = cap_text("a" * 5000 + "b" * 5000, 100, count)
    assert cut is not None
    assert cut.unit == "chars"
    assert cut.total == 10_000
    (_, head), (tail, _) = cut.shown
    assert shown == "a" * head + f"[… {tail - head - 1:,} chars]" + "b" * (10_001 - tail)
    assert 80 <= count(shown) <= 100


def test_an_emoji_is_not_torn_apart():
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    for limit in range(20, 40):
        shown, cut = cap_text(family * 100, limit, count)
        assert cut is not None
        head, tail = shown.split("[")[0], shown.split("]")[1]
        assert not head.endswith("\u200d")
        assert not tail.startswith("\u200d")


def test_a_limit_below_the_mark_leaves_the_start_alone():
    assert cap_text(LINES, 2, count) == ("line 0 o", Cut("chars", ((1, 8),), len(LINES)))
    assert cap_text(LINES, 0, count) == ("", Cut("chars", (), len(LINES)))


def test_a_counter_that_is_not_additive_is_still_obeyed():
    def jumpy(text: str) -> int:
        return count(text) + 3 * text.count("log\n[") + text.count("line")

    shown, _ = cap_text(LINES, 80, jumpy)
    assert jumpy(shown) <= 80


def test_a_text_of_blanks_that_counts_little_is_cut_all_the_same():
    shown, cut = cap_text(" " * 100_000, 1_000, lambda text: len(text) // 1000)
    assert cut is not None
    assert len(shown) < 40_000


def test_fit_finds_a_start_close_to_the_limit_in_few_counts():
    calls = 0

    def counting(text: str) -> int:
        nonlocal calls
        calls += 1
        return count(text)

    length = fit("word " * 100_000, 10_000, counting)
    assert 39_000 <= length <= 40_000
    assert calls <= 12
