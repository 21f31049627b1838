"""Token usage of one request, in one convention.

Vendors disagree: some report cached tokens inside the input count, some beside it. Providers normalise at
their edge, so here the four counts never overlap and a sum never counts a token twice.
"""

import msgspec


class Usage(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one or more requests.

    `input` is the uncached part of the prompt; `cache_read` and `cache_write` stand beside it, never
    inside. `reasoning` is the part of `output` the model spent on thinking (already counted there).
    """

    input: int = 0
    """Uncached tokens of the prompt."""
    output: int = 0
    """Tokens of the answer, thinking included."""
    cache_read: int = 0
    """Tokens of the prompt read from a cache."""
    cache_write: int = 0
    """Tokens of the prompt written to a cache."""
    cache_write_1h: int = 0
    """The part of `cache_write` that is kept for an hour."""
    reasoning: int = 0
    """The part of `output` that was thinking."""

    @property
    def prompt(self) -> int:
        """Size of the whole prompt in tokens, however it was paid."""
        return self.input + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            reasoning=self.reasoning + other.reasoning,
        )
