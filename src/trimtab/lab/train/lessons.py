"""Lessons on disk: what teachers did is the same for every seed, so it is played once.

Lessons ──packed──▶ bytes: figures as they are, rows as 64-bit floats ──unpacked──▶ the same Lessons
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from trimtab.lab.train.seeing import OPS, WHOLE, Sight
from trimtab.lab.train.teachers import Lesson, Lessons


class _Decision(msgspec.Struct, frozen=True, array_like=True):
    items: bytes
    width: int
    whole: bytes
    valid: bytes
    full: int
    places: tuple[int, ...]


class _Play(msgspec.Struct, frozen=True, array_like=True):
    task: str
    teacher: str
    reward: float
    wanted: int
    said: int
    decisions: tuple[_Decision, ...]


def packed(lessons: Sequence[Lessons]) -> bytes:
    """Return lessons as bytes."""
    plays = [
        _Play(
            one.task,
            one.teacher,
            one.reward,
            one.wanted,
            one.said,
            tuple(
                _Decision(
                    lesson.sight.items.tobytes(),
                    lesson.sight.items.shape[1],
                    lesson.sight.whole.tobytes(),
                    lesson.sight.valid.tobytes(),
                    lesson.sight.full,
                    lesson.places,
                )
                for lesson in one.decisions
            ),
        )
        for one in lessons
    ]
    return msgspec.msgpack.encode(plays)


def unpacked(data: bytes, widths: tuple[int, int]) -> list[Lessons]:
    """Return what was packed. `widths`: of an item's row, and of the row of the whole. Raises `ValueError` for what nothing could be learned from."""
    found = [
        Lessons(
            one.task,
            one.teacher,
            one.reward,
            tuple(_lesson(decision, widths) for decision in one.decisions),
            one.wanted,
            one.said,
        )
        for one in msgspec.msgpack.decode(data, type=list[_Play])
    ]
    if not any(one.decisions for one in found):
        raise ValueError("there is no decision in it")
    return found


def _lesson(one: _Decision, widths: tuple[int, int]) -> Lesson:
    if one.width != widths[0]:
        raise ValueError(f"an item has {one.width} figures in place of {widths[0]}")
    items = np.frombuffer(one.items, np.float64).reshape(-1, one.width)
    whole, valid = np.frombuffer(one.whole, np.float64), np.frombuffer(one.valid, np.uint8) != 0
    if len(whole) != widths[1] or len(valid) != WHOLE + OPS * len(items) or one.full < 1:
        raise ValueError("what was seen has another shape")
    if wrong := [place for place in one.places if not (0 <= place < len(valid) and valid[place])]:
        raise ValueError(f"place {wrong[0]} couldn't be chosen")
    return Lesson(Sight(items, whole, valid, one.full), one.places)
