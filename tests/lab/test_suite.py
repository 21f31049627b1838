"""What is learned from, what chooses, and what judges."""

from itertools import chain

from trimtab.lab.suite import PARTS, drawn, suite
from trimtab.lab.tasks.registry import FAMILIES


def test_every_family_is_in_one_part_and_kin_stay_together() -> None:
    assert sorted(chain(*PARTS.values())) == sorted(FAMILIES)
    homes = {family.rpartition("-")[0]: part for part, names in PARTS.items() for family in names if "cause" in family}
    assert homes == {"root-cause": "train"}


def test_a_number_always_draws_the_same_task_window_and_prices() -> None:
    one, again = drawn("test", "restock", 3), drawn("test", "restock", 3)
    assert (one.task, one.conditions) == (again.task, again.conditions)
    assert one.conditions != drawn("test", "restock", 4).conditions or one.task != drawn("test", "restock", 4).task


def test_a_part_has_as_many_tasks_of_each_family_as_are_asked_for() -> None:
    made = [(d.family, d.number) for d in suite("validation", 2, first=5)]
    assert made == [(family, number) for family in PARTS["validation"] for number in (5, 6)]
    assert {d.story.tier for d in suite("validation", 1)} == {"T0"}


def test_another_seed_tells_another_story_as_hard_in_the_same_window() -> None:
    one, other = (drawn("train", "tool-chain", 2, seed=seed) for seed in (0, 1))
    assert (one.task.level, one.conditions.window) == (other.task.level, other.conditions.window)
    assert one.task.name != other.task.name
    assert one.task.points != other.task.points
    assert one == drawn("train", "tool-chain", 2)
    assert len({drawn("train", "tool-chain", 2, seed=seed).conditions.regime.name for seed in range(12)}) > 1


def test_seeds_of_a_task_stand_beside_each_other() -> None:
    made = [(d.number, d.seed) for d in suite("validation", 2, seeds=2)][:4]
    assert made == [(0, 0), (0, 1), (1, 0), (1, 1)]
