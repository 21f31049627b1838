"""Choosing: weights of kind `choices` as a policy, one choice after another until it commits.

    observation, batch so far ──choices──▶ valid ones ──networks──▶ a logit each ──softmax──▶ the policy; at run time the likeliest

    logit(operation on an item) = item network(its row, the whole, extra)[operation]       logit(about the whole) = gate network(the whole, mean of the items' rows)[choice]

The trainer's network is the same function of the same figures, and a test holds the two together. Items are the `largest` that something may be done with, less those unlike any in training; the gate's mean is over their rows (zeros where there are none). `extra`: figures behind an
item's row, see there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from trimtab.context.policies.learned.arrays import Pass, pass_over
from trimtab.context.policies.learned.extra import NAMES, chance_of, extra_rows
from trimtab.context.policies.learned.features import ITEM_FEATURES, whole_row
from trimtab.context.policies.learned.grammar import BATCH, COMMIT, Accepts, Choice, choices
from trimtab.context.policies.learned.known import rows_of
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.seeing.observation import ItemFacts, Observation

Figures: TypeAlias = Mapping[str, tuple[float, ...]]
"""Of each item, by its id: what stands behind its row."""


@dataclass(frozen=True, slots=True)
class Input:
    """What the networks are given for one choice: a row for each of `items`, and that of the gate."""

    items: tuple[ItemFacts, ...]
    rows: tuple[tuple[float, ...], ...]
    gate: tuple[float, ...]


def input_of(observation: Observation, batch: Sequence[Choice], items: Sequence[ItemFacts], extra: Figures) -> Input:
    """Return the input for the next choice. `extra`: of `extra_of`, made once a decision."""
    share = len(batch) / BATCH
    chosen = frozenset(choice.item for choice in batch if choice.item)
    rows = rows_of(observation, items, chosen=chosen, batch=share)
    width = len(ITEM_FEATURES)
    count = max(1, len(rows))
    mean = tuple(sum(row[n] for row in rows) / count for n in range(width))
    behind = tuple((*row, *extra.get(item.id, ())) for item, row in zip(items, rows, strict=True))
    return Input(tuple(items), behind, (*whole_row(observation, batch=share), *mean))


def extra_of(weights: Weights, observation: Observation, items: Sequence[ItemFacts]) -> Figures:
    """Return the extra figures that the weights ask for. Raises `ValueError` for weights that have no network for them, or ask for others."""
    if not weights.extra:
        return {}
    if weights.needed is None or weights.extra != NAMES:
        raise ValueError(f"weights that ask for {', '.join(weights.extra)} have no network for it")
    rows = extra_rows(weights.needed, observation, items)
    return {item.id: row for item, row in zip(items, rows, strict=True)}


class Chosen(NamedTuple):
    """A batch, and the figures behind it: how much likelier its first choice was than the next best, as a difference of logits; of each choice how likely it was, were it only that or to commit; of each item
    how likely it is needed again, where the weights have a network that says so."""

    batch: tuple[Choice, ...]
    margin: float
    rather: Mapping[Choice, float]
    needed: Mapping[str, float]


class Chooser:
    """Weights of kind `choices`, ready to be asked."""

    def __init__(self, weights: Weights) -> None:
        if weights.gate is None or weights.kind != "choices":
            raise ValueError("weights of kind 'choices' have a gate")
        self.weights = weights
        self._item: Pass = pass_over(weights.item)
        self._gate: Pass = pass_over(weights.gate)
        self._ops = {op: place for place, op in enumerate(weights.ops)}
        self._whole_ops = {op: place for place, op in enumerate(weights.whole_ops)}

    def logits(self, given: Input, valid: Sequence[Choice]) -> list[float]:
        """Return a logit for each of the valid choices; minus infinity for one that the weights have no output for."""
        of_items = dict(zip((item.id for item in given.items), self._item(given.rows), strict=True))
        (of_gate,) = self._gate((given.gate,))
        found: list[float] = []
        for choice in valid:
            places, outputs = (self._ops, of_items.get(choice.item, ())) if choice.item else (self._whole_ops, of_gate)
            place = places.get(choice.op)
            found.append(float("-inf") if place is None or place >= len(outputs) else outputs[place])
        return found

    def choose(self, observation: Observation, items: Sequence[ItemFacts], *, accepts: Accepts | None = None) -> Chosen:
        """Return the likeliest batch about these items."""
        extra = extra_of(self.weights, observation, items)
        rather: dict[Choice, float] = {}
        margin = float("inf")
        while len(rather) < BATCH:
            batch = tuple(rather)
            valid = choices(observation, batch=batch, accepts=accepts, items=items)
            logits = self.logits(input_of(observation, batch, items, extra), valid)
            order = sorted(range(len(valid)), key=lambda n: (-logits[n], n))
            if not batch and len(order) > 1:
                margin = logits[order[0]] - logits[order[1]]
            best = valid[order[0]]
            if best == COMMIT:
                break
            rather[best] = chance_of(logits[order[0]] - logits[valid.index(COMMIT)])
        needed = {item: row[NAMES.index("needed")] for item, row in extra.items()}
        return Chosen(tuple(rather), margin, rather, needed)
