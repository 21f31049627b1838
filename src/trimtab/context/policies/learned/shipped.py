"""The weights that come with Trimtab, read when a decision first asks for them; what they are, MODEL_CARD.md beside them says."""

from functools import cache
from importlib.resources import files

from trimtab.context.policies.learned.weights import Weights, read_weights

NAME = "weights.json"


@cache
def shipped() -> Weights:
    """Return them."""
    return read_weights(files(__package__).joinpath(NAME).read_bytes(), source=f"the shipped {NAME}")


@cache
def weights_named(path: str) -> Weights:
    """Return the weights in a file, or the shipped ones where `path` is empty: a file is read once. Raises `ConfigError`."""
    if not path:
        return shipped()
    from trimtab.context.stores.weights import weights_at  # noqa: PLC0415 - hardly anybody has weights of their own

    return weights_at(path)
