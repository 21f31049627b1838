"""Which model a recording is replayed as: its own, with the window and the prices that somebody may set otherwise.

recording.model ──catalogue──▶ cache row, prices, window      a model that nobody knows gets the cache of its wire and no price
reported writes ──────────────▶ how long the cache row keeps entries: what the session paid for is what every policy pays for
recorded compactions ─────────▶ the window that the session lived in, where no file names it: a client may use less than its model has
"""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec.structs import replace

from trimtab.context.budget import Thresholds, budget_for
from trimtab.context.economics.bill import LONG_S
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.history import same_model
from trimtab.sessions.recorded import Answered, Compacted, Recording
from trimtab.types.errors import UsageError
from trimtab.types.models import CacheRules, ModelInfo, Price

DEFAULT_WINDOW = 200_000
"""Tokens of a window that neither the file nor the catalogue knows."""
SHORT_S = 300
"""Seconds that an entry lives where nothing longer is asked for."""
WindowSource: TypeAlias = Literal["given", "recorded", "compacted", "catalogue", "default"]
_WIDEST = 1 << 40
"""Tokens of a window that no request exceeds."""
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


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a replay in tokens, and who says so. `compacted_at`: tokens that the fullest context held when its client compacted it by itself."""

    tokens: int
    source: WindowSource
    compacted_at: int | None = None


def model_of(recording: Recording, terms: Terms, *, catalogue: Catalogue | None = None) -> ModelInfo:
    """Return the model to replay a recording as."""
    model = _known(recording, catalogue or Catalogue.load()) or _unknown(recording)
    window = window_of(recording, terms, catalogue=catalogue)
    prices = model.prices if terms.price is None else (terms.price,)
    return replace(model, context_window=window.tokens, prices=prices, cache=_as_written(recording, model.cache))


def window_of(recording: Recording, terms: Terms, *, catalogue: Catalogue | None = None) -> Window:
    """Return the window to replay a recording in: the one that was asked for, else the recorded one, else the one that it lived in, else its model's.

    A client that compacts by itself does so where its window ends. So the window is the smallest that a model of this provider has and that holds
    whatever stood in the context then, or in any request.
    """
    catalogue = catalogue or Catalogue.load()
    known = _known(recording, catalogue)
    if terms.window or recording.window:
        return Window(terms.window or recording.window or 0, "given" if terms.window else "recorded")
    if known is None:
        return Window(DEFAULT_WINDOW, "default")
    compacted = [e.before_tokens or 0 for e in recording.events if isinstance(e, Compacted) and e.trigger != "manual"]
    if any(compacted):
        fullest = max(*compacted, *_prompts(recording), 0)
        windows = (m.context_window for m in catalogue.models() if m.provider == known.provider)
        lived = min((w for w in windows if w >= fullest), default=known.context_window)
        if lived < known.context_window:
            return Window(lived, "compacted", max(compacted))
    return Window(known.context_window, "catalogue")


def _prompts(recording: Recording) -> Iterable[int]:
    usages = (event.message.usage for event in recording.events if isinstance(event, Answered))
    return (usage.prompt for usage in usages if usage is not None)


def _as_written(recording: Recording, rules: CacheRules) -> CacheRules:
    """The row with the lifetime that most of what the session wrote was written for; as it is where no write was reported."""
    usages = [e.message.usage for e in recording.events if isinstance(e, Answered) and e.message.usage is not None]
    written, long = sum(u.cache_write for u in usages), sum(u.cache_write_1h for u in usages)
    if rules.kind != "explicit" or not written:
        return rules
    return replace(rules, ttl_s=LONG_S if 2 * long >= written else min(rules.ttl_s, SHORT_S))


def window_holding(tokens: int, model: ModelInfo, thresholds: Thresholds) -> int:
    """Return the smallest window of this model in which a request of `tokens` may be sent."""

    def hard(window: int) -> int:
        return budget_for(replace(model, context_window=window), thresholds).hard

    return bisect_left(range(_WIDEST), tokens, key=hard)


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
