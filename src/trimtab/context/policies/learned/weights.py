"""Weights in a file: which features they were made for, what they may see, and where they come from.

    {"format": 1, "schema": …, "kind": "needed" | "choices", "item": network, "gate": network | null, "needed": network | null, "low": […], "high": […], "record": {…}}

`needed`: `item` has one output, the log-odds that an item is needed again. `choices`: `item` has an output for each operation on an item, `gate` one for each
choice about the whole, in the order of the grammar that it was trained with (`ops`, `whole_ops`); a softmax over the valid ones is the policy.

The input of `item` is an item's row and the row of the whole behind it; that of `gate` is the row of the whole, then the mean of the items' rows. `low` and `high` are the smallest and
the largest that training saw of each number of `item`'s input. Where `extra` names figures (see `choosing`), they stand behind the rest of
`item`'s input, and the network `needed` is what they come from.
"""

from typing import Any, Literal

import msgspec

from trimtab.context.policies.learned.features import SCHEMA
from trimtab.context.policies.learned.network import Network
from trimtab.types.errors import ConfigError

FORMAT = 1


class Weights(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """See the module. `record`: data, seeds, versions, figures on validation: whatever says how it came about."""

    format: int = FORMAT
    schema: str
    kind: Literal["needed", "choices"]
    item: Network
    gate: Network | None = None
    needed: Network | None = None
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    ops: tuple[str, ...] = ()
    whole_ops: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    record: dict[str, Any] = {}


def read_weights(data: bytes, *, source: str) -> Weights:
    """Return the weights in a file. `source`: what errors call it. Raises `ConfigError` for what can't be read, or was made for other features."""
    try:
        weights = msgspec.json.decode(data, type=Weights)
    except (msgspec.DecodeError, ValueError, RecursionError) as problem:
        raise ConfigError(f"{source} holds no weights: {problem}", hint="Train them anew: trimtab train.") from problem
    if weights.format != FORMAT:
        raise ConfigError(
            f"{source} has format {weights.format}, this version reads {FORMAT}", hint="Train them anew: trimtab train."
        )
    if weights.schema != SCHEMA:
        raise ConfigError(
            f"{source} was trained for the features {weights.schema}, this version has {SCHEMA}",
            hint="Train them anew: trimtab train.",
        )
    return weights


def write_weights(weights: Weights) -> bytes:
    """Return what `read_weights` reads: the same weights, the same bytes."""
    return msgspec.json.encode(weights, order="sorted") + b"\n"
