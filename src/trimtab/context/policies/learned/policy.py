"""`learned`: a small network says how likely each item is needed again, or what to choose; where it can't know, the rules decide.

    weights ─kind needed──▶ chances ──break-even──▶ actions        ─kind choices──▶ the likeliest batch ──grammar──▶ actions
       └ a figure unlike any in training, none that is finite, or hardly a difference between acting and not ──▶ the rules, and their reasons say why

Nothing is loaded before the first decision, unless somebody asks before whether a file of theirs will do (`require`). Each action says the figures behind it.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isfinite

from msgspec.structs import replace

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import hideable
from trimtab.context.policies.base import ByRules, Manners
from trimtab.context.policies.learned.arrays import pass_over
from trimtab.context.policies.learned.break_even import BreakEven, Decision, span
from trimtab.context.policies.learned.choosing import Chooser, Chosen
from trimtab.context.policies.learned.extra import chance_of
from trimtab.context.policies.learned.grammar import actions_of, largest
from trimtab.context.policies.learned.known import STRANGE, rows_of, strange_item, strange_whole
from trimtab.context.policies.learned.shipped import weights_named
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.policies.rules import Rules
from trimtab.context.seeing.observation import Observation

_USUAL = BreakEven()
_CHOSEN = "the likeliest choice"
_UNCLEAR = "acting is hardly better than not"


@dataclass(frozen=True, slots=True)
class Learned:
    """The learned policy. `weights` is a file; empty: those that come with Trimtab. The others are those of `BreakEven`, for weights of kind `needed`; for kind `choices`, `margin` is how much likelier the
    first choice must be than the next, as a difference of logits.

    It is asked from the soft threshold on, and not held back by cooldown and gate: it counts itself what a batch breaks.
    """

    weights: str = ""
    calls: float = _USUAL.calls
    miss: float = _USUAL.miss
    act: float = _USUAL.act
    left: float = _USUAL.left
    names: int = _USUAL.names
    margin: float = _USUAL.margin
    share: float = _USUAL.share
    kept: float = _USUAL.kept
    manners: Manners = field(default=Manners(guarded=False))
    name: str = "learned"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what the weights say is worth doing, or what the rules would do. Raises `ConfigError` when there are no weights that fit this version."""
        return decided(weights_named(self.weights), observation, self._break_even, margin=self.margin)

    def require(self) -> None:
        """Read weights of a person's own now; those that come with Trimtab are there. Raises `ConfigError` as `decide` does."""
        if self.weights:
            weights_named(self.weights)

    @property
    def _break_even(self) -> BreakEven:
        return BreakEven(
            calls=self.calls,
            miss=self.miss,
            act=self.act,
            left=self.left,
            names=self.names,
            margin=self.margin,
            share=self.share,
            kept=self.kept,
        )


def decided(
    weights: Weights, observation: Observation, break_even: BreakEven | None = None, *, margin: float = 0.0
) -> Sequence[Action]:
    """Return what `weights` come to at a decision: the policy without its file."""
    if strange := strange_whole(weights, observation):
        return _by_rules(observation, strange)
    if weights.kind == "choices":
        return _chosen(weights, observation, margin)
    found = chances_of(weights, observation)
    if isinstance(found, str):
        return _by_rules(observation, found)
    decision: Decision = (break_even or BreakEven()).decide(observation, found)
    return decision.actions if decision.sure else _by_rules(observation, _UNCLEAR)


def chances_of(weights: Weights, observation: Observation) -> Mapping[str, float] | str:
    """Return how likely each item that could be hidden is needed again, by its id, or why nobody can know. An item unlike any in training counts as needed."""
    items = [item for item in observation.items if hideable(item)]
    rows = rows_of(observation, items)
    outputs = pass_over(weights.item)(rows)
    chances: dict[str, float] = {}
    strange: list[str] = []
    for item, row, output in zip(items, rows, outputs, strict=True):
        if not isfinite(output[0]):
            return "the weights give no number"
        why = strange_item(weights, row)
        strange += [why] if why else []
        chances[item.id] = 1.0 if why else chance_of(output[0])
    if len(strange) > STRANGE * len(items):
        return strange[0]
    return chances


def _chosen(weights: Weights, observation: Observation, margin: float) -> Sequence[Action]:
    items = largest(observation)
    why = [strange_item(weights, row) for row in rows_of(observation, items)]
    if sum(map(bool, why)) > STRANGE * len(items):
        return _by_rules(observation, next(filter(None, why)))
    known = [item for item, strange in zip(items, why, strict=True) if not strange]
    chosen = Chooser(weights).choose(observation, known)
    if not chosen.margin >= margin:
        return _by_rules(observation, _UNCLEAR)
    results = {item.id for item in observation.items if item.kind == "result"}
    return tuple(_explained(action, chosen, results) for action in actions_of(chosen.batch, observation))


def _explained(action: Action, chosen: Chosen, results: Set[str]) -> Action:
    """The action, with the figures behind it; the chance of each result, in percent, for whoever asks about one."""
    rather = sorted(
        chance
        for choice, chance in chosen.rather.items()
        if (choice.item or choice.op) in (*action.targets, action.action)
    )
    needed = {item: chosen.needed[item] for item in action.targets if item in results and item in chosen.needed}
    reason = f"{_CHOSEN}, rather than nothing with {span(rather)}"
    if not needed:
        return replace(action, reason=reason)
    percent = {item: round(100 * chance) for item, chance in needed.items()}
    told = f"{reason}; needed again with {span(sorted(needed.values()))}"
    return replace(action, reason=told, params={**action.params, "chances": percent})


def _by_rules(observation: Observation, why: str) -> ByRules:
    return ByRules(replace(a, reason=f"by the rules, since {why}: {a.reason}") for a in Rules().decide(observation))
