"""Whether a server silently cut a prompt: some drop the front of one that is too long for them, and answer as if nothing had happened.

    counted v reported, request after request ──▶ a sentence for a person, once

Two signs, neither of which an ordinary difference between tokenizers gives: far fewer tokens are reported than were sent, or the request
grew, nothing was taken out of it, and the report hardly did.

Nothing is done but telling. Servers report in odd ways (only what was not cached, a constant, pictures at their own price), so to make requests smaller
on such evidence would take more from honest servers than it saves with the others.
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


@dataclass(slots=True)
class CutWatch:
    """Compares what was counted for each request with what its answer reports."""

    _counted: int = 0
    _reported: int = 0
    _edits: int = 0
    _told: bool = False

    def observe(self, *, counted: int, reported: int, edits: int) -> str:
        """Take in one answered request; return what to tell a person, the first time that a cut is likely, else "".

        `counted` and `reported` are prompt tokens, cached ones included; `edits`: how many edits the conversation had by then.
        """
        if reported <= 0 or counted <= 0:
            return ""
        far = counted >= _LEAST and counted > _FAR * reported
        # The meter goes on from a report that it believes, and from its own count where it doesn't.
        base = self._reported if self._reported >= self._counted / 2 else self._counted
        came = max(0, counted - base)
        grew = edits == self._edits and base >= _LEAST and came >= base * _GREW
        stuck = grew and reported - self._reported < came * _SHARE
        self._counted, self._reported, self._edits = counted, reported, edits
        if self._told or not (far or stuck):
            return ""
        self._told = True
        return (
            f"the server reports {reported:,} prompt tokens for a request of about {counted:,}: it may have cut the prompt without saying so."
            " If its window is smaller than configured, set providers.NAME.context_window to it, or raise it on the server (Ollama: num_ctx)"
        )
