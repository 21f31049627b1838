"""An executor whose results are kept on disk as they come: what takes long to play isn't played again because the rest was broken off.

    items ──name──▶ FOLDER/NAME there? ──▶ unpacked           each in its place among the results
                         └ no ──executor──▶ packed, written as a whole, and only then handed on

A name says all that a result depends on, so whatever else is asked for, what is there is still right; files that nobody asks for may be deleted.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from trimtab.lab.executor import Executor
from trimtab.lab.train.runs import RunFolder

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Kept:
    """`name` says of an item where its result lies in `folder`; `unpack` gives back what `pack` was given, and raises `ValueError` for anything else."""

    executor: Executor
    folder: RunFolder
    name: Callable[[Any], str]
    pack: Callable[[Any], bytes]
    unpack: Callable[[bytes], Any]
    say: Callable[[str], None] = lambda _: None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield each result in order, made or read. Raises `StoreError` for one that can't be written, or is damaged."""
        named = [(item, self.name(item)) for item in items]
        there = {name for _, name in named if self.folder.holds(name)}
        if there:
            self.say(f"{sum(name in there for _, name in named)} of {len(named)} were done before")
        made = self.executor.map(function, [item for item, name in named if name not in there])
        for _, name in named:
            if name in there:
                with self.folder.whole(name):
                    known = self.unpack(self.folder.read(name) or b"")
                yield known
            else:
                result = next(made)
                self.folder.write(name, self.pack(result))
                yield result

    def close(self) -> None:
        """Close the executor."""
        self.executor.close()
