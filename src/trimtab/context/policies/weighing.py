"""Weighing: what a batch of actions takes out of a request, and what it breaks of the provider's cache. Estimates, from an observation alone.

    fixed │ messages … earliest sent change │ suffix: read from the cache now, written again after the edit │ not cached
                                            edge                                                          cached

The engine's gate compares whole bills over edits with their texts; this is the same question asked before any text is made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import FOLDED_TOKENS, STUB_TOKENS
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.context.shorten.compress import share_in

SUMMARY_TOKENS = 3_000
"""About what the summary of a run takes."""
_ITEM_SUMMARY_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Weight:
    """Of a batch: the tokens that go, and the cached tokens that stay but have to be written again. `free`: there are none of those."""

    gain: int = 0
    suffix: int = 0

    @property
    def free(self) -> bool:
        """Whether no cached byte behind an edit is lost."""
        return self.suffix == 0


def named(observation: Observation) -> Mapping[str, ItemFacts]:
    """Items by every name that an action may use for them."""
    items: dict[str, ItemFacts] = {}
    for item in observation.items:
        for name in (item.call_id, item.handle, item.id):
            if name:
                items[name] = item
    return items


def gain_of(action: Action, item: ItemFacts) -> int:
    """About how many tokens `action` takes out of `item`; never negative."""
    match action.action:
        case "offload":
            left = item.arguments - STUB_TOKENS
        case "elide":
            left = item.tokens - STUB_TOKENS
        case "fold" | "truncate":
            left = item.tokens - FOLDED_TOKENS
        case "compress":
            left = int(item.tokens * (1 - share_in(action.params))) - STUB_TOKENS
        case "summarize":
            left = int(item.tokens * (1 - _ITEM_SUMMARY_SHARE)) - STUB_TOKENS
        case "drop" | "compact":
            left = item.tokens
        case _:
            left = 0
    return max(0, left)


def weigh(actions: Sequence[Action], observation: Observation) -> Weight:
    """Return what the batch takes out and breaks. What is named twice counts once."""
    items = named(observation)
    gain = 0
    touched: dict[str, ItemFacts] = {}
    for action in actions:
        targets = [items[name] for target in action.targets if (name := target.partition("#")[0]) in items]
        if action.action == "compact" and not action.targets:
            targets = compacted(observation, action)
        fresh = [item for item in targets if item.id not in touched and gain_of(action, item)]
        gain += sum(gain_of(action, item) for item in fresh)
        if action.action == "compact" and fresh:
            gain -= min(gain, SUMMARY_TOKENS)
        touched.update((item.id, item) for item in fresh)
    if observation.cold:
        return Weight(gain)
    edge = min((item.offset for item in touched.values() if item.sent), default=None)
    if edge is None:
        return Weight(gain)
    cached = observation.cached - observation.fixed
    gone = sum(item.tokens for item in touched.values() if item.offset < cached)
    return Weight(gain, max(0, cached - edge - gone))


def compacted(observation: Observation, action: Action) -> list[ItemFacts]:
    """The items that a compaction without targets takes: all but the end that it keeps."""
    kept = action.params.get("keep_tokens")
    keep = kept if isinstance(kept, int) else (observation.target - observation.fixed) // 2
    end = sum(item.tokens for item in observation.items) - max(0, keep)
    return [item for item in observation.items if item.offset + item.tokens <= end and not item.pinned]
