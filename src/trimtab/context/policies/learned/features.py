"""Features: an observation as rows of plain numbers, without numpy; what the learned policy and the Gymnasium environment see.

    ItemFacts + Observation ──item_row──▶ ITEM_FEATURES        Observation ──whole_row──▶ WHOLE_FEATURES

All are at least 0 and at most `MOST`: shares of the room, logarithms of counts, flags. They read the observation and nothing else, so nothing in
them knows what comes.
"""

import hashlib
from math import log1p
from typing import get_args

from trimtab.context.seeing.observation import ItemFacts, ItemKind, ItemState, Observation

MOST = 16.0
"""No feature is larger."""
_KINDS: tuple[str, ...] = get_args(ItemKind)
_STATES: tuple[str, ...] = get_args(ItemState)

ITEM_FEATURES: tuple[str, ...] = (
    "log_tokens",
    "share",
    "log_full_tokens",
    "log_age",
    "before",
    "behind",
    "sent",
    "log_referenced",
    "used",
    "log_last_used",
    "goal_overlap",
    "recent_overlap",
    "regret",
    "superseded",
    "duplicate",
    "expired",
    "error",
    "failed_input",
    "log_arguments",
    "pinned",
    "restored",
    *(f"kind_{kind}" for kind in _KINDS),
    *(f"state_{state}" for state in _STATES),
    "chosen",
)
"""Of an item. `before` and `behind`: tokens in front of it and behind it, as shares of the room; `chosen`: it is in the open batch."""
WHOLE_FEATURES: tuple[str, ...] = (
    "used",
    "soft",
    "hard",
    "fixed",
    "cached",
    "cold",
    "read_price",
    "write_price",
    "log_remaining",
    "log_step",
    "log_since",
    "batch",
)
"""Of the whole: sizes as shares of the room, `cached` of what is used, prices in units of fresh input, `log_since` of the requests since the last edit, `batch` of a full one."""

SCHEMA = hashlib.sha256("\n".join((*ITEM_FEATURES, "", *WHOLE_FEATURES)).encode()).hexdigest()[:16]
"""Names and order of all features. Weights say for which they were made; a feature that comes to mean something else gets another name."""


def item_row(item: ItemFacts, observation: Observation, *, chosen: bool) -> tuple[float, ...]:
    """The features of an item."""
    room = max(1, observation.room)
    behind = observation.used - observation.fixed - item.offset - item.tokens
    row = (
        log1p(item.tokens),
        item.tokens / room,
        log1p(item.full_tokens),
        log1p(max(0, item.age)),
        item.offset / room,
        behind / room,
        item.sent,
        log1p(item.referenced),
        item.last_used is not None,
        log1p(max(0, item.last_used or 0)),
        item.goal_overlap,
        item.recent_overlap,
        item.regret,
        item.superseded_by is not None,
        item.duplicate_of is not None,
        item.expired,
        item.is_error,
        item.failed_input,
        log1p(item.arguments),
        item.pinned,
        item.restored is not None,
        *(item.kind == kind for kind in _KINDS),
        *(item.state == state for state in _STATES),
        chosen,
    )
    return _bounded(row)


def whole_row(observation: Observation, *, batch: float) -> tuple[float, ...]:
    """The features of the whole. `batch`: how full the open batch is, 0 to 1."""
    room, prices = max(1, observation.room), observation.prices
    fresh = prices.input if prices is not None and prices.input > 0 else 0.0
    since = min(observation.since.values(), default=observation.step)
    row = (
        observation.used / room,
        observation.soft / room,
        observation.hard / room,
        observation.fixed / room,
        observation.cached / max(1, observation.used),
        observation.cold,
        prices.cache_read / fresh if prices is not None and fresh else 1.0,
        prices.cache_write / fresh if prices is not None and fresh else 1.0,
        log1p(max(0.0, observation.remaining)),
        log1p(observation.step),
        log1p(max(0, since)),
        batch,
    )
    return _bounded(row)


def _bounded(row: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(min(MOST, max(0.0, float(value))) for value in row)
