"""The ladder: what is done when a request doesn't fit, cheapest first.

    dedupe    copies, stale reads, what is marked as expired, inputs of calls that failed
    offload   large arguments of calls: pointers in place of contents
    fold      large results: head, tail and the lines that matter
    elide     whole results, the least likely to be needed first
    digest    a run of messages by a summary that no model writes
    summary   the same by one that a model writes
    newest    the newest step too: large arguments that the model wrote just now
    whole     everything but what the user asked for last, by a digest

Each rung proposes actions from an observation and changes nothing. Each alone keeps a session alive as far as its material reaches, and all but
`summary` need nobody. `rules`, the default policy, takes the same steps before it is too late, and only those that pay.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.seeing.observation import ItemFacts, Observation

LARGE = 400
"""Tokens from which on an item is worth an edit of its own."""
STUB_TOKENS = 45
"""About what a stub takes."""
FOLDED_TOKENS = 900
"""About what a folded result takes."""
NAMES = 400
"""Tokens of names that a stub keeps of what it hides, at most."""
OUTDATED = "a newer one stands further down"
"""Why a plan or an index goes."""
_FRESH_STEPS = 1


@dataclass(frozen=True, slots=True)
class Step:
    """A rung: what the log calls it, and what it proposes to take about `need` tokens out."""

    name: str
    propose: Callable[[Observation, int], Sequence[Action]]


def value(item: ItemFacts) -> float:
    """How likely an item is needed again, as a rank: uses and freshness speak for it, age and size against.

    Late uses of results come many requests after the last one, and recency alone is a poor guide; so what was ever used counts most, then how
    long ago that was. Sizes enter by their root: of two that are as likely needed the larger one goes first.
    """
    quiet = item.age if item.last_used is None else item.last_used
    used = 1.0 + 1.5 * min(item.referenced, 4) + 4.0 * item.goal_overlap + 2.0 * item.recent_overlap + 2.0 * item.regret
    return used / math.sqrt((1.0 + quiet) * max(item.tokens, 1))


def touchable(item: ItemFacts) -> bool:
    """Whether the ladder may touch an item at all: not pinned, and not just brought back by somebody."""
    return not item.pinned and item.restored is None


def stale(observation: Observation) -> list[ItemFacts]:
    """Results that nothing is lost with: something newer replaces them, they were marked, or they repeat one that stays in sight.

    Of two equal results the older counts as superseded and the newer as a copy; hiding both would lose the text.
    """
    seen = {i.id for i in observation.items if i.state == "full" and not i.superseded_by and not i.expired}
    return [
        i
        for i in observation.items
        if hideable(i) and (i.superseded_by or i.expired or (i.duplicate_of in seen and i.age > _FRESH_STEPS))
    ]


def why_stale(item: ItemFacts) -> str:
    """What the log says of a stale result."""
    if item.superseded_by:
        return "a newer result replaces it"
    return "it was marked to go by now" if item.expired else "it repeats one that stays"


def outdated(observation: Observation) -> list[ItemFacts]:
    """Plans and indexes that a newer one of their kind replaces further down."""
    return [i for i in observation.items if i.kind == "note" and i.superseded_by and i.state == "full" and touchable(i)]


def _dedupe(observation: Observation, need: int) -> list[Action]:
    """Stale results have newer ones, so nothing is lost with them."""
    found: dict[str, list[str]] = {}
    for item in stale(observation):
        found.setdefault(why_stale(item), []).append(item.id)
    actions = [Action("elide", tuple(ids), reason=why) for why, ids in found.items()]
    if old := outdated(observation):
        actions.append(Action("drop", tuple(i.id for i in old), reason=OUTDATED))
    failed = [
        i for i in observation.items if i.failed_input and i.age > _FRESH_STEPS and i.arguments > LARGE and touchable(i)
    ]
    if failed:
        actions.append(Action("offload", tuple(i.id for i in failed), reason="the call failed"))
    return actions


def _offload(observation: Observation, need: int) -> list[Action]:
    large = [
        i
        for i in observation.items
        if i.kind == "assistant" and i.arguments > LARGE and i.age > _FRESH_STEPS and touchable(i) and i.state == "full"
    ]
    large.sort(key=lambda i: -i.arguments * (1 + i.age))
    chosen = _until(large, need, lambda i: i.arguments - STUB_TOKENS)
    return [Action("offload", tuple(i.id for i in chosen), reason="large arguments")] if chosen else []


def _fold(observation: Observation, need: int) -> list[Action]:
    large = [i for i in observation.items if _hideable(i) and i.state == "full" and i.tokens > 2 * FOLDED_TOKENS]
    chosen = _fresh_last(large, observation, need, lambda i: i.tokens - FOLDED_TOKENS)
    return [Action("fold", tuple(i.id for i in chosen), reason="a large result")] if chosen else []


def _elide(observation: Observation, need: int) -> list[Action]:
    candidates = [i for i in observation.items if _hideable(i) and i.tokens > LARGE // 4]
    chosen = _fresh_last(candidates, observation, need, lambda i: i.tokens - STUB_TOKENS)
    ids = tuple(i.id for i in chosen)
    return [Action("elide", ids, {"names": NAMES}, "the least likely to be needed")] if chosen else []


def _digest(observation: Observation, need: int) -> list[Action]:
    return [_compaction(observation, need, {"mode": "digest"})]


def _summary(observation: Observation, need: int) -> list[Action]:
    """A model is asked only while the request doesn't fit: it costs a request and the time of one."""
    if observation.used <= observation.hard:
        return []
    return [_compaction(observation, need, {})]


def _compaction(observation: Observation, need: int, params: dict[str, object]) -> Action:
    """Keep as much of the end as there is space for, a quarter of that on a second try."""
    space = max(0, observation.hard - observation.fixed)
    keep = space // 4
    if observation.since.get("compact") == 0:
        keep //= 4
    return Action("compact", (), {**params, "keep_tokens": keep, "names": space // 8}, "the window is full")


def _newest(observation: Observation, need: int) -> list[Action]:
    """Arguments that the model wrote just now, which the steps before leave alone, and what somebody has just brought back.

    Only while the request doesn't fit, and only as far: the next answer is about these.
    """
    over = over_hard(observation)
    if over <= 0:
        return []
    large = [i for i in observation.items if i.kind == "assistant" and i.arguments > STUB_TOKENS and not i.pinned]
    fresh = [i for i in large if i.state == "full"]
    back = [i for i in observation.items if i.kind == "result" and i.state != "stub" and not i.pinned]
    actions = [Action("offload", tuple(i.id for i in fresh), reason="nothing older is left")] if fresh else []
    chosen = _until(sorted(back, key=value), over - sum(i.arguments for i in fresh), lambda i: i.tokens - STUB_TOKENS)
    if chosen:
        actions.append(Action("elide", tuple(i.id for i in chosen), reason="nothing else is left"))
    return actions


def _whole(observation: Observation, need: int) -> list[Action]:
    """The newest step too, while the request doesn't fit."""
    if observation.used <= observation.hard:
        return []
    return [Action("compact", (), {"mode": "digest", "whole": True}, "nothing else is left")]


def over_hard(observation: Observation) -> int:
    """How many tokens of items have to go until the request fits. `used` is the end of a band, and items are counted without it."""
    shown = sum(item.tokens for item in observation.items)
    share = min(1.0, shown / max(1, observation.used - observation.fixed))
    return math.ceil((observation.used - observation.hard) * share)


def hideable(item: ItemFacts) -> bool:
    """Whether an item is a result whose body may be hidden."""
    return item.kind == "result" and item.state not in ("stub", "gone") and touchable(item)


def _fresh_last(
    items: Sequence[ItemFacts], observation: Observation, need: int, gain: Callable[[ItemFacts], int]
) -> list[ItemFacts]:
    """Those that take out `need` tokens, the least valuable first; fresh ones only as far as the request doesn't fit otherwise.

    A result that no request has shown yet is what the next answer is about, and so is one that was fetched again.
    """
    ranked = sorted(items, key=value)
    chosen = _until([i for i in ranked if not _is_fresh(i)], need, gain)
    over = min(need, over_hard(observation)) - sum(map(gain, chosen))
    return chosen + _until([i for i in ranked if _is_fresh(i)], over, gain)


def _is_fresh(item: ItemFacts) -> bool:
    return item.age <= _FRESH_STEPS or item.fetched


def _hideable(item: ItemFacts) -> bool:
    """Here also what was fetched again: a model that fetches more than fits needs no summary, and goes on with what is newest."""
    return hideable(structs.replace(item, restored=None) if item.fetched else item)


def _until(items: Sequence[ItemFacts], need: int, gain: Callable[[ItemFacts], int]) -> list[ItemFacts]:
    """The first of `items` that together take out `need` tokens."""
    chosen: list[ItemFacts] = []
    for item in items:
        if need <= 0:
            break
        if gain(item) > 0:
            chosen.append(item)
            need -= gain(item)
    return chosen


STEPS: tuple[Step, ...] = (
    Step("dedupe", _dedupe),
    Step("offload", _offload),
    Step("fold", _fold),
    Step("elide", _elide),
    Step("digest", _digest),
    Step("summary", _summary),
    Step("newest", _newest),
    Step("whole", _whole),
)
