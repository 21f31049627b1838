"""The one bill: what of a request is read from the cache, written to it, or paid in full, and what that costs.

    bill(what the cache holds, next request, cache row, prices) → Bill(read, written, fresh, usd)

The gate, the meter, replay and the reward of a learned policy all ask this function, and nothing else knows how a provider charges; it is
itself held against the cached tokens that providers report (`sessions/cache_accuracy.py`). `read + written + fresh` is always the whole
prompt. Answers are not part of it: they cost the same whatever the cache does.
"""

from dataclasses import dataclass

from trimtab.context.economics.cache_state import CacheState, marks_of, round_down
from trimtab.context.economics.shapes import RequestShape
from trimtab.types.models import CacheRules, Price, cost_usd
from trimtab.types.usage import Usage

LONG_S = 3_600
"""From this lifetime on, a write is charged at the price for an hour."""


@dataclass(frozen=True, slots=True)
class Bill:
    """Tokens of a prompt by how they are paid; they never overlap. `usd` is None when no price is known."""

    read: int = 0
    written: int = 0
    fresh: int = 0
    usd: float | None = None
    written_1h: int = 0

    @property
    def prompt(self) -> int:
        """Size of the prompt in tokens."""
        return self.read + self.written + self.fresh

    @property
    def usage(self) -> Usage:
        """The same as a provider would report it, with no answer yet."""
        return Usage(self.fresh, 0, self.read, self.written, self.written_1h)


def bill(
    previous: CacheState | RequestShape | None,
    following: RequestShape,
    rules: CacheRules,
    prices: Price | tuple[Price, ...] | None = None,
    *,
    cold: bool = False,
    now: float | None = None,
    held_s: float = 0.0,
) -> Bill:
    """Return what `following` costs after `previous` (the cache, or just the request before; None: nothing was sent yet).

    `cold`: the cache holds nothing, whatever was written. `now` in seconds, on the clock of the state's own times. `held_s`: how long the
    provider keeps what is cached until the next request, where it charges rent (`CacheRules.storage`).
    """
    state = CacheState().after(previous, rules, now=now) if isinstance(previous, RequestShape) else previous
    if cold or state is None:
        state = CacheState(following.model)
    read = state.readable(following, rules, now=now)
    marks = marks_of(state, following, rules)
    return bill_of(read, following.total, following.tokens_before(max(marks, default=0)), rules, prices, held_s=held_s)


def cache_rates(price: Price, rules: CacheRules) -> tuple[float, float]:
    """Return what a cached read and a write cost, in USD per million tokens; a write for as long as `rules` asks for."""
    hour = rules.kind == "explicit" and rules.ttl_s >= LONG_S
    return price.read, price.write_1h if hour else price.write


def bill_of(
    read: int,
    total: int,
    marked: int,
    rules: CacheRules,
    prices: Price | tuple[Price, ...] | None = None,
    *,
    held_s: float = 0.0,
) -> Bill:
    """Return the bill of `total` tokens of which `read` are served from the cache. `marked`: tokens in front of the last breakpoint."""
    written = 0
    if rules.kind == "explicit":
        written = max(round_down(marked, rules) - read, 0)
    usage = Usage(total - read - written, 0, read, written, written if rules.ttl_s >= LONG_S else 0)
    usd = cost_usd(usage, (prices,) if isinstance(prices, Price) else prices or ())
    if usd is not None and rules.storage:
        usd += (read + written) * held_s / 3_600 * rules.storage / 1_000_000
    return Bill(read, written, usage.input, usd, usage.cache_write_1h)
