"""Distinctive strings: names in a text that say which text they came from.

A distinctive string is a run of eight or more of `A-Z a-z 0-9 _ . / - : @` with dots, slashes, colons and dashes at its ends stripped, still eight
characters long, with a digit, a separator or an inner capital: paths, identifiers, versions, hashes. The public contract of `trimtab replay` pins
this rule; `references` follows what was used by it, and `replay` judges what was needed by it, so a policy sees what it is judged by.

The same texts are asked about again and again, so answers are kept: of the texts that were asked about last, as far as they and their strings
stay within a size.
"""

import re
from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")
_RUN = re.compile(r"[A-Za-z0-9_./\-:@]{8,}")
_ENDS = "./:-"
_SEPARATED = re.compile(r"[0-9_./\-:@]|[a-z0-9][A-Z]")
LEAST = 8
"""Characters of the shortest distinctive string."""
_MOST = 8_000_000
"""Characters that are kept of all texts together."""
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
