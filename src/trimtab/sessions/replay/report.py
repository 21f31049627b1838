"""The report: what came of a replay, as one object.

    runs ──figures──▶ FileReport each ──total──▶ Report      sums; the largest peak; errors pooled; money None where one price is unknown

The fields are pinned in the public contract; `docs/replay.md` explains each. Equal inputs give equal bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from trimtab.context.counting.counter import Counter
from trimtab.sessions.accuracy import Errors, ErrorStats, predicted_vs_reported
from trimtab.sessions.cache_accuracy import CacheAccuracy, CachedCall, accuracy, predict_cached
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.run import Run
from trimtab.types.models import ModelInfo, Price, add_costs, cost_usd


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy came to. Tokens and money of all requests; `cost_usd` is the optimistic bound."""

    steps: int
    """API messages."""
    prompt_tokens: int
    """Of all requests, hidden prefix included."""
    cached_tokens: int
    """The part of `prompt_tokens` that the cache serves."""
    uncached_tokens: int
    """The rest of it."""
    output_tokens: int
    """What the model wrote: the larger of reported and counted."""
    cost_usd: float | None
    """All requests, fetching hidden results again included, each at the price of one short request; null when no price is known."""
    cost_usd_pessimistic: float | None
    """The same when each hidden need also repeats its original call."""
    peak_tokens: int
    """The largest request."""
    edits: int
    """Edits that were made."""
    edit_batches: int
    """Batches in which they were made."""
    ladder_edits: int
    """Those of the ladder, above the hard limit."""
    summary_calls: int
    """Times that a model would have been asked for a summary."""
    reloads: int
    """Needed results that were not visible, each fetched once."""
    needed: int
    """(result, step) pairs that a step used."""
    needed_visible: int
    """Those whose strings stood in the request."""
    needed_stub: int
    """Those that were hidden, with a way back in the request."""
    needed_lost: int
    """Those that were hidden without one."""
    overflows: int
    """Requests larger than the window takes."""
    invalid_requests: int
    """Requests that a provider would refuse for their shape."""


_ADDED = tuple(n for n in Figures.__struct_fields__ if n != "peak_tokens" and not n.startswith("cost_"))


@dataclass(frozen=True, slots=True)
class Predictions:
    """How well sizes and cached tokens of the recorded context are predicted. It has nothing to do with a policy."""

    sizes: Errors = field(default_factory=Errors)
    calls: tuple[CachedCall, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """The two objects of the report."""
        cached: CacheAccuracy = accuracy(self.calls)
        stats: dict[str, ErrorStats] = self.sizes.stats()
        return {
            "predicted_vs_reported": {name: msgspec.to_builtins(one) for name, one in stats.items()},
            "predicted_vs_reported_cached": msgspec.to_builtins(cached),
        }


def figures_of(run: Run, prices: tuple[Price, ...] | None = None) -> Figures:
    """Return the figures of one replayed recording, at `prices` where they are given and else at those of its model.

    A policy that weighs prices would have done something else at others; only for one that doesn't do the figures of another price hold.
    """
    steps = run.steps
    prices = run.prices if prices is None else prices
    paid = [cost_usd(usage, prices) for step in steps for usage in step.paid]
    again = [cost_usd(usage, prices) for step in steps for usage in step.repeated]
    states = [state for step in steps for state in step.states]
    prompt, cached = sum(s.prompt for s in steps), sum(s.cached for s in steps)
    return Figures(
        steps=len(steps),
        prompt_tokens=prompt,
        cached_tokens=cached,
        uncached_tokens=prompt - cached,
        output_tokens=sum(s.output for s in steps),
        cost_usd=add_costs(*paid),
        cost_usd_pessimistic=add_costs(*paid, *again),
        peak_tokens=max((s.prompt for s in steps), default=0),
        edits=len(run.edits),
        edit_batches=len({edit.batch for edit in run.edits}),
        ladder_edits=sum(edit.author == "recovery" for edit in run.edits),
        summary_calls=run.summary_calls,
        reloads=sum(state != "visible" for state in states),
        needed=len(states),
        needed_visible=states.count("visible"),
        needed_stub=states.count("stub"),
        needed_lost=states.count("lost"),
        overflows=sum(s.overflow for s in steps),
        invalid_requests=sum(s.invalid for s in steps),
    )


def total_of(parts: Iterable[Figures]) -> Figures:
    """Return the figures of many recordings."""
    parts = list(parts)
    sums = {name: sum(getattr(part, name) for part in parts) for name in _ADDED}
    return Figures(
        cost_usd=add_costs(*(p.cost_usd for p in parts)),
        cost_usd_pessimistic=add_costs(*(p.cost_usd_pessimistic for p in parts)),
        peak_tokens=max((p.peak_tokens for p in parts), default=0),
        **sums,
    )


def predictions_of(recording: Recording, model: ModelInfo) -> Predictions:
    """Follow the recorded context and predict each call."""
    by_model = predicted_vs_reported(recording, _counters(model))
    pooled = Errors()
    for errors in by_model.values():
        pooled.extend(errors)
    return Predictions(pooled, predict_cached(recording))


def pooled(parts: Sequence[Predictions]) -> Predictions:
    """Return the predictions of many recordings as one."""
    errors = Errors()
    for part in parts:
        errors.extend(part.sizes)
    return Predictions(errors, tuple(call for part in parts for call in part.calls))


def _counters(model: ModelInfo) -> Any:
    def make(provider: str, model_id: str) -> Counter:
        return Counter(msgspec.structs.replace(model, provider=provider or model.provider, id=model_id or model.id))

    return make
