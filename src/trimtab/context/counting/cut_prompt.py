"""Whether a server silently cut a prompt: some drop the front of one that is too long for them, and answer as if nothing had happened.

    counted v reported, request after request ──▶ Suspicion: a sentence for a person, once; later the window that the server seems to have

Two signs, neither of which an ordinary difference between tokenizers gives: far fewer tokens are reported than were sent, or the request
grew, nothing was taken out of it, and the report hardly did. One such report may have other reasons; two in a row that are more than what
came in since (a server may report only that, and leave out what it had cached) are believed, and what it read at most is its window.
"""

from dataclasses import dataclass

_LEAST = 3_000
"""Tokens counted: below, the fixed part of a request blurs the comparison."""
_FAR = 1.5
"""Times what is reported: no tokenizer in use needs so few tokens for what ours, a frugal one, needs so many."""
_GREW = 0.1
"""Of the last request: a growth that a report must show."""
_SHARE = 0.25
"""Of what came in: a report that grew by less did not grow with the request."""
_MORE = 2
"""Times what came in since: a report above that is of more than the new part."""
_BELIEVED = 2
"""Such reports in a row."""


@dataclass(frozen=True, slots=True)
class Suspicion:
    """`said` is what to tell a person, the first time, else "". `window`: what the server seems to read at most, in tokens, once it is believed."""

    said: str = ""
    window: int | None = None


@dataclass(slots=True)
class CutWatch:
    """Compares what was counted for each request with what its answer reports."""

    _counted: int = 0
    _reported: int = 0
    _edits: int = 0
    _told: bool = False
    _row: int = 0
    _most: int = 0

    def observe(self, *, counted: int, reported: int, edits: int) -> Suspicion:
        """Take in one answered request.

        `counted` and `reported` are prompt tokens, cached ones included; `edits`: how many edits the conversation had by then.
        """
        if reported <= 0 or counted <= 0:
            return Suspicion()
        far = counted >= _LEAST and counted > _FAR * reported
        # The meter goes on from a report that it believes, and from its own count where it doesn't.
        base = self._reported if self._reported >= self._counted / 2 else self._counted
        came = max(0, counted - base)
        grew = edits == self._edits and base >= _LEAST and came >= base * _GREW
        stuck = grew and reported - self._reported < came * _SHARE
        self._counted, self._reported, self._edits = counted, reported, edits
        if not (far or stuck):
            self._row = self._most = 0
            return Suspicion()
        said = "" if self._told else _said(counted, reported)
        self._told = True
        if reported > _MORE * came:
            self._row, self._most = self._row + 1, max(self._most, reported)
        return Suspicion(said, self._most if self._row >= _BELIEVED else None)


def _said(counted: int, reported: int) -> str:
    return (
        f"the server reports {reported:,} prompt tokens for a request of about {counted:,}: it may have cut the prompt without saying so."
        " If its window is smaller than configured, set providers.NAME.context_window to it, or raise it on the server (Ollama: num_ctx)"
    )
