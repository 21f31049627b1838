"""Which model a recording is replayed as: its own, with the window and the prices that somebody may set otherwise.

recording.model ──catalogue──▶ cache row, prices, window      a model that nobody knows gets the cache of its wire and no price
"""

from dataclasses import dataclass

from msgspec.structs import replace

from trimtab.providers.catalogue import Catalogue
from trimtab.providers.history import same_model
from trimtab.sessions.recorded import Recording
from trimtab.types.errors import UsageError
from trimtab.types.models import CacheRules, ModelInfo, Price

DEFAULT_WINDOW = 200_000
"""Tokens of a window that neither the file nor the catalogue knows."""
_DEAREST = 1_000_000
"""USD per million tokens that no price is above."""
_ANTHROPIC = CacheRules("explicit", minimum=1024, lookback=20, breakpoints=4, ttl_s=300)
_PREFIX = CacheRules("prefix", minimum=1024, granularity=128, ttl_s=300)
_ANTHROPIC_FORMATS = frozenset({"claude-code", "anthropic"})


@dataclass(frozen=True, slots=True)
class Terms:
    """What somebody sets for all recordings: `window` in tokens, `price` in USD per million; None: as recorded, else as in the catalogue."""

    window: int | None = None
    price: Price | None = None


def model_of(recording: Recording, terms: Terms, *, catalogue: Catalogue | None = None) -> ModelInfo:
    """Return the model to replay a recording as."""
    known = _known(recording, catalogue or Catalogue.load())
    model = known or _unknown(recording)
    window = terms.window or recording.window or (known.context_window if known else DEFAULT_WINDOW)
    prices = model.prices if terms.price is None else (terms.price,)
    return replace(model, context_window=window, prices=prices)


def price_of(text: str) -> Price:
    """Read `in,cache_read,cache_write,out` in USD per million tokens. Raises `UsageError`."""
    try:
        fresh, read, write, out = (float(figure) for figure in text.split(","))
    except ValueError:
        raise UsageError(
            f"--price {text!r} is not four figures",
            hint="Such as --price 5,0.5,6.25,25: in, cache read, cache write, out.",
        ) from None
    if not all(0 <= figure <= _DEAREST for figure in (fresh, read, write, out)):
        raise UsageError(
            f"--price {text!r} has a figure below zero, above {_DEAREST:,}, or that is no number",
            hint="Give USD per million tokens.",
        )
    return Price(input=fresh, output=out, cache_read=read, cache_write=write)


def _known(recording: Recording, catalogue: Catalogue) -> ModelInfo | None:
    bare = recording.model.partition("[")[0].rpartition("/")[2]
    own = [m for m in catalogue.models() if same_model(m.id, bare)]
    return next((m for m in own if m.provider == recording.provider), own[0] if own else None)


def _unknown(recording: Recording) -> ModelInfo:
    wire = recording.format in _ANTHROPIC_FORMATS
    return ModelInfo(
        provider=recording.provider or "unknown",
        id=recording.model or "unknown",
        api="anthropic" if wire else "openai-chat",
        cache=_ANTHROPIC if wire else _PREFIX,
        max_output=32_000,
    )
