"""Baselines on decision points, and how sure their figures are."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.worked_sessions import facts, point
from trimtab.lab.corpora.intervals import Interval, auc, difference, recall_interval
from trimtab.lab.corpora.points import Point, scored
from trimtab.lab.corpora.rankers import (
    COLUMNS,
    baselines,
    by_chance,
    fitted,
    lru,
    newest,
    oracle,
    random_order,
    row_of,
    scores_of,
    smallest,
)

OLD_AND_USED = facts(1, size=4_000, novel=9, uses=3, used=4, age=60, idle=5)
NEW_AND_SMALL = facts(2, size=500, age=12, idle=12)


def pick(ranker, *candidates):
    """The number of the result that a ranker keeps first."""
    scores = ranker(Point("s", "p", "f", 40, candidates, (False,) * len(candidates)))
    return candidates[max(range(len(scores)), key=lambda n: scores[n])].result


def test_each_baseline_keeps_first_what_its_name_says():
    both = (OLD_AND_USED, NEW_AND_SMALL)
    assert [pick(ranker, *both) for ranker in (lru, newest, smallest)] == [1, 2, 2]


def test_the_oracle_takes_needed_results_the_smallest_first():
    assert oracle(point((300, True), (200, False), (100, True))) == [-300, -math.inf, -100]


def test_a_random_order_is_the_same_for_a_seed_and_another_for_the_next():
    candidates = point(*[(100, False)] * 9)
    assert random_order(1)(candidates) == random_order(1)(candidates)
    assert random_order(1)(candidates) != random_order(2)(candidates)
    assert random_order(1)(candidates) != random_order(1)(point(*[(100, False)] * 9, step=80))


def test_a_row_has_a_value_for_each_column():
    assert dict(zip(COLUMNS, row_of(OLD_AND_USED), strict=True)) == {
        "size": pytest.approx(math.log(4_001)),
        "novel": pytest.approx(math.log(10)),
        "uses": pytest.approx(math.log(4)),
        "used": pytest.approx(math.log(5)),
        "age": pytest.approx(math.log(61)),
        "idle": pytest.approx(math.log(6)),
        "edits": 0.0,
        "unused": 0.0,
        "error": 0.0,
        "read": 0.0,
        "search": 0.0,
        "edit": 0.0,
        "shell": 0.0,
        "agent": 0.0,
        "other": 1.0,
    }


def test_a_regression_learns_that_what_was_used_is_used_again():
    seen = Point("s", "p", "f", 40, (OLD_AND_USED, NEW_AND_SMALL) * 10, (True, False) * 10)
    model = fitted([seen])
    assert pick(by_chance(model), OLD_AND_USED, NEW_AND_SMALL) == 1


def test_a_chance_counts_for_less_the_larger_its_result_and_the_power_says_how_much():
    used, same_but_small = OLD_AND_USED, facts(3, size=40, novel=9, uses=3, used=4, age=60, idle=5)
    model = fitted([Point("s", "p", "f", 40, (used, NEW_AND_SMALL) * 10, (True, False) * 10)])
    asked = Point("s", "p", "f", 40, (used, same_but_small), (True, True))
    plain, root = by_chance(model)(asked), by_chance(model, power=0.5)(asked)
    assert root == pytest.approx([plain[0] / math.sqrt(4_000), plain[1] / math.sqrt(40)])


def test_all_baselines_are_judged_and_compared_with_one_of_them():
    seen = [
        Point(session, "p", "f", 40, (OLD_AND_USED, NEW_AND_SMALL) * 3, (True, False) * 3) for session in ("a", "b")
    ]
    found = {score.ranker: score for score in scores_of(seen, baselines(seen), base="newest", share=0.9)}
    assert found["oracle"].auc == 1.0
    assert found["newest"].gain == Interval(0, 0, 0)
    assert {
        "curved",
        "logistic/0.7",
        "logistic/root",
        "logistic",
        "lru",
        "smallest",
        "random",
        "largest",
    } < found.keys()


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=15))
def test_the_area_is_the_share_of_pairs_in_the_right_order(pairs):
    yes = [score for score, flag in pairs if flag]
    no = [score for score, flag in pairs if not flag]
    found = auc([score for score, _ in pairs], [flag for _, flag in pairs])
    if yes and no:
        right = sum((y > n) + (y == n) / 2 for y in yes for n in no)
        assert found == pytest.approx(right / (len(yes) * len(no)))
    else:
        assert math.isnan(found)


def sized(session: str, *, kept: bool, count: int) -> list[Point]:
    """Points of a session at which `smallest` keeps what is needed, or doesn't."""
    candidates = ((100, kept), (900, not kept))
    return [point(*candidates, session=session, step=40 * n) for n in range(1, count + 1)]


def test_points_of_one_session_do_not_make_a_figure_sure():
    many = [*sized("a", kept=True, count=50), *sized("b", kept=False, count=50)]
    found = recall_interval(many, scored(many, smallest), 0.5)
    assert found == Interval(0.5, 0.0, 1.0)


def test_more_sessions_make_it_surer():
    many = [one for n in range(50) for one in sized(str(n), kept=n % 2 == 0, count=2)]
    found = recall_interval(many, scored(many, smallest), 0.5)
    assert 0.3 < found.low < 0.5 < found.high < 0.7


def test_rankers_that_keep_the_same_differ_by_nothing_however_the_points_differ():
    many = [one for n in range(10) for one in sized(str(n), kept=n % 2 == 0, count=2)]
    small = scored(many, smallest)
    assert difference(many, small, [[2 * one for one in scores] for scores in small], 0.5) == Interval(0, 0, 0)


def test_a_ranker_that_keeps_more_at_every_point_is_above_for_sure():
    many = [one for n in range(10) for one in sized(str(n), kept=True, count=2)]
    assert difference(many, scored(many, smallest), scored(many, newest), 0.9) == Interval(1, 1, 1)


def test_an_interval_is_the_same_for_a_seed():
    many = [one for n in range(10) for one in sized(str(n), kept=n % 2 == 0, count=2)]
    assert recall_interval(many, scored(many, smallest), 0.5, seed=3) == recall_interval(
        many, scored(many, smallest), 0.5, seed=3
    )


def test_where_nothing_was_needed_there_is_no_figure():
    found = recall_interval([point((100, False))], [[1.0]], 0.5, draws=10)
    assert all(map(math.isnan, (found.value, found.low, found.high)))
