"""A request as the cache of a provider sees it: segments in wire order, each with its identity and its size.

    segments   tools │ system │ message │ message │ …      `fixed` of them stand in front of the messages
    names      n1      n2       n3        n4                 n_k stands for the bytes of the first k segments
    ends       e1      e2       e3        e4                 tokens of the first k segments

A boundary k lies behind the k-th segment. Two requests share the first k segments when their names are equal at k, so a common prefix is
found by halving, and whether a boundary was written is one look into a table: nothing compares texts. The one rule: a key stands for the
exact bytes of its segment, so what changes a byte changes the key.

Shapes are values, but a longer one shares the rows of the shorter one that it grew from: growing costs what is new, however long the request is.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

_SIZE = 12
"""Bytes of a digest: no two texts of one session meet by chance."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the request that is there as a whole or not at all.

    `blocks`: how many content blocks the wire makes of it. `markable`: a breakpoint may stand behind it (not behind an answer, whose last block
    may be one that can't carry any).
    """

    key: bytes
    tokens: int
    blocks: int = 1
    markable: bool = True


class _Row(NamedTuple):
    segment: Segment
    name: int
    end: int
    block: int


_NOTHING = _Row(Segment(b"", 0), 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class RequestShape:
    """A whole request. Make one with `shape_of`. `marks` are the boundaries with a cache breakpoint; empty: where `breakpoints` puts them."""

    _rows: list[_Row]
    size: int
    model: str = ""
    fixed: int = 0
    marks: tuple[int, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """All segments, in wire order."""
        return tuple(row.segment for row in self._rows[: self.size])

    @property
    def total(self) -> int:
        """Tokens of the request."""
        return self.tokens_before(self.size)

    def segment(self, boundary: int) -> Segment:
        """The segment in front of a boundary (1 to `size`)."""
        return self._rows[boundary - 1].segment

    def name(self, boundary: int) -> int:
        """What stands for all bytes in front of a boundary. Means something within this process only."""
        return self._rows[boundary - 1].name if boundary else 0

    def tokens_before(self, boundary: int) -> int:
        """Tokens in front of a boundary."""
        return self._rows[boundary - 1].end if boundary else 0

    def blocks_before(self, boundary: int) -> int:
        """Content blocks in front of a boundary."""
        return self._rows[boundary - 1].block if boundary else 0

    def extended(self, segments: Iterable[Segment], *, marks: tuple[int, ...] = ()) -> "RequestShape":
        """The same request with more at its end."""
        # Whoever grows the longest shape of a family appends to its rows; nobody else looks behind their own size.
        rows = self._rows if len(self._rows) == self.size else self._rows[: self.size]
        name, end, block = (rows[-1] if rows else _NOTHING)[1:]
        for segment in segments:
            name = hash((name, segment.key))
            end += segment.tokens
            block += segment.blocks
            rows.append(_Row(segment, name, end, block))
        return RequestShape(rows, len(rows), self.model, self.fixed, marks)

    def edited(self, changes: Mapping[int, Segment | None], *, marks: tuple[int, ...] = ()) -> "RequestShape":
        """The request with segments (by index, from 0) replaced, or left out (None). What stands in front of the first one is the same."""
        if not changes:
            return self
        first = min(changes)
        rest = [changes.get(i, row.segment) for i, row in enumerate(self._rows[first : self.size], first)]
        fixed = min(self.fixed, first) + sum(s is not None for s in rest[: max(self.fixed - first, 0)])
        front = RequestShape(self._rows[:first], first, self.model, fixed)
        return front.extended((s for s in rest if s is not None), marks=marks)

    def shared_with(self, other: "RequestShape") -> int:
        """The last boundary up to which both have the same bytes."""
        low, high = 0, min(self.size, other.size)
        if self._rows is other._rows:
            return high
        while low < high:
            middle = (low + high + 1) // 2
            if self.name(middle) == other.name(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def last_change(self, other: "RequestShape") -> int:
        """The boundary behind the last segment that differs from the other's at that place, as far as both go; 0 when none does."""
        for k in range(min(self.size, other.size) - 1, -1, -1):
            mine, its = self._rows[k].segment, other._rows[k].segment
            if mine is not its and mine.key != its.key:
                return k + 1
        return 0


def shape_of(
    segments: Iterable[Segment], *, model: str = "", fixed: int = 0, marks: tuple[int, ...] = ()
) -> RequestShape:
    """Return the shape of a request. `fixed`: how many segments (tools, system) stand in front of the messages."""
    return RequestShape([], 0, model, fixed).extended(segments, marks=marks)


def key_of(data: bytes | str) -> bytes:
    """Return the identity of some bytes or of a text."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return blake2b(raw, digest_size=_SIZE).digest()
