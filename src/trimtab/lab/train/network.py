"""The network in torch: a scorer of items and a gate, and a softmax over what may be chosen.

    item's row + row of the whole ─▶ tanh ─▶ tanh ─▶ a score for each operation ─┐
    row of the whole + mean of the items' rows (without extra figures) ─▶ tanh ─▶ a score for each choice ┴▶ masked, log-softmax over all places

    B sights of up to N items (padded with zeros, `present` tells) · W = 3 places of the whole, O operations
    items [B, N, I] · whole [B, G] · mask [B, W + N·O] ──▶ log-probabilities [B, W + N·O], −inf where masked

Inputs are scaled by mean and spread of the data that the clone was made of. All is in 64 bits, so that what runs in the agent, in plain Python, comes to the same figures; the network is so small that
this costs nothing beside the engine.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from trimtab.context.policies.learned.features import ITEM_FEATURES, MOST, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.grammar import ITEM_OPS, WHOLE_OPS
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.train.config import Shape
from trimtab.lab.train.seeing import BATCH_AT, CHOSEN_AT, OPS, WHOLE, Rows, Sight
from trimtab.types.errors import TrimtabError

Arrays: TypeAlias = dict[str, Rows]
"""Parameters, by name, as arrays: they can be sent to any worker."""


UNSEEN = ("soft", "hard", "fixed", "log_remaining")
"""Features that are nearly the same in every task, so nothing can be learned of them: the network isn't shown them, and no threshold of a person's, no set of tools and no table of lengths is new to it."""


class NotExported(TrimtabError):
    """A network that nothing but the lab can run."""


class ChoiceNetwork(nn.Module):
    """See the module. `widths`: numbers of an item's row (with extra figures) and of the row of the whole."""

    def __init__(self, shape: Shape, widths: tuple[int, int]) -> None:
        super().__init__()
        self.shape, self.widths = shape, widths
        (item, whole), plain = widths, len(ITEM_FEATURES)
        for name, size in (("item", item + whole), ("gate", whole + plain)):
            self.register_buffer(f"{name}_mean", torch.zeros(size, dtype=torch.float64))
            self.register_buffer(f"{name}_scale", torch.ones(size, dtype=torch.float64))
        for name, size, first in (("item", item + whole, item), ("gate", whole + plain, 0)):
            self.register_buffer(f"{name}_shown", _shown(size, first), persistent=False)
        # What was seen of each input of the scorer, least and most: beyond it, what runs in the agent leaves the decision to rules.
        self.register_buffer("low", torch.full((item + whole,), torch.inf, dtype=torch.float64))
        self.register_buffer("high", torch.full((item + whole,), -torch.inf, dtype=torch.float64))
        self.item = _layers((item + whole, *shape.item, OPS))
        self.gate = _layers((whole + plain, *shape.gate, WHOLE))
        first = shape.item[0] if shape.item else 0
        self.look = nn.MultiheadAttention(first, 1, batch_first=True, dtype=torch.float64) if shape.attention else None

    def forward(self, items: Tensor, whole: Tensor, present: Tensor, mask: Tensor) -> Tensor:
        """Return log-probabilities. `present` [B, N]: which rows are items."""
        many = items.shape[1]
        rows = torch.cat((items, whole[:, None, :].expand(-1, many, -1)), dim=2)
        rows = self._scaled("item", rows)
        count = present.sum(dim=1, keepdim=True).clamp(min=1)
        mean = (items[:, :, : len(ITEM_FEATURES)] * present[:, :, None]).sum(dim=1) / count
        gate = self._scaled("gate", torch.cat((whole, mean), dim=1))
        scores = torch.cat((self.gate(gate), self._item_scores(rows, present).flatten(1)), dim=1)
        return torch.log_softmax(scores.masked_fill(~mask, -torch.inf), dim=1)

    def _scaled(self, name: str, rows: Tensor) -> Tensor:
        """Rows by mean and spread; 0, as if it were the mean, for what isn't shown."""
        mean, scale, shown = (self.get_buffer(f"{name}_{what}") for what in ("mean", "scale", "shown"))
        return (rows - mean) / scale * shown

    def _item_scores(self, rows: Tensor, present: Tensor) -> Tensor:
        if self.look is None or rows.shape[1] == 0:
            scores: Tensor = self.item(rows)
            return scores
        first = torch.tanh(self.item[0](rows))
        # A sight without items has nothing to look at: its padding looks at itself, and is masked anyway.
        hidden = (present == 0) & (present.sum(dim=1, keepdim=True) > 0)
        seen, _ = self.look(first, first, first, key_padding_mask=hidden, need_weights=False)
        rest: Tensor = self.item[2:](first + seen)
        return rest

    def scale_to(self, sights: Sequence[Sight]) -> None:
        """Take mean and spread of inputs from what was seen."""
        self._scale("item", [_item_inputs(sight) for sight in sights if len(sight.items)])
        self._scale("gate", [np.concatenate((sight.whole, _mean_row(sight)))[None] for sight in sights])

    def _scale(self, name: str, seen: Sequence[Rows]) -> None:
        if not seen:
            return
        rows = np.vstack(seen)
        spread = rows.std(axis=0)
        self.get_buffer(f"{name}_mean").copy_(torch.from_numpy(rows.mean(axis=0)))
        # What never moved says nothing: it stays in its own unit, should it move one day.
        self.get_buffer(f"{name}_scale").copy_(torch.from_numpy(np.where(spread > 1e-3, spread, 1.0)))

    def saw(self, sights: Sequence[Sight]) -> None:
        """Widen the range of what was seen. An item may be chosen, and a batch full, wherever it was seen."""
        for sight in (sight for sight in sights if len(sight.items)):
            rows = _item_inputs(sight)
            low, high = rows.min(axis=0), rows.max(axis=0)
            high[CHOSEN_AT] = high[sight.items.shape[1] + BATCH_AT] = 1.0
            unseen = self.get_buffer("item_shown").cpu().numpy() == 0
            low[unseen], high[unseen] = 0.0, MOST
            self.get_buffer("low").copy_(torch.minimum(self.get_buffer("low").cpu(), torch.from_numpy(low)))
            self.get_buffer("high").copy_(torch.maximum(self.get_buffer("high").cpu(), torch.from_numpy(high)))

    @property
    def size(self) -> int:
        """Parameters that are trained."""
        return sum(parameter.numel() for parameter in self.parameters())

    def arrays(self) -> Arrays:
        """Return all parameters and scales."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.state_dict().items()}


def network_of(shape: Shape, widths: tuple[int, int], arrays: Arrays) -> ChoiceNetwork:
    """Return the network with these parameters."""
    made = ChoiceNetwork(shape, widths)
    made.load_state_dict({name: torch.from_numpy(value) for name, value in arrays.items()})
    return made


def fresh_network(shape: Shape, widths: tuple[int, int], *, seed: int) -> ChoiceNetwork:
    """Return a network with parameters drawn by `seed`, whatever was drawn before."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ChoiceNetwork(shape, widths)


def log_probs_of(network: ChoiceNetwork, sight: Sight, chosen: Sequence[int]) -> Rows:
    """Return the log-probability of each place at one sight, with these chosen already."""
    items, whole = sight.rows(chosen)
    device = next(network.parameters()).device
    with torch.inference_mode():
        found = network(
            torch.from_numpy(items)[None].to(device),
            torch.from_numpy(whole)[None].to(device),
            torch.ones(1, len(items), dtype=torch.float64, device=device),
            torch.from_numpy(sight.open(chosen))[None].to(device),
        )
    log_probs: Rows = found[0].cpu().numpy()
    return log_probs


def export(
    network: ChoiceNetwork, *, needed: Weights | None = None, extra: Sequence[str] = (), record: dict[str, Any]
) -> Weights:
    """Return what runs in the agent. `needed`: what the extra figures come from. Raises `NotExported` for a network with attention."""
    if network.look is not None:
        raise NotExported(
            "a network with attention runs in the lab only", hint="It is for the ablation: train without."
        )
    item, gate = _exported(network, "item", network.item), _exported(network, "gate", network.gate)
    low, high = _numbers(network, "low"), _numbers(network, "high")
    columns = _as_written(network.widths)
    seen = all(map(math.isfinite, (*low, *high)))
    return Weights(
        schema=SCHEMA,
        kind="choices",
        item=_reordered(item, columns),
        gate=gate,
        needed=None if needed is None else needed.item,
        low=tuple(low[n] for n in columns) if seen else (),
        high=tuple(high[n] for n in columns) if seen else (),
        ops=ITEM_OPS,
        whole_ops=WHOLE_OPS,
        extra=tuple(extra),
        record=record,
    )


def _as_written(widths: tuple[int, int]) -> list[int]:
    """The order of the item's inputs in a file: its row, the row of the whole, and extra figures behind both. In training the extra figures belong to the item's row."""
    item, whole = widths
    plain = len(ITEM_FEATURES)
    return [*range(plain), *range(item, item + whole), *range(plain, item)]


def _exported(network: ChoiceNetwork, name: str, layers: nn.Sequential) -> Network:
    """As numbers; what isn't shown has weight zero."""
    first, *rest = _dense(layers)
    shown = _numbers(network, f"{name}_shown")
    weight = tuple(tuple(w * seen for w, seen in zip(row, shown, strict=True)) for row in first.weight)
    return Network(
        (Dense(weight, first.bias), *rest), _numbers(network, f"{name}_mean"), _numbers(network, f"{name}_scale")
    )


def _shown(size: int, first: int) -> Tensor:
    """1 for what the network is shown of a row, 0 for the rest. `first`: where the row of the whole begins in it."""
    shown = torch.ones(size, dtype=torch.float64)
    shown[[first + WHOLE_FEATURES.index(name) for name in UNSEEN]] = 0.0
    return shown


def _reordered(network: Network, columns: Sequence[int]) -> Network:
    first = network.layers[0]
    weight = tuple(tuple(row[n] for n in columns) for row in first.weight)
    mean, scale = (tuple(values[n] for n in columns) for values in (network.mean, network.scale))
    return Network((Dense(weight, first.bias), *network.layers[1:]), mean, scale)


def _layers(widths: Sequence[int]) -> nn.Sequential:
    parts: list[nn.Module] = []
    for before, after in pairwise(widths):
        parts += [nn.Linear(before, after, dtype=torch.float64), nn.Tanh()]
    return nn.Sequential(*parts[:-1])


def _dense(layers: nn.Sequential) -> tuple[Dense, ...]:
    return tuple(
        Dense(tuple(tuple(row) for row in layer.weight.tolist()), tuple(layer.bias.tolist()))
        for layer in layers
        if isinstance(layer, nn.Linear)
    )


def _numbers(network: ChoiceNetwork, name: str) -> tuple[float, ...]:
    return tuple(network.get_buffer(name).tolist())


def _item_inputs(sight: Sight) -> Rows:
    return np.hstack((sight.items, np.tile(sight.whole, (len(sight.items), 1))))


def _mean_row(sight: Sight) -> Rows:
    width = len(ITEM_FEATURES)
    return sight.items[:, :width].mean(axis=0) if len(sight.items) else np.zeros(width)
