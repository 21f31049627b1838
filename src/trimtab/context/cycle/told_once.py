"""What was refused, said once: a policy that wants the same impossible thing before each request would fill the log with it.

    author, reasons ──is_news?──▶ yes, and noted      an edit of that author was made ──▶ all of theirs is news again

Figures in the reasons grow with the conversation, so two that differ in these only are the same.
"""

import re
from collections.abc import Iterable, Mapping

_FIGURES = re.compile(r"\d[\d,.]*")
_MOST = 200
"""Reasons that are kept for one author; then it begins anew."""


class ToldOnce:
    """Remembers what was said for each author since something last came of their wishes."""

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}

    def is_news(self, author: str, reasons: Iterable[str]) -> bool:
        """Whether any of `reasons` wasn't said yet; all of them are from now on."""
        told = self._told.setdefault(author, set())
        fresh = {_FIGURES.sub("0", reason) for reason in reasons} - told
        if len(told) + len(fresh) > _MOST:
            told.clear()
        told |= fresh
        return bool(fresh)

    def succeeded(self, author: str) -> None:
        """Something that this author wanted was done."""
        self._told.pop(author, None)

    @property
    def state(self) -> dict[str, list[str]]:
        """What was said, as it is saved."""
        return {author: sorted(told) for author, told in self._told.items()}

    def restore(self, state: Mapping[str, Iterable[str]]) -> None:
        """Take over what was saved."""
        self._told = {author: set(told) for author, told in state.items()}
