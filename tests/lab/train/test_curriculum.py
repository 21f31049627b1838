"""What is open when."""

import pytest

pytest.importorskip("numpy")

from itertools import pairwise

from support.stories import drawn_session, setup_for
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS
from trimtab.lab.env.episode import Episode
from trimtab.lab.env.story import recorded_story
from trimtab.lab.rewards.reward import DEFAULT
from trimtab.lab.suite import PARTS, drawn
from trimtab.lab.train.config import Learning
from trimtab.lab.train.curriculum import STAGES, hardest, hardness, is_open, stage_at, tasks_at, weights_at

LEARNING = Learning(stages=(0.0, 0.1, 0.2, 0.3), cost=(0.6, 0.35), annealed=0.5, hard=0.4)


def test_each_stage_opens_more_and_the_last_all() -> None:
    assert [stage_at(share, LEARNING) for share in (0.0, 0.09, 0.1, 0.25, 0.3, 1.0)] == [0, 0, 1, 2, 3, 3]
    assert all(one < two for one, two in pairwise(STAGES))
    assert STAGES[-1] == set(ITEM_OPS) | set(WHOLE_OPS) - {"commit"}
    assert stage_at(0.0, Learning(stages=(0.0, 0.0, 0.0, 0.0))) == 3


def test_at_first_only_what_is_obviously_irrelevant_may_go() -> None:
    session = drawn_session(("read", "again", "fail", "grep") * 9)
    episode = Episode(recorded_story(session), setup_for(session))
    observation = episode.advance()
    assert observation is not None
    results = [item for item in observation.items if item.kind == "result"]
    may = [item for item in results if is_open(0, item, "elide")]
    assert 0 < len(may) < len(results)
    assert all(i.superseded_by or i.duplicate_of or i.is_error or (i.referenced == 0 and i.age >= 3) for i in may)
    assert all(is_open(1, item, "elide") for item in results)
    assert not is_open(1, None, "compact")
    assert is_open(2, None, "compact")


def test_cost_weighs_more_at_first_and_in_the_end_what_it_is_judged_with() -> None:
    assert weights_at(0.0, LEARNING).cost == 0.6
    assert weights_at(0.25, LEARNING).cost == pytest.approx(0.475)
    assert weights_at(0.5, LEARNING) == weights_at(1.0, LEARNING) == DEFAULT


def test_tasks_are_easy_at_first_of_the_training_part_and_the_same_again() -> None:
    first = [t for step in range(4) for t in tasks_at(0.0, LEARNING, seed=1, step=step)]
    assert first == [t for step in range(4) for t in tasks_at(0.0, LEARNING, seed=1, step=step)]
    assert {family for family, _ in first} <= set(PARTS["train"])
    assert len(first) == 4 * LEARNING.tasks
    levels = [hardness(drawn("train", family, number).task.level) for family, number in first]
    assert max(levels) <= hardest(0.0, LEARNING) == 0.5
    late = [t for step in range(4) for t in tasks_at(1.0, LEARNING, seed=1, step=step)]
    assert max(hardness(drawn("train", family, number).task.level) for family, number in late) > 0.5
