"""The name that was meant, when a word is none."""

import difflib
from collections.abc import Iterable

_CLOSE = 0.75


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The one of `names` that `word` nearly is: its singular or plural, or a few letters away."""
    known = sorted(names)
    number = {word + "s", word.removesuffix("s")}
    close = [name for name in known if name in number] or difflib.get_close_matches(word, known, n=1, cutoff=_CLOSE)
    return close[0] if close else None
