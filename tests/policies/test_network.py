"""Networks and their files."""

import os
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights, read_weights, write_weights
from trimtab.context.stores.weights import weights_at
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


def _wide(inputs: int, *, outputs: int = 1, scale: float = 1.0) -> Network:
    return Network(
        (Dense(((0.0,) * inputs,) * outputs, (0.0,) * outputs),) if outputs else (Dense((), ()),),
        (0.0,) * inputs,
        (scale,) * inputs,
    )


_ROW = len(ITEM_FEATURES) + len(WHOLE_FEATURES)
FITS = Weights(schema=SCHEMA, kind="needed", item=_wide(_ROW))
UNFIT = {
    "another width": (msgspec.structs.replace(FITS, item=_wide(_ROW - 1)), "takes"),
    "nothing comes out": (msgspec.structs.replace(FITS, item=_wide(_ROW, outputs=0)), "gives nothing"),
    "a scale of zero": (msgspec.structs.replace(FITS, item=_wide(_ROW, scale=0.0)), "scale of 0"),
    "choices without a gate": (msgspec.structs.replace(FITS, kind="choices"), "no gate"),
    "a gate of another width": (msgspec.structs.replace(FITS, kind="choices", gate=_wide(2)), "'gate' takes 2"),
    "a scale that is nearly 0": (
        msgspec.structs.replace(FITS, item=msgspec.structs.replace(FITS.item, scale=(1e-320,) * _ROW)),
        "a scale of 0",
    ),
    "a mean beyond all counting": (
        msgspec.structs.replace(FITS, item=msgspec.structs.replace(FITS.item, mean=(1e308,) * _ROW)),
        "numbers that can't be counted with",
    ),
    "a figure that nobody knows": (msgspec.structs.replace(FITS, extra=("mood",), needed=FITS.item), "says mood"),
    "a figure without its network": (
        msgspec.structs.replace(FITS, item=_wide(_ROW + 1), extra=("needed",)),
        "says needed",
    ),
}


def test_weights_of_a_persons_own_are_read_from_their_file(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(write_weights(FITS))
    assert weights_at(str(tmp_path / "w.json")) == FITS


@pytest.mark.parametrize(("weights", "said"), UNFIT.values(), ids=UNFIT)
def test_weights_that_no_decision_could_ask_are_refused_when_they_are_read(
    tmp_path: Path, weights: Weights, said: str
) -> None:
    (tmp_path / "w.json").write_bytes(write_weights(weights))
    with pytest.raises(ConfigError, match=said) as told:
        weights_at(str(tmp_path / "w.json"))
    assert "trimtab train" in told.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_with_the_name_of_weights_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "w.json")
    with pytest.raises(ConfigError, match="no regular file"):
        weights_at(str(tmp_path / "w.json"))


def test_weights_that_nest_without_end_are_no_weights(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_bytes(b'{"record":' + b'{"a":' * 100_000)
    with pytest.raises(ConfigError, match="holds no weights"):
        weights_at(str(tmp_path / "w.json"))
