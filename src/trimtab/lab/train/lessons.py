"""Lessons on disk: what teachers did is the same for every seed, so it is played once.

Lessons ──packed──▶ bytes: figures as they are, rows as 64-bit floats ──unpacked──▶ the same Lessons
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from trimtab.lab.train.seeing import Sight
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


def unpacked(data: bytes) -> list[Lessons]:
    """Return what was packed."""
    return [
        Lessons(one.task, one.teacher, one.reward, tuple(map(_lesson, one.decisions)), one.wanted, one.said)
        for one in msgspec.msgpack.decode(data, type=list[_Play])
    ]


def _lesson(one: _Decision) -> Lesson:
    items = np.frombuffer(one.items, np.float64).reshape(-1, one.width)
    whole, valid = np.frombuffer(one.whole, np.float64), np.frombuffer(one.valid, np.bool_)
    return Lesson(Sight(items, whole, valid, one.full), one.places)
