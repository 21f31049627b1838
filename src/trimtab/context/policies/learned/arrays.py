"""Many rows through a network: with numpy where that is installed and the rows are many, else in plain Python.

    network ──pass_over──▶ rows ──▶ what the last layer gives for each

The only module under `trimtab.context` that may import numpy. Both ways give the same to about 1e-12. Measured for 51 numbers a row and 16 hidden ones: 300 rows take 25 ms in
plain Python and 0.6 ms with numpy, 40 rows 3 ms and 0.2 ms; the import itself takes 100 ms, once.
"""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from trimtab.context.policies.learned.network import Network

if TYPE_CHECKING:
    import numpy as np

Row: TypeAlias = Sequence[float]
Pass: TypeAlias = Callable[[Sequence[Row]], list[tuple[float, ...]]]
MANY = 100
"""Rows from which on numpy is imported for them; what has been imported is used for any number."""


def pass_over(network: Network) -> Pass:
    """Return the pass of rows through `network`; its arrays are made once."""
    made: list[list[tuple[np.ndarray, np.ndarray]]] = []

    def run(rows: Sequence[Row]) -> list[tuple[float, ...]]:
        if len(rows) < MANY and "numpy" not in sys.modules:
            return [network(row) for row in rows]
        try:
            import numpy as np  # noqa: PLC0415 - an extra, and dear to import
        except ImportError:
            return [network(row) for row in rows]
        if not rows:
            return []
        if not made:
            made.append([(np.array(layer.weight).T, np.array(layer.bias)) for layer in network.layers])
        values = (np.array(rows, dtype=float) - np.array(network.mean)) / np.array(network.scale)
        for number, (weight, bias) in enumerate(made[0]):
            values = values @ weight + bias
            if number < len(made[0]) - 1:
                values = np.tanh(values)
        return [tuple(row) for row in values.tolist()]

    return run
