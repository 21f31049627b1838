"""Weights of a learned policy in a file of a person's own."""

from pathlib import Path

from trimtab.context.policies.learned.weights import Weights, read_weights
from trimtab.types.errors import ConfigError


def weights_at(path: str) -> Weights:
    """Return the weights in a file. Raises `ConfigError` when it can't be read, or holds none for these features."""
    try:
        data = Path(path).expanduser().read_bytes()
    except OSError as problem:
        raise ConfigError(
            f"the weights {path!r} can't be read: {problem.strerror}", hint="Name a file that trimtab train wrote."
        ) from problem
    return read_weights(data, source=path)
