"""Supervised: which results are needed again, learned from labels in hindsight. The first learned policy, and what the others begin with.

    rows of `labels` ──a small network, weighted so that families and projects count equally──▶ log-odds ──▶ Weights of kind `needed`
         validation rows (other families) ──▶ when to stop, and how well chances hold

What is learned is `missed`: that an item is needed and what is needed would stand neither in its stub with names nor elsewhere; in a recording, `needed`: there needs are told by
names, and names are what stubs keep, so `missed` would say that hiding is free. No hidden layer is logistic regression, the ablation. The same rows, seed and versions give the same weights.
"""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from trimtab.context.policies.learned.features import ITEM_FEATURES, SCHEMA, WHOLE_FEATURES
from trimtab.context.policies.learned.network import Dense, Network
from trimtab.context.policies.learned.weights import Weights
from trimtab.lab.corpora.intervals import auc
from trimtab.lab.labels.hindsight import Labelled
from trimtab.types.errors import UsageError
from trimtab.types.extras import install_hint

if TYPE_CHECKING:
    import torch

BINS = 10
"""Rows of a reliability table."""
UNSEEN = ("read_price", "write_price", "soft", "hard", "fixed", "log_remaining")
"""Features that say nothing about needs: the network isn't shown them, so that no price, no threshold of a person's, no set of tools and no table of lengths can be new to it."""
_DIGITS = 6
"""Significant digits of a weight in its file."""


@dataclass(frozen=True, slots=True)
class Config:
    """`hidden`: widths of hidden layers. `epochs` at most; the one with the least loss on validation rows is kept. `decay`: of weights. `rate`: of Adam. `batch`: rows of a step."""

    seed: int = 0
    hidden: tuple[int, ...] = (16,)
    epochs: int = 12
    decay: float = 0.1
    rate: float = 3e-3
    batch: int = 512


class Reliability(NamedTuple):
    """Rows whose chance lies in one of ten equal parts: how many, what was said on average, and the share that came true. Weighted as in training."""

    rows: int
    said: float
    came: float


class Fitted(NamedTuple):
    """What came of a fit. `record` stands in the weights too."""

    weights: Weights
    record: dict[str, Any]


def target(row: Labelled) -> bool:
    """What is learned of a row; see the module."""
    return row.missed if row.tier == "T0" else row.needed


def fit_needed(
    rows: Sequence[Labelled], validation: Sequence[Labelled], config: Config | None = None, *, about: str = ""
) -> Fitted:
    """Return weights that say how likely an item is needed again, fitted on `rows`, stopped by `validation`, which shares no family with them.

    `about`: what the rows are, for the record. Raises `UsageError` without torch, and `ValueError` when a part has no rows of both kinds.
    """
    config = config or Config()
    for name, part in (("training", rows), ("validation", validation)):
        if len({target(row) for row in part}) < 2:
            raise ValueError(f"{name} has no rows that were needed, or none that weren't")
    torch = _torch()
    torch.manual_seed(config.seed)
    torch.set_num_threads(1)
    columns = _Columns.of(rows)
    inputs, labels, weights = columns.tensors(rows)
    checked = columns.tensors(validation)
    model = _model(len(columns.mean), config.hidden)
    optimiser = torch.optim.AdamW(model.parameters(), lr=config.rate, weight_decay=config.decay)
    order = torch.Generator().manual_seed(config.seed)
    best, kept, curve = math.inf, model.state_dict(), []
    for _ in range(config.epochs):
        for chosen in torch.randperm(len(inputs), generator=order).split(config.batch):
            loss = _loss(model, inputs[chosen], labels[chosen], weights[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            curve.append(float(_loss(model, *checked)))
        if curve[-1] < best:
            best, kept = curve[-1], {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(kept)
    network = columns.network(model)
    low, high = _ranges(rows)
    record = {
        "about": about,
        "config": dataclasses.asdict(config),
        "rows": _counts(rows),
        "validation": {**_counts(validation), **figures(network, validation)},
        "curve": [round(one, 5) for one in curve],
        "versions": {"torch": str(torch.__version__), "schema": SCHEMA},
    }
    record = msgspec.json.decode(msgspec.json.encode(record))  # as it comes back from a file
    made = Weights(schema=SCHEMA, kind="needed", item=network, low=low, high=high, record=record)
    return Fitted(made, record)


def figures(network: Network, rows: Sequence[Labelled]) -> dict[str, Any]:
    """Return how well a network tells which of `rows` were needed: area under the curve, of all and of each group, and its reliability."""
    said = [_chance(network(row.known)[0]) for row in rows]
    came = [target(row) for row in rows]
    groups = sorted({row.group for row in rows})
    by_group = {}
    for group in groups:
        own = [n for n, row in enumerate(rows) if row.group == group]
        area = auc([said[n] for n in own], [came[n] for n in own])
        if not math.isnan(area):
            by_group[group] = round(area, 3)
    return {
        "auc": round(auc(said, came), 3),
        "auc_by_group": by_group,
        "reliability": [list(one) for one in reliability(said, came, weights_of(rows))],
    }


def reliability(said: Sequence[float], came: Sequence[bool], weights: Sequence[float]) -> list[Reliability]:
    """Return a row for each tenth of chances that has rows."""
    table: list[Reliability] = []
    for part in range(BINS):
        own = [n for n, chance in enumerate(said) if min(BINS - 1, int(chance * BINS)) == part]
        total = sum(weights[n] for n in own)
        if total > 0:
            mean = sum(weights[n] * said[n] for n in own) / total
            share = sum(weights[n] * came[n] for n in own) / total
            table.append(Reliability(len(own), round(mean, 3), round(share, 3)))
    return table


def weights_of(rows: Sequence[Labelled]) -> list[float]:
    """Return what each row counts: every family or project the same in all, every story of one the same, and one on average."""
    stories = {(row.group, row.story) for row in rows}
    of_group = Counter(group for group, _ in stories)
    of_story = Counter((row.group, row.story) for row in rows)
    share = len(rows) / max(1, len(of_group))
    return [share / of_group[row.group] / of_story[row.group, row.story] for row in rows]


@dataclass(frozen=True, slots=True)
class _Columns:
    """How columns are scaled. `seen`: 0 for one that the network isn't shown."""

    mean: tuple[float, ...]
    scale: tuple[float, ...]
    seen: tuple[float, ...]

    @classmethod
    def of(cls, rows: Sequence[Labelled]) -> "_Columns":
        torch = _torch()
        values = torch.tensor([row.known for row in rows], dtype=torch.float64)
        spread = values.std(0, correction=0)
        scale = tuple(float(one) if one > 1e-9 else 1.0 for one in spread)
        names = (*ITEM_FEATURES, *WHOLE_FEATURES)
        seen = tuple(float(name not in UNSEEN and float(one) > 1e-9) for name, one in zip(names, spread, strict=True))
        return cls(tuple(map(float, values.mean(0))), scale, seen)

    def tensors(self, rows: Sequence[Labelled]) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
        """Rows scaled, labels, and what each row counts."""
        torch = _torch()
        values = torch.tensor([row.known for row in rows], dtype=torch.float64)
        scaled = (values - torch.tensor(self.mean, dtype=torch.float64)) / torch.tensor(self.scale, dtype=torch.float64)
        shown = (scaled * torch.tensor(self.seen, dtype=torch.float64)).float()
        labels = torch.tensor([float(target(row)) for row in rows])
        return shown, labels, torch.tensor(weights_of(rows), dtype=torch.float32)

    def network(self, model: "torch.nn.Sequential") -> Network:
        """The model as numbers. What it isn't shown has weight zero."""
        layers = [layer for layer in model if hasattr(layer, "weight")]
        dense: list[Dense] = []
        for number, layer in enumerate(layers):
            rows = layer.weight.detach().double().tolist()
            if number == 0:
                rows = [[w * seen for w, seen in zip(row, self.seen, strict=True)] for row in rows]
            bias = layer.bias.detach().double().tolist()
            dense.append(Dense(tuple(tuple(map(_short, row)) for row in rows), tuple(map(_short, bias))))
        return Network(tuple(dense), tuple(map(_short, self.mean)), tuple(map(_short, self.scale)))


def _model(inputs: int, hidden: Sequence[int]) -> "torch.nn.Sequential":
    torch = _torch()
    layers: list[Any] = []
    for width in hidden:
        layers += [torch.nn.Linear(inputs, width), torch.nn.Tanh()]
        inputs = width
    return torch.nn.Sequential(*layers, torch.nn.Linear(inputs, 1))


def _loss(
    model: "Callable[[torch.Tensor], torch.Tensor]",
    rows: "torch.Tensor",
    labels: "torch.Tensor",
    weights: "torch.Tensor",
) -> "torch.Tensor":
    torch = _torch()
    each = torch.nn.functional.binary_cross_entropy_with_logits(model(rows)[:, 0], labels, reduction="none")
    return (weights * each).mean()


def _ranges(rows: Sequence[Labelled]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The smallest and the largest of each number. What the network isn't shown may be any."""
    names = (*ITEM_FEATURES, *WHOLE_FEATURES)
    columns = list(zip(*(row.known for row in rows), strict=True))
    free = [name in UNSEEN for name in names]
    low = tuple(0.0 if any_ else _short(min(column)) for any_, column in zip(free, columns, strict=True))
    high = tuple(16.0 if any_ else _short(max(column)) for any_, column in zip(free, columns, strict=True))
    return low, high


def _counts(rows: Sequence[Labelled]) -> dict[str, Any]:
    tiers = Counter(row.tier for row in rows)
    return {
        "count": len(rows),
        "positive": round(sum(map(target, rows)) / max(1, len(rows)), 4),
        "tiers": dict(sorted(tiers.items())),
        "groups": dict(sorted(Counter(row.group for row in rows).items())),
        "stories": len({row.story for row in rows}),
    }


def _chance(odds: float) -> float:
    return 1 / (1 + math.exp(-odds)) if odds >= 0 else math.exp(odds) / (1 + math.exp(odds))


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _torch() -> Any:
    try:
        import torch  # noqa: PLC0415 - an extra
    except ImportError as problem:
        raise UsageError("training needs torch, which isn't installed", hint=install_hint("train")) from problem
    return torch
