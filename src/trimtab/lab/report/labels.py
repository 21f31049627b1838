"""Names beside points: where each stands, so that none lies on a point or on another name.

points in data units ──Frame──▶ pixels ──each name tries its places, the nearest first──▶ side and height of each name, in data units
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Side: TypeAlias = Literal["right", "left"]
Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom, in pixels."""
GAP = 9.0
"""Pixels between a point and its name."""
_LETTER, _HALF, _DOT, _STEP, _STEPS = 6.6, 7.0, 6.0, 7.0, 9
"""Pixels: of a letter, of half a line, of a point's radius; and how far, and how often, a name is moved up or down."""
_SPACE = 0.06
"""Of what points span, left free at each end."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A picture's size in pixels, and the data units at its edges."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], width: float, height: float) -> "Frame":
        """The frame that has all of `points` with some space around them."""
        ends = [_ends([point[axis] for point in points]) for axis in (0, 1)]
        return cls(width, height, ends[0], ends[1])

    def at(self, point: tuple[float, float]) -> tuple[float, float]:
        """Where a point is in pixels, from the upper left."""
        across = (point[0] - self.x[0]) / (self.x[1] - self.x[0]) * self.width
        return across, (self.y[1] - point[1]) / (self.y[1] - self.y[0]) * self.height

    def up(self, pixels: float) -> float:
        """How many data units so many pixels are."""
        return pixels / self.height * (self.y[1] - self.y[0])


def _ends(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values, default=0.0), max(values, default=1.0)
    space = _SPACE * (high - low) or 0.05
    return low - space, high + space


@dataclass(frozen=True, slots=True)
class Placed:
    """A name: on which side of its point it stands, and how many pixels above it."""

    name: str
    side: Side
    above: float


def placed(points: Sequence[tuple[float, float]], names: Sequence[str], frame: Frame) -> list[Placed]:
    """Return where each name stands; empty ones have no place. Where everything is taken, a name lies on as little as it can."""
    dots = [frame.at(point) for point in points]
    taken: list[Box] = [(x - _DOT, y - _DOT, x + _DOT, y + _DOT) for x, y in dots]
    found: list[Placed] = []
    for name, at in sorted(zip(names, dots, strict=True), key=lambda one: (one[1][1], one[1][0], one[0])):
        if not name:
            continue
        tries = [(_hits(box, taken, frame), number, one, box) for number, (one, box) in enumerate(_tries(name, at))]
        _, _, best, box = min(tries, key=lambda one: one[:2])
        taken.append(box)
        found.append(best)
    return found


def _tries(name: str, at: tuple[float, float]) -> Iterator[tuple[Placed, Box]]:
    """The places of a name, the nearest first: right before left, up before down."""
    wide = _LETTER * len(name)
    for step in range(_STEPS):
        for above in dict.fromkeys((step * _STEP, -step * _STEP)):
            y = at[1] - above
            yield Placed(name, "right", above), (at[0] + GAP, y - _HALF, at[0] + GAP + wide, y + _HALF)
            yield Placed(name, "left", above), (at[0] - GAP - wide, y - _HALF, at[0] - GAP, y + _HALF)


def _hits(box: Box, taken: Sequence[Box], frame: Frame) -> int:
    """On how many things a name would lie; what is cut off by the edge counts as one."""
    inside = box[0] >= 0 and box[1] >= 0 and box[2] <= frame.width and box[3] <= frame.height
    return sum(meets(box, other) for other in taken) + (not inside)


def meets(one: Box, other: Box) -> bool:
    """Whether two boxes overlap."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
