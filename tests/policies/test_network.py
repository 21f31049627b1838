"""Networks and their files."""

from dataclasses import dataclass

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.policies.learned.features import SCHEMA
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights, read_weights, write_weights
from trimtab.types.errors import ConfigError

numbers = st.floats(-3, 3)
SMALL = Network((Dense(((1.0, -2.0),), (0.5,)),), (0.0, 1.0), (1.0, 2.0))


def test_one_layer_is_a_weighted_sum_of_what_was_scaled() -> None:
    assert SMALL((3.0, 5.0)) == (3.0 - 2.0 * 2.0 + 0.5,)


def test_between_two_layers_stands_a_hyperbolic_tangent() -> None:
    twice = Network((Dense(((1.0,),), (0.0,)), Dense(((2.0,),), (1.0,))), (0.0,), (1.0,))
    assert twice((1_000.0,)) == (3.0,)
    assert twice((0.0,)) == (1.0,)


@pytest.mark.parametrize(
    "layers",
    [(), (Dense(((1.0,),), (0.0,)),), (Dense(((1.0, 1.0),), (0.0, 0.0)),)],
    ids=["no layers", "too few inputs", "a bias too many"],
)
def test_what_can_not_be_multiplied_is_refused(layers: tuple[Dense, ...]) -> None:
    with pytest.raises(ValueError, match="layer"):
        Network(layers, (0.0, 0.0), (1.0, 1.0))


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), numbers)
def test_weights_come_back_from_their_file_and_give_the_same(rows: list[tuple[float, float]], bias: float) -> None:
    network = Network((Dense(tuple(rows), (bias,) * len(rows)),), (0.1, 0.2), (1.5, 2.5))
    weights = Weights(schema=SCHEMA, kind="needed", item=network, record={"seed": 1})
    data = write_weights(weights)
    again = read_weights(data, source="a file")
    assert again == weights
    assert write_weights(again) == data
    assert again.item((1.0, 2.0)) == network((1.0, 2.0))


@dataclass
class _Bad:
    """What stands in a file, and what is said of it."""

    data: bytes
    said: str


_GOOD = msgspec.to_builtins(Weights(schema=SCHEMA, kind="needed", item=SMALL))
BAD = {
    "no JSON": _Bad(b"PK\x03\x04", "no weights"),
    "empty": _Bad(b"", "no weights"),
    "another format": _Bad(msgspec.json.encode({**_GOOD, "format": 9}), "format 9"),
    "other features": _Bad(msgspec.json.encode({**_GOOD, "schema": "old"}), "features old"),
    "shapes that don't fit": _Bad(
        msgspec.json.encode({**_GOOD, "item": {**_GOOD["item"], "mean": [0.0]}}), "no weights"
    ),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_file_that_holds_no_weights_for_this_version_is_told_in_words(bad: _Bad) -> None:
    with pytest.raises(ConfigError, match=bad.said) as told:
        read_weights(bad.data, source="weights.json")
    assert "trimtab train" in told.value.hint
