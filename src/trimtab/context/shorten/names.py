"""Names: what a hidden text leaves behind, so that a model can still write down the paths and identifiers that stood in it.

    body ──distinctive strings──▶ those that stand nowhere else in the request ──worth per token──▶ as many as fit ──▶ `names: a b c`

What a later call takes from an old result is mostly a name: a path, a function, a branch. A line of them costs a tenth of the text, and a call that needs
no more than the name needs no recall either. It also tells a model which result to fetch. Which kinds of names are used again was counted on recorded
sessions (71,000 strings of 60 sessions): identifiers 8 to 11 in a hundred, files with an ending 9, words with dashes 9, bare folders 3, positions in
files, times and numbers under 1.

A name is shown with what its text has in front of it where that makes another name of it: `/etc/hosts.d`, `.github/ci.yml`, `~/notes.txt`, `../src/a.py`. Strings are compared
without.
"""

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from trimtab.context.strings import distinctive_strings, times_in

Count = Callable[[str], int]
TAKEN = 0.3
"""How often a name that a call wrote before is used again, about."""
_HEAD = "names: "
_WRITTEN = re.compile(r"~?[A-Za-z0-9_./\-:@]{8,}")
_LEAD = re.compile(r"(?:(?:~?/|(?:\.\./)+)\.?|\.)(?=[A-Za-z0-9_@])")
"""What in front of a name belongs to it: a root, a home, folders upwards, the dot of a hidden file."""
_SEAL = re.compile(r"~[a-z2-7]{8}(?![A-Za-z0-9_])")
"""The key of a marker: a name of nothing that a model could use."""
_AROUND = "~./:-"
_POSITION = re.compile(r":\d+")
_ENDING = re.compile(r"\.[A-Za-z]{1,5}$")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_HEX = re.compile(r"[0-9a-f-]+\Z")
_OFTEN = 3
"""Times from which on a string is as prominent as one gets: those are used twice as often as strings that stand once."""


def names_line(
    text: str, *, standing: Collection[str] = (), max_tokens: int, count: Count, taken: Iterable[str] = ()
) -> str:
    """Return a line with the names in `text` that stand nowhere else, in the order of the text, or "" when there are none worth keeping.

    `standing`: strings that stand elsewhere in the request. `taken`: strings that calls wrote before.
    """
    return line_of(names_in(text, standing=standing, max_tokens=max_tokens, count=count, taken=taken))


def names_in(
    text: str, *, standing: Collection[str] = (), max_tokens: int, count: Count, taken: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return those names as the text writes them, the ones of most worth for each token first in line for the space that there is."""
    text = _SEAL.sub("", text)
    known = frozenset(taken)
    found = [string for string in distinctive_strings(text) if string not in standing]
    leads = _leads(text)
    worths = [(string, max(worth_of(string), TAKEN if string in known else 0.0)) for string in found]
    worthy = [(string, worth) for string, worth in worths if worth > 0]
    rated: list[tuple[float, int, str, int]] = []
    times = times_in(text, [string for string, _ in worthy])
    for number, ((string, worth), often) in enumerate(zip(worthy, times, strict=True)):
        shown = leads.get(string, "") + string
        size = count(f" {shown}")
        prominence = 1 + min(often, _OFTEN) / _OFTEN
        rated.append((-worth * prominence / max(1, size), number, shown, size))
    left = max_tokens - count(_HEAD)
    kept: list[tuple[int, str]] = []
    for _, number, string, size in sorted(rated):
        if size <= left:
            kept.append((number, string))
            left -= size
    return tuple(string for _, string in sorted(kept))


def written_in(text: str) -> list[str]:
    """Return the names in `text` as it writes them, each once, in order."""
    leads = _leads(text)
    return [leads.get(string, "") + string for string in distinctive_strings(text)]


def _leads(text: str) -> dict[str, str]:
    """What stands in front of each distinctive string where it first appears, for those where that matters."""
    leads: dict[str, str] = {}
    for written in _WRITTEN.findall(text):
        lead = _LEAD.match(written)
        leads.setdefault(written.strip(_AROUND), lead[0] if lead is not None else "")
    return leads


def line_of(names: Iterable[str]) -> str:
    """Return the line of these names."""
    joined = " ".join(names)
    return _HEAD + joined if joined else ""


@lru_cache(maxsize=16_384)
def worth_of(string: str) -> float:
    """Return how often strings of this kind are used again, as a share."""
    digits = sum(character.isdigit() for character in string) / len(string)
    if _POSITION.search(string) or digits > 0.3:
        return 0.0
    if "@" in string or _HEX.match(string):
        return 0.03
    if "/" in string:
        return 0.085 if _ENDING.search(string) else 0.033
    if _IDENTIFIER.match(string):
        return 0.09
    return 0.06
