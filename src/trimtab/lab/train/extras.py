"""Extra figures behind each item's row, from supervised weights, so that what a first network knows is an input of the second one. They are those of the run time."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from trimtab.context.policies.learned.choosing import EXTRA
from trimtab.context.policies.learned.choosing import extra_of as figures_of
from trimtab.context.policies.learned.weights import Weights
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.types.errors import UsageError


@dataclass(frozen=True, slots=True)
class Needed:
    """What is likely needed again, and what hiding it would come to. `weights`: of kind `needed`."""

    weights: Weights

    @property
    def names(self) -> tuple[str, ...]:
        """What the figures are called."""
        return EXTRA

    def __call__(self, observation: Observation, items: Sequence[ItemFacts]) -> Sequence[Sequence[float]]:
        """Return both figures of each item."""
        asking = replace(self.weights, extra=EXTRA, needed=self.weights.item)
        figures = figures_of(asking, observation, items)
        return [figures[item.id] for item in items]


def extra_of(needed: Weights | None) -> Needed | None:
    """Return what looks at items with these weights; None: nothing is added. Raises `UsageError` for weights of another kind."""
    if needed is None:
        return None
    if needed.kind != "needed":
        raise UsageError(
            f"weights of kind {needed.kind!r} don't say what is needed", hint="Give those of kind 'needed'."
        )
    return Needed(needed)
