"""What was refused, said once: a policy that wants the same impossible thing before each request would fill the log with it.

    author, reasons ──is_news?──▶ yes, and noted      an edit of that author was made ──▶ all of theirs is news again

Figures in the reasons grow with the conversation, so two that differ in these only are the same: `it has 9 tokens`, `it has 1,200 tokens`. Digits of a name tell
items apart: `r7`, `'7'`, `c0ffee12`, `e4#2`. Where more was said than is kept, kinds of reasons are told apart and items no more.
"""

import re
from collections.abc import Iterable, Mapping

_FIGURES = re.compile(r"(?<![\w#~'\"`/.\-])\d(?:[\d,.]*\d)?(?![\w#'\"`\-])")
_DIGITS = re.compile(r"\d[\d,.]*")
_MOST = 200
"""Reasons that are kept for one author as they are; from then on, all that differ in digits only are one."""
_LIMIT = 2 * _MOST
"""Reasons that are kept for one author; then it begins anew."""


class ToldOnce:
    """Remembers what was said for each author since something last came of their wishes."""

    def __init__(self) -> None:
        self._told: dict[str, set[str]] = {}

    def is_news(self, author: str, reasons: Iterable[str]) -> bool:
        """Whether any of `reasons` wasn't said yet; all of them are from now on."""
        told = self._told.setdefault(author, set())
        news = False
        for reason in reasons:
            kind = _DIGITS.sub("0", reason)
            alike = _FIGURES.sub("0", reason)
            if alike in told or (len(told) >= _MOST and kind in told):
                continue
            news = True
            if len(told) >= _LIMIT:
                told.clear()
            told |= {alike, kind}
        return news

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
