"""Token usage of one request, in one convention.

Vendors disagree: some report cached tokens inside the input count, some beside it. Providers normalise at
their edge, so here the four counts never overlap and a sum never counts a token twice.

A server may report anything. What can't be true (`why_impossible`) is booked nowhere: whoever hears an answer asks before anything learns from it.
"""

import msgspec

_MOST_INPUT = 4_000_000
"""Tokens; no window has that many, and a window that is only configured may be far smaller than the real one."""
_MOST_OUTPUT = 200_000
"""Tokens; some servers don't count thoughts, which nobody hears, as part of what was asked for."""
_FAR = 4
"""Times the window, or the output that was asked for: beyond doubt, however a server counts."""
_MOST_BYTES = 4
"""Bytes of a character; no token is less than a byte."""


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

    @property
    def total(self) -> int:
        """Tokens of prompt and answer together."""
        return self.prompt + self.output

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input=self.input + other.input,
            output=self.output + other.output,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_1h=self.cache_write_1h + other.cache_write_1h,
            reasoning=self.reasoning + other.reasoning,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        """What is left without `other`; a count may come to less than nothing."""
        return Usage(*(getattr(self, name) - getattr(other, name) for name in self.__struct_fields__))


def why_impossible(usage: Usage, *, window: int, most_output: int, heard: int) -> str:
    """Say why one request can't have had this usage; empty when it can.

    `window` and `most_output` (what was asked for) in tokens, `heard` in characters: an answer may be longer than was asked for, but then one has heard it.
    """
    counts = [getattr(usage, name) for name in Usage.__struct_fields__]
    if any(type(count) is not int or count < 0 for count in counts):
        return "it has counts that are no whole numbers of at least 0"
    if usage.cache_write_1h > usage.cache_write:
        return f"{usage.cache_write_1h:,} tokens written for an hour, and {usage.cache_write:,} written in all"
    if usage.prompt > max(_FAR * window, _MOST_INPUT):
        return f"{usage.prompt:,} tokens of input, and the window has {window:,}"
    written = max(usage.output, usage.reasoning)
    if written > max(_FAR * most_output, _MOST_BYTES * heard, _MOST_OUTPUT):
        return f"{written:,} tokens of output, where {most_output:,} were asked for and {heard:,} characters came"
    return ""
