"""A persistent vector: appending and replacing give a new one, and the old one stays as it was.

    root ─┬─ 32 nodes ─┬─ 32 leaves of 32 values          tail: the last, unfinished leaf
          └─ …         └─ …

So a snapshot is a reference, and a change copies one path: O(log32 n). The shape is the bit-partitioned trie that Bagwell described and
Clojure made known (Rich Hickey's `PersistentVector`).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_BITS = 5
_WIDTH = 1 << _BITS
_MASK = _WIDTH - 1


class Vector(Generic[T]):
    """An immutable sequence of values. Make one from any iterable."""

    __slots__ = ("_root", "_shift", "_size", "_tail")

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._size = 0
        self._shift = _BITS
        self._root: tuple[Any, ...] = ()
        self._tail: tuple[T, ...] = ()
        grown = self
        for value in values:
            grown = grown.append(value)
        self._size, self._shift, self._root, self._tail = grown._size, grown._shift, grown._root, grown._tail

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, index: int) -> T:
        # Everything that reads a view comes through here, so it is written out: no call for each of its steps.
        size, tail = self._size, self._tail
        place = index + size if index < 0 else index
        if not 0 <= place < size:
            raise _outside(index, size)
        if place >= size - len(tail):
            return tail[place & _MASK]
        node: tuple[Any, ...] = self._root
        for shift in range(self._shift, 0, -_BITS):
            node = node[(place >> shift) & _MASK]
        value: T = node[place & _MASK]
        return value

    def __iter__(self) -> Iterator[T]:
        return self.range(0, self._size)

    def range(self, start: int, end: int) -> Iterator[T]:
        """Yield the values from `start` up to, not including, `end`; cheap wherever it begins."""
        index, end = max(0, start), min(end, self._size)
        while index < end:
            leaf = self._leaf(index)
            offset = index & _MASK
            stop = min(len(leaf), offset + end - index)
            yield from leaf[offset:stop]
            index += stop - offset

    def append(self, value: T) -> "Vector[T]":
        """Return a vector with `value` behind all others."""
        if len(self._tail) < _WIDTH:
            return self._made(self._size + 1, self._shift, self._root, (*self._tail, value))
        root, shift = self._root, self._shift
        if (self._size >> _BITS) > (1 << shift):
            root, shift = (root, _chain(shift, self._tail)), shift + _BITS
        else:
            root = _pushed(root, shift, self._size - 1, self._tail)
        return self._made(self._size + 1, shift, root, (value,))

    def replace(self, index: int, value: T) -> "Vector[T]":
        """Return a vector with `value` at `index`. Raises `IndexError` outside of it."""
        index = self._checked(index)
        if index >= self._tail_start:
            offset = index & _MASK
            return self._made(
                self._size, self._shift, self._root, (*self._tail[:offset], value, *self._tail[offset + 1 :])
            )
        return self._made(self._size, self._shift, _replaced(self._root, self._shift, index, value), self._tail)

    def replace_all(self, values: Mapping[int, T]) -> "Vector[T]":
        """Return a vector with each of these values at its index; what lies close together is copied once. Raises `IndexError` outside of it."""
        changes = sorted(((self._checked(index), value) for index, value in values.items()), key=itemgetter(0))
        inner = [change for change in changes if change[0] < self._tail_start]
        tail = list(self._tail)
        for index, value in changes[len(inner) :]:
            tail[index & _MASK] = value
        root = _all_replaced(self._root, self._shift, inner) if inner else self._root
        return self._made(self._size, self._shift, root, tuple(tail))

    def changed(self, before: "Vector[T]") -> Iterator[int]:
        """Yield the indices, ascending, of the values that aren't (`is not`) those of `before`, or stand where that has none.

        Costs what differs: of a vector that grew out of the other, what both share is passed over as a whole.
        """
        shift, split = max(self._shift, before._shift), min(self._tail_start, before._tail_start)
        trees = _lifted(self._root, self._shift, shift), _lifted(before._root, before._shift, shift)
        both = min(self._size, before._size)
        yield from (index for index in _differing(*trees, shift, 0) if index < split)
        yield from (index for index in range(split, both) if self[index] is not before[index])
        yield from range(both, self._size)

    @property
    def _tail_start(self) -> int:
        return self._size - len(self._tail)

    def _checked(self, index: int) -> int:
        place = index + self._size if index < 0 else index
        if not 0 <= place < self._size:
            raise _outside(index, self._size)
        return place

    def _leaf(self, index: int) -> tuple[T, ...]:
        if index >= self._tail_start:
            return self._tail
        node: tuple[Any, ...] = self._root
        for shift in range(self._shift, 0, -_BITS):
            node = node[(index >> shift) & _MASK]
        return node

    def _made(self, size: int, shift: int, root: tuple[Any, ...], tail: tuple[T, ...]) -> "Vector[T]":
        made: Vector[T] = Vector.__new__(Vector)
        made._size, made._shift, made._root, made._tail = size, shift, root, tail
        return made


def _outside(index: int, size: int) -> IndexError:
    return IndexError(f"index {index} of a vector of {size}")


def _chain(shift: int, leaf: tuple[Any, ...]) -> tuple[Any, ...]:
    return leaf if shift == 0 else (_chain(shift - _BITS, leaf),)


def _pushed(node: tuple[Any, ...], shift: int, index: int, leaf: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return `node` with a full leaf for `index` hung in; it is always the rightmost place."""
    place = (index >> shift) & _MASK
    if place < len(node):
        return (*node[:place], _pushed(node[place], shift - _BITS, index, leaf))
    return (*node, _chain(shift - _BITS, leaf))


def _replaced(node: tuple[Any, ...], shift: int, index: int, value: Any) -> tuple[Any, ...]:
    place = (index >> shift) & _MASK
    child = value if shift == 0 else _replaced(node[place], shift - _BITS, index, value)
    return (*node[:place], child, *node[place + 1 :])


def _all_replaced(node: tuple[Any, ...], shift: int, changes: list[tuple[int, Any]]) -> tuple[Any, ...]:
    children = list(node)
    if shift == 0:
        for index, value in changes:
            children[index & _MASK] = value
    else:
        for place, below in groupby(changes, key=lambda change: (change[0] >> shift) & _MASK):
            children[place] = _all_replaced(children[place], shift - _BITS, list(below))
    return tuple(children)


def _lifted(node: tuple[Any, ...], shift: int, wanted: int) -> tuple[Any, ...]:
    """The same tree under as many levels as a taller one has."""
    for _ in range(shift, wanted, _BITS):
        node = (node,)
    return node


def _differing(mine: tuple[Any, ...], its: tuple[Any, ...], shift: int, start: int) -> Iterator[int]:
    for place, (left, right) in enumerate(zip(mine, its, strict=False)):
        if left is right:
            continue
        index = start + (place << shift)
        if shift:
            yield from _differing(left, right, shift - _BITS, index)
        else:
            yield index
