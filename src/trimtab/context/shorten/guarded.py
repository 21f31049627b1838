"""A compressor of somebody else, and what stands in for it.

    text ──compressor──▶ shorter text ──is it one?──▶ that
                 └ raises, returns nothing or something else ──▶ the built-in one, and whoever embeds the engine is told, once

It may be anybody's code, so this is a door: whatever it throws stays here. What it made is kept for a while, since one text is planned for several times
before it is shown, and a model behind it would be paid each time.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence

from trimtab.context.shorten.compress import Compressor
from trimtab.context.shorten.pieces import Shortened
from trimtab.types.text import scrub
from trimtab.types.tools import Cut

_KEPT = 32
"""Answers that are kept: those that were asked for last."""
_LONGEST_PROBLEM = 300
"""Characters of what foreign code says about its failure."""


class Guarded:
    """Asks `compressor`, and `instead` for what that one fails at. `tell` hears of the first failure."""

    def __init__(self, compressor: Compressor, *, instead: Compressor, tell: Callable[[str], None]) -> None:
        self._compressor = compressor
        self._instead = instead
        self._tell = tell
        self._failed = False
        self._made: OrderedDict[tuple[str, float, tuple[str, ...], str], Shortened] = OrderedDict()

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Shortened:
        """Return the shorter text."""
        asked = (text, share, tuple(words), key)
        made = self._made.pop(asked, None) or self._asked(text, share, tuple(words), key)
        self._made[asked] = made
        if len(self._made) > _KEPT:
            self._made.popitem(last=False)
        return made

    def _asked(self, text: str, share: float, words: tuple[str, ...], key: str) -> Shortened:
        try:
            made: object = self._compressor.compress(text, share=share, words=words, key=key)
            if isinstance(made, Shortened) and isinstance(made.text, str) and (made.text.strip() or not text.strip()):
                return Shortened(scrub(made.text), made.cut if isinstance(made.cut, Cut) else None)
            said = "an empty text" if isinstance(made, Shortened) else type(made).__name__
            problem = f"the compressor returned {said}, not a text in a Shortened"
        except Exception as raised:  # noqa: BLE001 - a door: somebody else's compressor; the built-in one stands in
            problem = f"the compressor raised {_said(raised)}"
        if not self._failed:
            self._failed = True
            self._tell(f"{scrub(problem)}; the built-in one stands in for what it fails at")
        return self._instead.compress(text, share=share, words=words, key=key)


def _said(raised: Exception) -> str:
    """Its kind and its words; an exception of others may not even have those."""
    try:
        return f"{type(raised).__name__}: {raised}"[:_LONGEST_PROBLEM]
    except Exception:  # noqa: BLE001 - the same door
        return type(raised).__name__
