"""The till: how each request of a replay is paid, in tokens. What they cost is asked afterwards, at any price.

    request's shape + the cache as the requests before left it + the recorded clock ──bill──▶ read, written, fresh ──usage──▶ × prices

The cache here is the world's, not the engine's belief: what a client really had open before the session (its system prompt and tools) is warm at
the first request, and a gap longer than entries live makes everything cold.
"""

from dataclasses import dataclass, field

from trimtab.context.economics.bill import Bill, bill
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.shapes import RequestShape
from trimtab.types.models import CacheRules, ModelInfo
from trimtab.types.usage import Usage

RELOAD_OUTPUT = 60
"""Tokens that a model writes to fetch one hidden result back."""


@dataclass(slots=True)
class Till:
    """Follows one session with one model."""

    model: ModelInfo
    state: CacheState = field(default_factory=CacheState)
    last: tuple[RequestShape, float | None] | None = None

    @property
    def rules(self) -> CacheRules:
        """The cache row."""
        return self.model.cache

    def open(self, request: RequestShape, *, now: float | None) -> None:
        """Somebody sent the fixed part of `request` before: it is cached."""
        fixed = request.edited(dict.fromkeys(range(request.fixed, request.size)))
        self.state = self.state.after(fixed, self.rules, now=now)

    def take(self, request: RequestShape, *, now: float | None) -> Bill:
        """Bill a request; what it leaves in the cache is there for the next one."""
        self._settle(request)
        self.last = (request, now)
        return bill(self.state, request, self.rules, now=now)

    def _settle(self, following: RequestShape) -> None:
        """Keep what the last request left: itself and, where a cache keeps answers, the answer as the next request shows it."""
        if self.last is None:
            return
        request, now = self.last
        grown = following.size > request.size and following.shared_with(request) == request.size
        answer = (following.segment(request.size + 1),) if self.rules.caches_answer and grown else ()
        self.state = self.state.after(request, self.rules, answer=answer, now=now)


def charged(made: Bill, output: int) -> Usage:
    """Return a billed request with its answer."""
    return Usage(made.fresh, output, made.read, made.written, made.written_1h)


def reloaded(prompt: int) -> Usage:
    """Return what fetching one result back takes: the prompt once more, from the cache, and a short call."""
    return Usage(0, RELOAD_OUTPUT, prompt)


def summarised(prompt: int, written: int) -> Usage:
    """Return what having a summary written takes: the request as it was, from the cache, and the text."""
    return Usage(0, written, prompt)


def repeated(prompt: int, call: int, result: int) -> Usage:
    """Return what making the original call once more takes: the prompt from the cache, the call written, its result read anew."""
    return Usage(result, call, prompt)
