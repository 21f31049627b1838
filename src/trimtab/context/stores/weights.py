"""Weights of a learned policy in a file of a person's own: read, and held against what a decision will give them."""

from pathlib import Path

from trimtab.context.policies.learned.extra import NAMES
from trimtab.context.policies.learned.features import ITEM_FEATURES, WHOLE_FEATURES
from trimtab.context.policies.learned.network import Network
from trimtab.context.policies.learned.weights import Weights, read_weights
from trimtab.types.errors import ConfigError

_ROW = len(ITEM_FEATURES) + len(WHOLE_FEATURES)
_MOST = 1e12
"""The largest number that training comes to is far below: beyond it, products have no room."""


def weights_at(path: str) -> Weights:
    """Return the weights in a file. Raises `ConfigError` when it can't be read, or holds none for these features."""
    file = Path(path).expanduser()
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise ConfigError(f"the weights {path!r} are no regular file", hint="Name a file that trimtab train wrote.")
        data = file.read_bytes()
    except (OSError, ValueError) as problem:
        said = problem.strerror if isinstance(problem, OSError) else problem
        raise ConfigError(
            f"the weights {path!r} can't be read: {said}", hint="Name a file that trimtab train wrote."
        ) from problem
    weights = read_weights(data, source=path)
    if why := _misfit(weights):
        raise ConfigError(f"{path} holds no weights that fit: {why}", hint="Train them anew: trimtab train.")
    return weights


def _misfit(weights: Weights) -> str:
    """Why a decision couldn't ask these weights; empty when it can."""
    networks = [("item", weights.item, _ROW + len(weights.extra))]
    if weights.kind == "choices":
        if weights.gate is None:
            return "kind choices has no gate"
        networks.append(("gate", weights.gate, _ROW))
    if weights.extra:
        if weights.needed is None or weights.extra != NAMES:
            return f"nothing in it says {', '.join(weights.extra)}"
        networks.append(("needed", weights.needed, _ROW))
    return next(filter(None, (_unfit(*network) for network in networks)), "")


def _unfit(name: str, network: Network, inputs: int) -> str:
    if network.inputs != inputs:
        return f"network {name!r} takes {network.inputs} figures, and {inputs} are given"
    if not network.outputs:
        return f"network {name!r} gives nothing"
    if any(abs(scale) < 1 / _MOST for scale in network.scale):
        return f"network {name!r} has a scale of 0"
    numbers = (
        *network.mean,
        *network.scale,
        *(one for d in network.layers for row in (*d.weight, d.bias) for one in row),
    )
    return (
        f"network {name!r} has numbers that can't be counted with" if any(abs(one) > _MOST for one in numbers) else ""
    )
