"""Grids: which parameters of each rule are tried.

    kind ──Grid.specs──▶ its default, then all combinations of its values, or as many of them as are allowed, drawn by a seed

A rule that competes is one that was given the same chance: every kind is tried on the same tasks, with no more combinations than any other. Values are around what makers and
papers give (`peer_table`, the pages that it cites).
"""

import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Grid:
    """The values of each parameter of one arm. `default`: its spec as it comes."""

    default: str
    name: str
    values: Mapping[str, tuple[float | int | str | bool, ...]]

    def specs(self, most: int, *, seed: int = 0) -> tuple[str, ...]:
        """Return at most `most` specs, the default among them."""
        points = list(itertools.product(*self.values.values()))
        if len(points) >= most:
            points = random.Random(f"{self.default} {seed}").sample(points, max(0, most - 1))
        found = [self.default, *(self._spec(point) for point in points)]
        return tuple(dict.fromkeys(found))[:most]

    @property
    def size(self) -> int:
        """How many combinations there are."""
        return prod(map(len, self.values.values()))

    def _spec(self, point: tuple[float | int | str | bool, ...]) -> str:
        return f"{self.name}({', '.join(f'{key}={value!r}' for key, value in zip(self.values, point, strict=True))})"


GRIDS: Mapping[str, Grid] = {
    "truncate": Grid("truncate", "truncate", {"keep_groups": (1, 2, 4, 8)}),
    "sliding-mask": Grid(
        "mask(batch=1, always=True)",
        "mask",
        {"keep": (2, 4, 6, 10, 16), "batch": (1,), "always": (True, False)},
    ),
    "batched-mask": Grid(
        "mask", "mask", {"keep": (1, 2, 4, 6, 8, 12), "batch": (2, 4, 8, 12), "always": (True, False)}
    ),
    "clear": Grid(
        "clear", "clear", {"trigger": (0.4, 0.5, 0.6, 0.7), "keep": (1, 2, 4, 6, 8), "least": (0.0, 0.1, 0.2, 0.3)}
    ),
    "summary": Grid(
        "summary", "summary", {"at": (0.76, 0.85, 0.95, 1.0), "keep_share": (0.1, 0.3, 0.5, 0.7, 0.9, 1.1)}
    ),
    "hybrid": Grid(
        "hybrid",
        "hybrid",
        {
            "keep": (2, 4, 8, 12),
            "batch": (2, 4, 8),
            "act": (0.5, 0.7, 0.9),
            "at": (0.85, 0.95),
            "left": (0.2, 0.4, 0.6),
            "names": (0, 400),
        },
    ),
    "dedupe": Grid("dedupe", "dedupe", {"act": (0.0, 0.3, 0.5, 0.7, 0.9), "least": (0.02, 0.1, 0.2)}),
    "lru": Grid(
        "lru",
        "lru",
        {"act": (0.6, 0.75, 0.85, 0.95, 1.0), "left": (0.2, 0.35, 0.5, 0.65, 0.8), "names": (0, 100, 400)},
    ),
    "break-even": Grid(
        "break-even",
        "break-even",
        {
            "fresh": (2, 4, 8),
            "recent": (4, 8, 15, 25),
            "horizon": (10, 20, 30, 0),
            "least": (0.05, 0.1, 0.2, 0.4),
            "names": (0, 400),
        },
    ),
    "occupancy": Grid(
        "occupancy",
        "occupancy",
        {
            "first": (0.3, 0.6, 0.8),
            "second": (0.75, 0.9, 1.0),
            "third": (0.9, 1.0),
            "left": (0.3, 0.45, 0.6, 0.75),
            "names": (0, 400),
        },
    ),
    "rules": Grid(
        "rules",
        "rules",
        {
            "act": (0.8, 0.9, 1.0),
            "left": (0.2, 0.35, 0.5, 0.65, 0.8),
            "names": (0, 100, 400),
            "keep_names": (0.0, 0.15, 0.3),
            "fresh": (2, 3, 6),
            "recent": (3, 8),
            "compact_from": (0.1, 0.25, 0.5),
            "along": (True, False),
        },
    ),
}
"""Every rule that is tuned, by the name of its kind."""
