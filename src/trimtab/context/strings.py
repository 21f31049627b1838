"""Distinctive strings: names in a text that say which text they came from.

A distinctive string is a run of eight or more of `A-Z a-z 0-9 _ . / - : @` with dots, slashes, colons and dashes at its ends stripped, still eight
characters long, with a digit, a separator or an inner capital: paths, identifiers, versions, hashes. The public contract of `trimtab replay` pins
this rule; `references` follows what was used by it, and `replay` judges what was needed by it, so a policy sees what it is judged by.
"""

import re
from functools import lru_cache

_RUN = re.compile(r"[A-Za-z0-9_./\-:@]{8,}")
_ENDS = "./:-"
_SEPARATED = re.compile(r"[0-9_./\-:@]|[a-z0-9][A-Z]")
LEAST = 8
"""Characters of the shortest distinctive string."""


@lru_cache(maxsize=4_096)
def distinctive_strings(text: str) -> tuple[str, ...]:
    """Return the distinctive strings of `text`, each once, in the order in which they appear."""
    found = dict.fromkeys(run.strip(_ENDS) for run in _RUN.findall(text))
    return tuple(string for string in found if len(string) >= LEAST and _SEPARATED.search(string))
