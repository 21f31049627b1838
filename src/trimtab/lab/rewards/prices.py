"""Prices under which episodes are played: four kinds that providers have, or drawn between them.

All episodes of a group share the prices, because what one saves and another spends can't be compared otherwise; the policy is told them (`read`, `write`,
`output`), because what pays depends on them. Only ratios matter: cost is measured in what keeping everything costs at the same prices.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from trimtab.types.models import CacheRules, ModelInfo, Price

_INPUT = 3.0
"""USD per million fresh tokens; any number would do."""
_PREFIX = CacheRules("prefix", minimum=1_024, granularity=128, ttl_s=300)
_EXPLICIT = CacheRules("explicit", minimum=1_024, lookback=20, breakpoints=4, ttl_s=300)


@dataclass(frozen=True, slots=True)
class Regime:
    """Prices and the cache they are for."""

    name: str
    price: Price
    cache: CacheRules

    def of(self, model: ModelInfo) -> ModelInfo:
        """`model` at these prices, with this cache."""
        return msgspec.structs.replace(model, prices=(self.price,), cache=self.cache)

    @property
    def read(self) -> float:
        """A token read from the cache, in fresh tokens; 1 without a cache."""
        return 1.0 if self.cache.kind == "none" else self.price.read / self.price.input

    @property
    def write(self) -> float:
        """A token written to the cache, in fresh tokens."""
        return self.price.write / self.price.input if self.cache.kind == "explicit" else 1.0

    @property
    def output(self) -> float:
        """A token of an answer, in fresh tokens."""
        return self.price.output / self.price.input


def regime(name: str, *, read: float, write: float = 1.0, output: float = 5.0) -> Regime:
    """Return prices by their ratios to a fresh token. A read at full price is no cache; a write that costs more is a cache with breakpoints."""
    price = Price(_INPUT, _INPUT * output, cache_read=_INPUT * read, cache_write=_INPUT * write)
    return Regime(name, price, CacheRules() if read >= 1.0 else _PREFIX if write == 1.0 else _EXPLICIT)


REGIMES = (
    regime("uncached", read=1.0),
    regime("quarter", read=0.25),
    regime("tenth", read=0.1),
    regime("tenth-written", read=0.1, write=1.25),
)
"""No cache; a discount of four or ten; one of ten where writing costs a quarter more."""


def draw(task: str, seed: int, regimes: Sequence[Regime] = REGIMES) -> Regime:
    """Return the prices of the group of `task` and `seed`: one of `regimes`, the same every time."""
    return _dice(task, seed).choice(list(regimes))


def draw_between(task: str, seed: int) -> Regime:
    """Return prices between the usual ones, for a policy that isn't to learn four of them by heart: reads 0.05 to 1 (evenly in the logarithm), writes 1 or
    1.25, answers 3 to 6 fresh tokens.
    """
    dice = _dice(task, seed)
    read = math.exp(dice.uniform(math.log(0.05), 0.0))
    write = dice.choice((1.0, 1.25))
    output = dice.uniform(3.0, 6.0)
    return regime(f"drawn-{read:.3f}-{write}-{output:.2f}", read=read, write=write, output=output)


def _dice(task: str, seed: int) -> random.Random:
    return random.Random(f"prices {task} {seed}")
