"""Whether the cache still holds anything: read off what providers report; the clock is only a prior.

Retention is a promise in one direction at most: entries live longer when a server is idle, and are gone early when it isn't, or when a request
lands on another machine. So each report of cached tokens is held against what the bill expected. From it three things are learned:

    the last request read (almost) nothing of what it should have   its prefix was written anew, so it is warm again from here on
    hits and misses by idle time                                    this provider's real lifetime, in place of the catalogue's
    several misses in a row with little idle time                   nothing is cached here at all (a local server, a cache that is off)

Pure: the caller says how long it was idle.
"""

from dataclasses import dataclass, replace

from trimtab.context.economics.cache_state import GRACE
from trimtab.types.models import CacheRules
from trimtab.types.usage import Usage

_ALWAYS = 3
"""Misses in a row without a reason from which on the cache is taken to be off."""
_SHORT_S = 60.0
"""Idle time that no cache should be too short for."""


@dataclass(frozen=True, slots=True)
class Warmth:
    """What was learned about the cache of one model. `alive_s`: longest idle time that still read; `gone_s`: shortest that didn't, beyond it."""

    alive_s: float = 0.0
    gone_s: float | None = None
    misses: int = 0
    seen: int = 0

    def observed(self, expected_read: int, usage: Usage, *, idle_s: float | None = None) -> "Warmth":
        """Take in a report. `expected_read`: cached tokens by the bill, had the cache been warm; `idle_s`: since the request before."""
        if expected_read <= 0 or not usage.prompt:
            return self
        if not is_break(expected_read, usage.cache_read):
            alive = max(self.alive_s, idle_s or 0.0)
            gone = self.gone_s if self.gone_s is not None and self.gone_s > alive else None
            return Warmth(alive, gone, 0, self.seen + 1)
        if idle_s is not None and idle_s > max(self.alive_s, _SHORT_S):
            return replace(self, gone_s=min(idle_s, self.gone_s or idle_s))
        return replace(self, misses=self.misses + 1)

    @property
    def off(self) -> bool:
        """Whether this provider doesn't seem to cache at all."""
        return self.misses >= _ALWAYS

    def lifetime_s(self, rules: CacheRules) -> float | None:
        """How long an unused cache is taken to live here; None: no idea."""
        promised = rules.ttl_s * GRACE if rules.ttl_s else None
        if self.gone_s is not None:
            return min(self.gone_s, max(promised or 0.0, self.alive_s)) if promised else self.gone_s
        return max(promised, self.alive_s) if promised else None

    def cold(self, idle_s: float | None, rules: CacheRules) -> bool:
        """Whether the next request will probably find nothing. `idle_s`: seconds since the last request; None: unknown."""
        if rules.kind == "none" or self.off:
            return True
        lifetime = self.lifetime_s(rules)
        return idle_s is not None and lifetime is not None and idle_s > lifetime


def is_break(expected_read: int, reported_read: int) -> bool:
    """Return whether a report says that the cache broke: under half of what should have been read was."""
    return reported_read * 2 < expected_read
