"""Distinctive strings: names in a text that say which text they came from.

A distinctive string is a run of eight or more of `A-Z a-z 0-9 _ . / - : @` with dots, slashes, colons and dashes at its ends stripped, still eight
characters long, with a digit, a separator or an inner capital: paths, identifiers, versions, hashes. The public contract of `trimtab replay` pins
this rule; `references` follows what was used by it, and `replay` judges what was needed by it, so a policy sees what it is judged by.

`Strings` finds, in a text, all strings that are known by then, wherever they stand in it: a path stands in a longer path. No text of a string holds a
character that a run can't have, so whatever is found lies within one run.

The same texts are asked about again and again, so answers are kept: of the texts that were asked about last, as far as they and their strings
stay within a size.
"""

import json
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from threading import Lock
from typing import Generic, TypeVar

from trimtab.types.messages import ToolCall

T = TypeVar("T")
_RUN = re.compile(r"[A-Za-z0-9_./\-:@]{8,}")
_ENDS = "./:-"
_SEPARATED = re.compile(r"[0-9_./\-:@]|[a-z0-9][A-Z]")
LEAST = 8
"""Characters of the shortest distinctive string."""
_MOST = 8_000_000
"""Characters that are kept of all texts together."""
_COUNTED_PLAINLY = 10_000_000
"""Characters that searches for strings one by one may look at; a pass over the runs costs more at first, and then no more with every string."""
_ENTRY = 100
"""What a text counts for besides its characters."""


def distinctive_strings(text: str) -> tuple[str, ...]:
    """Return the distinctive strings of `text`, each once, in the order in which they appear."""
    known = _kept.get(text)
    if known is None:
        found = dict.fromkeys(run.strip(_ENDS) for run in _RUN.findall(text))
        known = tuple(string for string in found if len(string) >= LEAST and _SEPARATED.search(string))
        _kept.put(text, known)
    return known


def arguments_text(call: ToolCall) -> str:
    """Return what the model wrote into the arguments of `call`, one value a line: the names of parameters are the tool's words.

    Values are decoded, so that no escape of JSON sticks to a word. Arguments that are no JSON are returned as they came.
    """
    if call.arguments is None:
        return call.raw
    return "\n".join(text for value in call.arguments.values() for text in _leaves(value))


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield json.dumps(value)


class Strings:
    """Strings that are known, to be found in texts. A look at a place costs as much as there are lengths among those that begin as it does."""

    def __init__(self) -> None:
        self._by_start: dict[str, dict[int, set[str]]] = {}

    def add(self, string: str) -> None:
        """Know `string`, which `distinctive_strings` gave."""
        self._by_start.setdefault(string[:LEAST], {}).setdefault(len(string), set()).add(string)

    def found_in(self, text: str) -> dict[str, None]:
        """Return the known strings that stand in `text`, each once, in the order of their places."""
        found: dict[str, None] = {}
        for run in _RUN.findall(text):
            for place in range(len(run) - LEAST + 1):
                lengths = self._by_start.get(run[place : place + LEAST])
                if lengths is None:
                    continue
                for length, strings in lengths.items():
                    piece = run[place : place + length]
                    if piece in strings:
                        found[piece] = None
        return found


def times_in(text: str, strings: Sequence[str]) -> list[int]:
    """Return how often each of `strings`, distinctive strings of `text`, stands in it: `text.count` of each, for very many in one pass."""
    if len(text) * len(strings) <= _COUNTED_PLAINLY:
        return [text.count(string) for string in strings]
    known, times = Strings(), dict.fromkeys(strings, 0)
    for string in times:
        known.add(string)
    for run, number in Counter(_RUN.findall(text)).items():
        for string in known.found_in(run):
            times[string] += number * run.count(string)
    return [times[string] for string in strings]


class Kept(Generic[T]):
    """What was found in the texts that were asked about last. `most`: characters of all texts together. Safe for threads.

    For what is a part of its text, each part once: it has no more characters than the text.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = 0
        self._answers: OrderedDict[str, T] = OrderedDict()
        self._guard = Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, text: str) -> T | None:
        """What was found in a text, if it is still there."""
        with self._guard:
            known = self._answers.get(text)
            if known is not None:
                self._answers.move_to_end(text)
            return known

    def put(self, text: str, found: T) -> None:
        """Keep what was found in a text, and let go what was asked about longest ago."""
        with self._guard:
            if text not in self._answers:
                self.size += len(text) + _ENTRY
            self._answers[text] = found
            while self.size > self.most:
                gone, _ = self._answers.popitem(last=False)
                self.size -= len(gone) + _ENTRY


_kept: Kept[tuple[str, ...]] = Kept(_MOST)
