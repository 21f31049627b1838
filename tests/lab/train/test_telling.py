"""What is told of a step."""

import pytest

pytest.importorskip("torch")

from trimtab.lab.rewards.collapse import Decision, EpisodeLog, Wanted
from trimtab.lab.train.rollouts import End, Group
from trimtab.lab.train.telling import said, told


def group(*decisions: Decision, reward: float = 0.5, flat: bool = False) -> Group:
    """A group of one rollout."""
    end = End(reward, 0.8, 0.6, 0.3, 0.25)
    return Group("task", (), (end,), (EpisodeLog("r0", 40, decisions),), len(decisions), 2, flat)


KEEP, HIDE = Decision(3, eligible=4), Decision(4, (Wanted("elide", ("a",)),), eligible=4)


def test_a_line_has_means_and_the_alarms_that_ring() -> None:
    line = told([group(KEEP, KEEP), group(KEEP, KEEP, reward=0.1, flat=True)], [])
    assert (line["reward"], line["keeps"], line["flat"], line["branched"]) == (0.3, 1.0, 0.5, 4)
    assert [alarm.split(":")[0] for alarm in line["alarms"]] == ["keep"]
    assert told([group(KEEP, HIDE)], [])["alarms"] == []


def test_a_share_of_cost_that_does_not_move_rings_after_five_steps() -> None:
    before = [{"efficiency": 0.3}, {"greedy": {}}, *({"efficiency": 0.3} for _ in range(3))]
    assert told([group(KEEP, HIDE)], before[:-1])["alarms"] == []
    assert told([group(KEEP, HIDE)], before)["alarms"][0].startswith("flat")


def test_a_line_in_words_says_how_far_it_is_and_rings() -> None:
    line = {"step": 3, "decisions": 500, "seconds": 10.0} | told([group(KEEP, KEEP)], [])
    words = said([line, {"greedy": {}}], 2_000)
    assert words.startswith("step 3: 500 of 2,000 decisions, 50/s, reward +0.500")
    assert "ALARM keep" in words
