"""What is learned from, what chooses, and what judges."""

from itertools import chain
from pathlib import Path
from typing import get_args

import pytest

from support.published import WORDS, lines, write_published
from trimtab.lab.suite import PARTS, REAL_PART, WINDOWS, Part, drawn, drawn_real, suite
from trimtab.lab.tasks.real.registry import REAL
from trimtab.lab.tasks.registry import FAMILIES
from trimtab.types.errors import UsageError


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


def test_real_material_is_in_no_part_that_learns_or_chooses() -> None:
    assert REAL_PART not in (*PARTS, *get_args(Part))
    assert not set(REAL) & {*FAMILIES, *chain(*PARTS.values())}


@pytest.mark.parametrize("family", REAL)
def test_a_number_always_draws_the_same_task_of_real_material(tmp_path: Path, family: str) -> None:
    folder = write_published(tmp_path)
    one, again, other = (drawn_real(folder, family, 3, seed=seed) for seed in (0, 0, 1))
    assert one == again
    assert (one.part, one.family, one.story.tier) == ("real", family, "T0")
    assert one.conditions.window in WINDOWS
    assert (one.task.level, one.conditions.window) == (other.task.level, other.conditions.window)
    assert one.task.name != other.task.name
    assert len({drawn_real(folder, family, 3, seed=seed).conditions.regime.name for seed in range(12)}) > 1


def with_evidence_of(folder: Path, characters: int) -> Path:
    """A folder with one document, whose only evidence is so long."""
    said = "".join(f"The lock was mended {n} times. " for n in range(characters // 25))[: characters - 1] + "!"
    asked = [{"Q": "How often was it mended?", "A": "often", "S": said}]
    row = {"input": said + WORDS * 400, "title": "The lock", "qa_pairs": repr(asked)}
    lines(folder / "loogle" / "shortdep_qa.jsonl.gz", row)
    return folder


def test_a_level_without_room_gives_way_to_the_next_one_and_the_window_stays(tmp_path: Path) -> None:
    long, short = with_evidence_of(tmp_path / "long", 8_100), with_evidence_of(tmp_path / "short", 810)
    least = 1_800
    """Tokens of a piece that holds the long evidence."""
    plain = [drawn_real(short, "loogle", number) for number in range(12)]
    fitted = [drawn_real(long, "loogle", number) for number in range(12)]
    moved = [number for number, one in enumerate(plain) if one.task.level.tokens < least]
    assert 0 < len(moved) < 12
    assert [n for n in range(12) if plain[n].task.level != fitted[n].task.level] == moved
    assert all(one.task.level.tokens >= least for one in fitted)
    assert [one.conditions.window for one in plain] == [one.conditions.window for one in fitted]
    assert fitted == [drawn_real(long, "loogle", number) for number in range(12)]


def test_a_task_that_fits_at_no_level_is_told_with_what_to_look_at(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="loogle 0, seed 2, fits at none of 20 levels: loogle: nothing to ask") as told:
        drawn_real(with_evidence_of(tmp_path, 12_000), "loogle", 0, seed=2)
    assert str(tmp_path) in told.value.hint


@pytest.mark.parametrize("family", ["bfcl-memory", "no-such-family"])
def test_a_family_whose_files_are_not_there_is_told(tmp_path: Path, family: str) -> None:
    with pytest.raises(UsageError, match=f"has no files of '{family}'"):
        drawn_real(with_evidence_of(tmp_path, 100), family, 0)
