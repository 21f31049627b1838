"""Truncate keeps the span that was quoted."""

from trimtab.context.shorten.pieces import Refused, Shortened
from trimtab.context.shorten.truncate import truncate
from trimtab.types.tools import Cut

KEY = "4kq2m7xa"
TEXT = "".join(f"Sentence number {i} stands on its own line.\n" for i in range(20))


def test_the_span_is_kept_verbatim_between_two_marks():
    made = truncate(TEXT, first="Sentence number 7 stands", last="number 8 stands on its own line.", key=KEY)
    assert made == Shortened(
        f"[… 7 lines, 1-7 ~{KEY}]\nSentence number 7 stands on its own line.\n"
        f"Sentence number 8 stands on its own line.\n[… 11 lines, 10-20 ~{KEY}]\n",
        Cut("lines", ((8, 9),), 20),
    )


def test_a_span_inside_lines_is_cut_in_characters():
    made = truncate(
        "word " * 30 + "Here it starts, and here it ends. " + "word " * 30, first="Here it", last="it ends.", key=KEY
    )
    assert made == Shortened(
        f"[… 150 chars ~{KEY}]Here it starts, and here it ends.[… 151 chars ~{KEY}]", Cut("chars", ((151, 183),), 334)
    )


def test_without_a_first_sentence_it_starts_at_the_start_and_without_a_last_it_ends_at_the_end():
    head = truncate(TEXT, last="number 0 stands on its own line.", key=KEY)
    tail = truncate(TEXT, first="Sentence number 19", key=KEY)
    assert isinstance(head, Shortened)
    assert isinstance(tail, Shortened)
    assert head.text == f"Sentence number 0 stands on its own line.\n[… 19 lines, 2-20 ~{KEY}]\n"
    assert tail.text == f"[… 19 lines, 1-19 ~{KEY}]\nSentence number 19 stands on its own line.\n"


def test_the_first_place_of_each_sentence_counts():
    text = "\n".join(["begin", "x" * 60, "end", "y" * 60, "begin", "end", "z" * 60])
    made = truncate(text, first="begin", last="end", key=KEY)
    assert isinstance(made, Shortened)
    assert made.text == "begin\n" + "x" * 60 + f"\nend\n[… 4 lines, 4-7 ~{KEY}]"


def test_one_sentence_may_be_both():
    made = truncate(TEXT, first="Sentence number 7", last="Sentence number 7", key=KEY)
    assert isinstance(made, Shortened)
    assert made.text.startswith(f"[… 7 lines, 1-7 ~{KEY}]\nSentence number 7[… ")


def test_a_quote_with_other_line_breaks_is_found():
    made = truncate(TEXT, first="number 3 stands on its own line. Sentence number 4 stands", last="5  stands", key=KEY)
    assert isinstance(made, Shortened)
    assert "Sentence number 4 stands on its own line.\nSentence number 5 stands[…" in made.text


def test_a_span_inside_a_code_block_stays_in_one():
    block = "".join(f"value_{i} = {i}\n" for i in range(40))
    made = truncate(f"Intro.\n```python\n{block}```\nEnd.\n", first="value_10 = 10", last="value_11 = 11", key=KEY)
    assert isinstance(made, Shortened)
    assert made.text == (
        f"[… 12 lines of a code block, 1-12 ~{KEY}]\n```python\nvalue_10 = 10\nvalue_11 = 11\n```\n[… 30 lines of a code block, 15-44 ~{KEY}]\n"
    )


def test_a_sentence_that_is_not_there_is_named():
    assert truncate(TEXT, first="Nowhere to be seen", last="x") == Refused(
        "the first sentence 'Nowhere to be seen' is not in the text; quote it exactly as it stands there"
    )
    assert truncate(TEXT, last="Nowhere") == Refused(
        "the last sentence 'Nowhere' is not in the text; quote it exactly as it stands there"
    )


def test_a_last_sentence_in_front_of_the_first_is_told_apart_from_a_missing_one():
    assert truncate(TEXT, first="number 9", last="number 2") == Refused(
        "the last sentence 'number 2' stands only in front of the first one 'number 9'"
    )


def test_no_sentence_at_all_is_refused():
    assert truncate(TEXT, first=" ", last="") == Refused(
        "truncate needs the first or the last sentence to keep, quoted from the text"
    )
