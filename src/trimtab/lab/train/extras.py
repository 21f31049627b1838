"""Extra figures behind each item's row, as the trainer asks for them; what they are, and how the agent comes to the same, stands in `context/policies/learned/extra.py`."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.context.policies.learned.extra import NAMES, extra_rows
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
        return NAMES

    def __call__(self, observation: Observation, items: Sequence[ItemFacts]) -> Sequence[Sequence[float]]:
        """Return both figures of each item."""
        return extra_rows(self.weights.item, observation, items)


def extra_of(needed: Weights | None) -> Needed | None:
    """Return what looks at items with these weights; None: nothing is added. Raises `UsageError` for weights of another kind."""
    if needed is None:
        return None
    if needed.kind != "needed":
        raise UsageError(
            f"weights of kind {needed.kind!r} don't say what is needed", hint="Give those of kind 'needed'."
        )
    return Needed(needed)
