"""What a tool is to a model, and how a result says that it was cut."""

from typing import Any, Literal

import msgspec


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as the model sees it. `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: dict[str, Any]


class Cut(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a shortened result shows, of how much, and where the whole is.

    `shown` are 1-based inclusive ranges in `unit`; `total` is the whole size in `unit` (None: unknown).
    `where` is a path or handle that holds the whole; `next` says in words how to see more.
    """

    unit: Literal["lines", "bytes", "chars", "rows"]
    """What is counted."""
    shown: tuple[tuple[int, int], ...]
    """First and last, both from 1 and included."""
    total: int | None = None
    """The whole size; null when unknown."""
    where: str | None = None
    """A path or handle of the whole."""
    next: str | None = None
    """How to see more, in words."""
