"""A network of dense layers, as numbers in a file, and what it makes of rows of features.

    row ──(x - mean) / scale──▶ layer ─tanh▶ layer ─tanh▶ … ▶ last layer, as it is

The forward pass is plain Python, so that a policy runs wherever Trimtab does; a pass with numpy gives the same to about 1e-12. Training checks that what it
trained comes to what runs here.
"""

from collections.abc import Sequence
from math import tanh

import msgspec


class Dense(msgspec.Struct, frozen=True):
    """One layer: `weight` has a row of as many numbers as there are inputs for each output, `bias` a number for each output."""

    weight: tuple[tuple[float, ...], ...]
    bias: tuple[float, ...]


class Network(msgspec.Struct, frozen=True):
    """Layers with a hyperbolic tangent between them. `mean` and `scale` have a number for each input. Raises `ValueError` for shapes that don't fit together."""

    layers: tuple[Dense, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        """Refuse what can't be multiplied."""
        width = len(self.mean)
        if len(self.scale) != width or not self.layers:
            raise ValueError(f"a network of {len(self.layers)} layers has {width} means and {len(self.scale)} scales")
        for number, layer in enumerate(self.layers):
            if len(layer.weight) != len(layer.bias) or any(len(row) != width for row in layer.weight):
                raise ValueError(f"layer {number} doesn't fit {width} inputs and {len(layer.bias)} outputs")
            width = len(layer.bias)

    @property
    def inputs(self) -> int:
        """Numbers of a row."""
        return len(self.mean)

    @property
    def outputs(self) -> int:
        """Numbers that come of a row."""
        return len(self.layers[-1].bias)

    @property
    def size(self) -> int:
        """Parameters that were trained."""
        return sum(len(layer.bias) * (len(layer.weight[0]) + 1) for layer in self.layers)

    def __call__(self, row: Sequence[float]) -> tuple[float, ...]:
        """Return what the last layer gives for a row of features."""
        values = [(x - m) / s for x, m, s in zip(row, self.mean, self.scale, strict=True)]
        last = len(self.layers) - 1
        for number, layer in enumerate(self.layers):
            sums = [
                b + sum(w * x for w, x in zip(weights, values, strict=True))
                for weights, b in zip(layer.weight, layer.bias, strict=True)
            ]
            values = sums if number == last else [tanh(x) for x in sums]
        return tuple(values)
