"""A fold keeps head, tail and what matters, and says what it left out."""

import re

from trimtab.context.shorten.failures import speaks_of_failure
from trimtab.context.shorten.fold import FoldRule, fold
from trimtab.types.tools import Cut

KEY = "4kq2m7xa"
FEW = FoldRule(head=2, tail=1, matches=2)


def log(*lines: str, n: int = 20) -> str:
    """Lines with `n` plain ones in front of and behind each."""
    plain = "".join(f"step {i} did what it should\n" for i in range(n))
    return plain + "".join(f"{line}\n{plain}" for line in lines)


def test_head_tail_and_failures_stay_with_counted_and_numbered_gaps_between():
    made = fold(log("ERROR: disk full"), rule=FEW, key=KEY)
    assert made.text == (
        "step 0 did what it should\n"
        "step 1 did what it should\n"
        f"[… 18 lines, 3-20 ~{KEY}]\n"
        "ERROR: disk full\n"
        f"[… 19 lines, 22-40 ~{KEY}]\n"
        "step 19 did what it should\n"
    )
    assert made.cut == Cut("lines", ((1, 2), (21, 21), (41, 41)), 41)


def test_a_short_text_stays_as_it_is():
    assert fold("one\ntwo\n", rule=FoldRule(head=0, tail=0)).text == "one\ntwo\n"
    assert fold("").text == ""


def test_words_of_the_goal_are_kept_in_any_case_and_read_literally():
    made = fold(log("the Parser.parse(a+b) call", "nothing"), words=["parser.PARSE(a+b)"], rule=FEW)
    assert "the Parser.parse(a+b) call\n" in made.text
    assert "nothing" not in made.text


def test_a_thousand_equal_warnings_leave_room_for_the_one_error():
    warnings = [f"warning: unused variable {i}" for i in range(200)]
    made = fold(log(*warnings[:100], "error: undefined name 'x'", *warnings[100:], n=1), rule=FEW)
    assert "error: undefined name 'x'\n" in made.text


def test_a_common_word_leaves_room_for_the_one_error():
    made = fold(log(*["a step of the build"] * 50, "fatal: no such ref", n=2), words=["build"], rule=FEW)
    assert "fatal: no such ref\n" in made.text


def test_lines_around_a_match_stay_with_context():
    made = fold(log("panic: nil map"), rule=FoldRule(head=0, tail=0, context=1))
    assert "step 19 did what it should\npanic: nil map\nstep 0 did what it should\n" in made.text


def test_patterns_of_code_match_too_and_failures_can_be_left_out():
    text = log("ticket ABC-123", "error: x")
    made = fold(text, rule=FoldRule(head=0, tail=0, failures=False, patterns=(re.compile(r"[A-Z]+-\d+"),)))
    assert "ticket ABC-123\n" in made.text
    assert "error: x" not in made.text


def test_numbers_that_a_tool_printed_stay_on_their_lines():
    text = "".join(f"{i:6}→line {i} of the file\n" for i in range(1, 60))
    made = fold(text, rule=FoldRule(head=1, tail=1), key=KEY)
    assert made.text == f"     1→line 1 of the file\n[… 57 lines, 2-58 ~{KEY}]\n    59→line 59 of the file\n"


def test_a_gap_speaks_of_the_numbers_that_the_lines_around_it_have():
    text = "of a file:\n" + "".join(f"{i:6}→line {i}\n" for i in range(101, 160))
    made = fold(text, rule=FoldRule(head=2, tail=1), key=KEY)
    assert made.text == f"of a file:\n   101→line 101\n[… 57 lines, 102-158 ~{KEY}]\n   159→line 159\n"
    assert made.cut == Cut("lines", ((1, 2), (60, 60)), 60)


def test_a_code_block_that_is_cut_is_closed_and_opened_again_and_the_mark_says_so():
    block = "".join(f"value_{i} = {i}\n" for i in range(40))
    made = fold(f"Intro.\n```python\n{block}raise SystemError\n```\nEnd.\n", rule=FoldRule(head=3, tail=2), key=KEY)
    assert made.text == (
        "Intro.\n```python\nvalue_0 = 0\n```\n"
        f"[… 39 lines of a code block, 4-42 ~{KEY}]\n"
        "```python\nraise SystemError\n```\nEnd.\n"
    )


def test_a_block_that_is_left_out_whole_leaves_no_fence():
    block = "".join(f"value_{i} = {i}\n" for i in range(40))
    made = fold(f"Intro.\n```python\n{block}```\nEnd.\n", rule=FoldRule(head=1, tail=1), key=KEY)
    assert made.text == f"Intro.\n[… 42 lines, 2-43 ~{KEY}]\nEnd.\n"


def test_a_lone_fence_opens_nothing():
    text = 'doc = """\n```\n' + "".join(f"value_{i} = {i}\n" for i in range(40)) + "end\n"
    assert "code block" not in fold(text, rule=FoldRule(head=3, tail=1)).text


def test_a_longer_fence_holds_shorter_ones():
    inner = "".join(f"value_{i} = {i}\n" for i in range(40))
    made = fold(f"````md\n```python\n{inner}```\n````\nEnd.\n", rule=FoldRule(head=2, tail=2), key=KEY)
    assert made.text == (f"````md\n```python\n````\n[… 41 lines of a code block, 3-43 ~{KEY}]\n````md\n````\nEnd.\n")


def test_a_long_line_keeps_its_start_and_end():
    made = fold("a" * 500 + "b" * 500, rule=FoldRule(line_chars=138), key=KEY)
    assert made.text == "a" * 60 + f"[… 910 chars ~{KEY}]" + "b" * 30
    assert made.cut == Cut("chars", ((1, 60), (971, 1000)), 1000)


def test_reports_of_failures_are_told_from_words_that_look_like_them():
    for line in (
        "TypeError: x",
        "--- FAIL: TestX",
        "1 failed, 2 passed",
        "warning: unused",
        "E   assert 1 == 2",
        "timed out",
    ):
        assert speaks_of_failure(line)
    for line in ("a terror", "I forgot it", "every time", "e2e   run", ""):
        assert not speaks_of_failure(line)
