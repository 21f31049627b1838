"""A request as the cache of a provider sees it: segments in wire order, each with its identity and its size.

    segments   tools │ system │ message │ message │ …      `fixed` of them stand in front of the messages
    chain      c1      c2       c3        c4                 c_k names the bytes of the first k segments
    ends       e1      e2       e3        e4                 tokens of the first k segments

A boundary k lies behind the k-th segment. Two requests share the first k segments exactly when their chains are equal at k, so a common
prefix is found by halving, and whether a boundary was written is one look into a table: nothing compares texts. The one rule: a key
stands for the exact bytes of its segment, so what changes a byte changes the key.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

_SIZE = 12
"""Bytes of a digest: no two prefixes of one session meet by chance."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the request that is there as a whole or not at all. `blocks`: how many content blocks the wire makes of it."""

    key: bytes
    tokens: int
    blocks: int = 1


@dataclass(frozen=True, slots=True)
class RequestShape:
    """A whole request. Make one with `shape_of`. `marks` are the boundaries with a cache breakpoint; empty: where `breakpoints` puts them."""

    segments: tuple[Segment, ...]
    ends: tuple[int, ...]
    chain: tuple[bytes, ...]
    blocks: tuple[int, ...]
    model: str = ""
    fixed: int = 0
    marks: tuple[int, ...] = ()

    @property
    def total(self) -> int:
        """Tokens of the request."""
        return self.ends[-1] if self.ends else 0

    def tokens_before(self, boundary: int) -> int:
        """Tokens in front of a boundary."""
        return self.ends[boundary - 1] if boundary else 0

    def extended(self, segments: Iterable[Segment], *, marks: tuple[int, ...] = ()) -> "RequestShape":
        """The same request with more at its end: costs what is new (and one copy of the tuples)."""
        more = tuple(segments)
        last = (self.chain[-1], self.ends[-1], self.blocks[-1]) if self.segments else (b"", 0, 0)
        chain, ends, blocks = _run(more, *last)
        return RequestShape(
            self.segments + more,
            self.ends + ends,
            self.chain + chain,
            self.blocks + blocks,
            self.model,
            self.fixed,
            marks,
        )

    def edited(self, changes: Mapping[int, Segment | None], *, marks: tuple[int, ...] = ()) -> "RequestShape":
        """The request with segments (by index, from 0) replaced, or left out (None). Everything in front of the first one is shared."""
        if not changes:
            return self
        first = min(changes)
        changed = [changes.get(i, s) for i, s in enumerate(self.segments[first:], first)]
        front = RequestShape(
            self.segments[:first],
            self.ends[:first],
            self.chain[:first],
            self.blocks[:first],
            self.model,
            min(self.fixed, first) + sum(s is not None for s in changed[: max(self.fixed - first, 0)]),
        )
        return front.extended((s for s in changed if s is not None), marks=marks)

    def shared_with(self, other: "RequestShape") -> int:
        """The last boundary up to which both have the same bytes."""
        low, high = 0, min(len(self.chain), len(other.chain))
        while low < high:
            middle = (low + high + 1) // 2
            if self.chain[middle - 1] == other.chain[middle - 1]:
                low = middle
            else:
                high = middle - 1
        return low


def shape_of(
    segments: Sequence[Segment], *, model: str = "", fixed: int = 0, marks: tuple[int, ...] = ()
) -> RequestShape:
    """Return the shape of a request. `fixed`: how many segments (tools, system) stand in front of the messages."""
    return RequestShape((), (), (), (), model, fixed).extended(segments, marks=marks)


def key_of(data: bytes | str) -> bytes:
    """Return the identity of some bytes or of a text."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return blake2b(raw, digest_size=_SIZE).digest()


def _run(
    segments: tuple[Segment, ...], name: bytes, end: int, block: int
) -> tuple[tuple[bytes, ...], tuple[int, ...], tuple[int, ...]]:
    chain, ends, blocks = [], [], []
    for segment in segments:
        name = blake2b(name + segment.key, digest_size=_SIZE).digest()
        end += segment.tokens
        block += segment.blocks
        chain.append(name)
        ends.append(end)
        blocks.append(block)
    return tuple(chain), tuple(ends), tuple(blocks)
