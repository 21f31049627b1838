"""Extra figures behind each item's row: how likely it is needed again, and what hiding it would then come to.

    supervised weights + item ──▶ p(needed), break-even value

They make what a first, supervised network knows an input of the second one, which so begins with it.
"""

from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.train.seeing import Extra


def extra_of(needed: Weights | None) -> Extra | None:
    """Return what looks at items with these weights; None: nothing is added."""
    if needed is None:
        return None
    raise NotImplementedError("later")
