"""What an answer is worth, and whether it rests on what was looked at."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.tasks.registry import make_task
from trimtab.lab.tasks.score import Chances, expected_success, holds, needs_in, own_answers, score, verdict_of
from trimtab.lab.tasks.task import KeyPoint, Level, Question, Task
from trimtab.sessions.recorded import Recording

ASKED = Question("How much?", 5, ("48,213.77",), (0,), ("48,213.71",))
WHO = Question("Who?", 7, ("Ada K. Abara",), (1,))
SMALL = Task(
    "hand-made",
    1,
    Level(),
    Recording("t", "generated", "m", ()),
    (KeyPoint("48,213.77", "number", 2, (5, 7)), KeyPoint("Ada K. Abara", "name", 4, (7,))),
    (ASKED, WHO),
)
ways = st.sampled_from(["verbatim", "summary", "reload", "miss"])


def test_an_answer_is_right_when_it_holds_a_right_text_and_no_wrong_one():
    assert verdict_of(ASKED, "It is 48,213.77 EUR.") == "right"
    assert verdict_of(ASKED, "48,213.77 or 48,213.71") == "wrong"
    assert verdict_of(ASKED, "about 48,000") == "wrong"
    assert (verdict_of(ASKED, " "), verdict_of(ASKED, None)) == ("missing", "missing")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("(48,213.77)", True),
        ("48,213.77.", True),
        ("148,213.77", False),
        ("1,48,213.77", False),
        ("48,213.775", False),
        ("48,213.77,1", False),
    ],
)
def test_a_number_within_a_longer_number_is_another_number(answer, found):
    assert holds(answer, "48,213.77") is found


def test_case_and_blanks_do_not_matter_but_whole_words_do():
    assert holds("it was\nADA  k. abara", "Ada K. Abara")
    assert not holds("Ada K. Abaras", "Ada K. Abara")


def test_a_right_answer_without_a_look_is_luck():
    right = {ASKED.text: "48,213.77", WHO.text: "Ada K. Abara"}
    told = score(SMALL, right, {(0, 5): "verbatim", (0, 7): "miss", (1, 7): "summary"})
    assert [(m.verdict, m.looked) for m in told.marks] == [("right", True), ("right", False)]
    assert (told.right, told.grounded, told.lucky) == (1.0, 0.5, 1)


def test_a_reload_is_a_look_at_the_raw_fragment():
    told = score(SMALL, {WHO.text: "Ada K. Abara"}, {(1, 7): "reload"})
    assert [(m.verdict, m.looked) for m in told.marks] == [("missing", False), ("right", True)]


def test_expected_success_is_the_product_over_all_needs():
    chances = Chances(verbatim=1.0, summary=0.9, reload=0.8, miss=0.5)
    told = score(SMALL, {}, {(0, 5): "summary", (0, 7): "reload"}, chances=chances)
    assert told.expected == pytest.approx(0.9 * 0.8 * 0.5)
    assert told.served == {"verbatim": 0, "summary": 1, "reload": 1, "miss": 1}


def test_a_need_that_the_task_does_not_have_is_refused():
    with pytest.raises(ValueError, match=r"no needs \[\(1, 5\)\]"):
        score(SMALL, {}, {(1, 5): "verbatim"})


def test_a_story_that_showed_everything_is_a_full_score():
    task = make_task("document-qa", 3, Level())
    told = score(task, own_answers(task), dict.fromkeys(needs_in(task), "verbatim"))
    assert (told.right, told.grounded, told.lucky, told.expected) == (1.0, 1.0, 0, 1.0)


@given(st.lists(ways), ways)
def test_one_more_need_never_makes_success_more_likely(served, more):
    chances = Chances(summary=0.9, miss=0.1)
    assert 0.0 <= expected_success([*served, more], chances) <= expected_success(served, chances) <= 1.0
