"""Decision points: what is a candidate, what was needed, and what is kept."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.worked_sessions import facts, idle, point, points, worked
from trimtab.lab.corpora.facts import Facts, facts_at
from trimtab.lab.corpora.points import Kept, Point, kept_at, points_of, recall_at
from trimtab.lab.corpora.rankers import oracle
from trimtab.lab.corpora.trajectory import Place, trajectory_of

FIVE = [f"Bash show {n} | * name_of_{n}" for n in range(5)]
"""Five results that are large enough: messages 2, 4, 6, 8 and 10."""


def found(*lines: str) -> list[Point]:
    place = Place(name="s", project="p", family="f")
    return list(points_of(trajectory_of(worked(lines), place)))


def needed(*then: str) -> list[int]:
    """Numbers of the five results that are needed at request 40 when these requests follow it, and others that do nothing."""
    (point,) = found(*FIVE, *idle(35), *then, *idle(40 - len(then)))
    return [one.result for one, yes in zip(point.facts, point.needed, strict=True) if yes]


def known(*lines: str) -> list[Facts]:
    """Facts at the end of a session."""
    return list(facts_at(trajectory_of(worked(lines), Place(name="s")), len(lines)))


def test_there_is_a_point_every_forty_calls_as_long_as_forty_follow():
    assert [p.step for p in found(*FIVE, *idle(113))] == [40]
    assert [p.step for p in found(*FIVE, *idle(114))] == [40, 80]


def test_fewer_than_five_candidates_are_no_point():
    assert found(*FIVE[:4], *idle(76)) == []


def test_candidates_have_four_hundred_characters_and_are_ten_calls_old():
    assert [one.result for one in known("Bash a | *", "Bash b | short", *idle(8), "Bash c | *")] == [2]
    assert [one.result for one in known("Bash a | *", *idle(9))] == []
    assert [one.result for one in known("Bash a | *", *idle(10))] == [2]


def test_a_reading_of_a_file_that_was_read_again_is_no_candidate():
    assert [one.result for one in known("Read a.py | *", "Read a.py | *", *idle(10))] == [4]
    assert [one.result for one in known("Read a.py | *", *idle(10), "Read a.py | *")] == []


def test_the_facts_of_a_candidate_are_what_is_known_of_it():
    (one,) = known(
        "Read a.py | * parse_header parse_footer", "Edit a.py | done", "Bash grep parse_header | none", *idle(10)
    )
    assert one == Facts(2, 426, novel=2, uses=1, used=1, age=12, idle=10, edits=1, kind="read", error=False)


@pytest.mark.parametrize(
    ("tool", "kind"),
    [("Read", "read"), ("Grep", "search"), ("Edit", "edit"), ("Bash", "shell"), ("Task", "agent"), ("Fetch", "other")],
)
def test_a_result_is_of_the_kind_of_its_tool(tool, kind):
    assert [one.kind for one in known(f"{tool} a.py | *", *idle(10))] == [kind]


def test_a_result_is_needed_when_one_of_the_next_forty_calls_writes_what_it_was_the_first_to_show():
    assert needed("Bash grep name_of_3 | none") == [8]
    assert needed(*idle(39), "Bash grep name_of_3 | none") == [8]


def test_what_an_earlier_or_a_later_call_writes_does_not_count():
    (at_40, at_80) = found(*FIVE, *idle(34), "Bash grep name_of_3 | none", *idle(80))
    assert (any(at_40.needed), any(at_80.needed)) == (False, False)
    (point,) = found(*FIVE, *idle(75), "Bash grep name_of_3 | none")
    assert not any(point.needed)


def test_what_was_shown_again_since_the_decision_is_taken_from_there():
    assert needed("Bash cat | name_of_3", *idle(20), "Bash grep name_of_3 | none") == []


def test_what_was_shown_again_shortly_before_the_use_is_taken_from_there():
    (point,) = found(*FIVE, *idle(34), "Bash cat | name_of_3", "Bash grep name_of_3 | none", *idle(39))
    assert not any(point.needed)


def test_a_file_that_is_read_again_is_needed():
    (point,) = found("Read a.py | *", *FIVE, *idle(34), "Read a.py | *", *idle(39))
    assert [one.result for one, yes in zip(point.facts, point.needed, strict=True) if yes] == [2]


def test_the_best_are_kept_as_long_as_they_fit_and_what_does_not_fit_is_passed_over():
    candidates = point((300, True), (600, True), (100, True))
    assert kept_at(candidates, [1, 3, 2], 0.5) == Kept(kept=2, needed=3)
    assert kept_at(candidates, [1, 3, 2], 0.6) == Kept(kept=1, needed=3)


def test_of_equals_the_newer_is_kept():
    assert kept_at(point((100, False), (100, True)), [1, 1], 0.5) == Kept(kept=1, needed=1)


def test_recall_is_over_all_needed_results_of_all_points_together():
    one, three = point((100, True), (900, False)), point(*[(100, True)] * 3, (700, False))
    assert recall_at([one, three], [[1, 0], [0, 0, 0, 1]], 0.7) == 0.25
    assert math.isnan(recall_at([point((100, False))], [[1]], 0.5))


def test_a_point_knows_the_size_of_its_candidates():
    assert Point("s", "p", "f", 40, (facts(size=3), facts(size=4)), (True, False)).size == 7


@given(points, st.data())
def test_no_order_keeps_more_of_what_is_needed_than_the_oracle(candidates, data):
    scores = data.draw(st.lists(st.floats(-1, 1), min_size=len(candidates.facts), max_size=len(candidates.facts)))
    share = data.draw(st.floats(0, 1))
    kept = kept_at(candidates, scores, share)
    assert kept.kept <= kept_at(candidates, oracle(candidates), share).kept


@given(points)
def test_everything_is_kept_when_all_characters_are(candidates):
    assert kept_at(candidates, [0.0] * len(candidates.facts), 1.0) == Kept(
        sum(candidates.needed), sum(candidates.needed)
    )
