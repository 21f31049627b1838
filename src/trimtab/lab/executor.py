"""Where work runs: here, in processes of this machine, or on a cluster. The same items give the same results in the same order, wherever that is.

    items ──Executor.map(function)──▶ results, in the order of the items

The one seam for everything that plays many stories. A function that is mapped is at the top of a module, and takes and gives values that can be pickled; what is
drawn in it comes from seeds that stand in its item, never from where it runs.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Executor(Protocol):
    """Maps a function over items. Close it when nothing more comes."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield the result of each item, in order, each as soon as all before it are there. What the function raises is raised where its result would be."""
        ...

    def close(self) -> None:
        """End whatever was started for it."""
        ...


class Here:
    """In this process, one after another."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield each result when it is asked for."""
        return map(function, items)

    def close(self) -> None:
        """Nothing was started."""
