"""The till: what each request of a replay costs.

    request's shape + the cache as the requests before left it + the recorded clock ──bill──▶ read, written, fresh, USD

The cache here is the world's, not the engine's belief: what a client really had open before the session (its system prompt and tools) is warm at
the first request, and a gap longer than entries live makes everything cold.
"""

from dataclasses import dataclass, field

from trimtab.context.economics.bill import Bill, bill
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.shapes import RequestShape
from trimtab.types.models import CacheRules, ModelInfo, cost_usd
from trimtab.types.usage import Usage

RELOAD_OUTPUT = 60
"""Tokens that a model writes to fetch one hidden result back."""


@dataclass(slots=True)
class Till:
    """Follows one session with one model. Money is None when no price is known."""

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
        return bill(self.state, request, self.rules, self.model.prices or None, now=now)

    def _settle(self, following: RequestShape) -> None:
        """Keep what the last request left: itself and, where a cache keeps answers, the answer as the next request shows it."""
        if self.last is None:
            return
        request, now = self.last
        grown = following.size > request.size and following.shared_with(request) == request.size
        answer = (following.segment(request.size + 1),) if self.rules.caches_answer and grown else ()
        self.state = self.state.after(request, self.rules, answer=answer, now=now)

    def usd(self, made: Bill, output: int) -> float | None:
        """What a billed request costs with its answer."""
        usage = Usage(made.fresh, output, made.read, made.written, made.written_1h)
        return cost_usd(usage, self.model.prices)

    def reload_usd(self, prompt: int) -> float | None:
        """What fetching one result back costs: the prompt once more, from the cache, and a short call."""
        return cost_usd(Usage(0, RELOAD_OUTPUT, prompt), self.model.prices)

    def summary_usd(self, prompt: int, written: int) -> float | None:
        """What having a summary written costs: the request as it was, from the cache, and the text."""
        return cost_usd(Usage(0, written, prompt), self.model.prices)

    def repeat_usd(self, prompt: int, call: int, result: int) -> float | None:
        """What making the original call once more costs: the prompt from the cache, the call written, its result read anew."""
        return cost_usd(Usage(result, call, prompt), self.model.prices)
