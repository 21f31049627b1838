"""Batches: decisions as tensors, one line for each choice of each decision, padded to the largest.

    decision: Sight + places p1 p2 … commit ──▶ lines (rows with nothing chosen, p1) (rows with p1 chosen, p2) … (…, commit)

What a decision is worth (advantage, weight) stands in each of its lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from trimtab.lab.train.network import ChoiceNetwork
from trimtab.lab.train.seeing import OPS, WHOLE, Sight


@dataclass(frozen=True, slots=True)
class Line:
    """A sight with what was chosen so far. `right`: the places that may come next for this to be right: one in a rollout, as many as are left in a clone."""

    sight: Sight
    chosen: tuple[int, ...]
    right: tuple[int, ...]


def lines_of(sight: Sight, places: Sequence[int]) -> list[Line]:
    """Return a line for each choice of a decision."""
    return [Line(sight, tuple(places[:n]), (place,)) for n, place in enumerate(places)]


@dataclass(frozen=True, slots=True)
class Padded:
    """Lines as tensors. `right` [B, W + N·O]: the places that are right."""

    items: Tensor
    whole: Tensor
    present: Tensor
    mask: Tensor
    right: Tensor

    def log_probs(self, network: ChoiceNetwork) -> Tensor:
        """Return the log-probabilities of all places."""
        found: Tensor = network(self.items, self.whole, self.present, self.mask)
        return found

    def of_right(self, log_probs: Tensor) -> Tensor:
        """Return for each line the log-probability that what is chosen is right."""
        return torch.logsumexp(log_probs.masked_fill(~self.right, -torch.inf), dim=1)


def padded(lines: Sequence[Line], device: str = "cpu") -> Padded:
    """Return lines as tensors on a device."""
    many = max((len(line.sight.items) for line in lines), default=0)
    width = lines[0].sight.items.shape[1]
    items = np.zeros((len(lines), many, width))
    whole = np.zeros((len(lines), lines[0].sight.whole.shape[0]))
    present = np.zeros((len(lines), many))
    mask = np.zeros((len(lines), WHOLE + many * OPS), np.bool_)
    right = np.zeros_like(mask)
    for number, line in enumerate(lines):
        rows, row = line.sight.rows(line.chosen)
        valid = line.sight.open(line.chosen)
        items[number, : len(rows)] = rows
        whole[number] = row
        present[number, : len(rows)] = 1.0
        mask[number, : len(valid)] = valid
        right[number, list(line.right)] = True
    made = (torch.from_numpy(array).to(device) for array in (items, whole, present, mask, right))
    return Padded(*made)
