"""What is descended on.

    clone    − log Σ p(c) over the choices c that are still right: the order in which a batch is chosen doesn't matter
    learning − min(ρ·A, clip(ρ, 1 ± ε)·A)  − λh·H  + λk·(e^Δ − Δ − 1)        ρ = p_new/p_old of a choice, Δ = ln p_clone − ln p_new

Each choice of a decision has the advantage of its decision. A batch is weighed by choice: the sum over choices, each with the weight of its row, over the sum of these weights; so a large
batch isn't worth less per choice than a small one. The divergence is the low-variance estimator of Schulman's note on KL (k3): never negative, and without bias at the old policy.

Source of the clipped surrogate: PPO (arXiv 1707.06347, equation 7); of group-relative advantages with a divergence in the loss: GRPO (arXiv 2402.03300).
"""

from typing import NamedTuple

import torch
from torch import Tensor


class Terms(NamedTuple):
    """The loss, and what it is made of: means by weight. `clipped`: share of choices at the clip."""

    loss: Tensor
    surrogate: Tensor
    entropy: Tensor
    divergence: Tensor
    clipped: Tensor


def clipped_loss(
    new: Tensor,
    old: Tensor,
    clone: Tensor,
    advantage: Tensor,
    weight: Tensor,
    entropy: Tensor,
    *,
    clip: float,
    entropy_weight: float,
    anchor: float,
) -> Terms:
    """Return the terms of a batch of choices. `new`, `old`, `clone`: log-probabilities of what was chosen; `entropy`: of the distribution it was chosen from. All [B]."""
    ratio = torch.exp(new - old)
    bounded = ratio.clamp(1.0 - clip, 1.0 + clip)
    surrogate = torch.minimum(ratio * advantage, bounded * advantage)
    gap = clone - new
    divergence = torch.exp(gap) - gap - 1.0
    whole = weight.sum().clamp(min=1e-12)

    def mean(values: Tensor) -> Tensor:
        return (values * weight).sum() / whole

    loss = -mean(surrogate) - entropy_weight * mean(entropy) + anchor * mean(divergence)
    clipped = ((ratio - bounded).abs() > 0).to(new.dtype)
    return Terms(loss, mean(surrogate), mean(entropy), mean(divergence), mean(clipped))


def entropies(log_probs: Tensor) -> Tensor:
    """Return −Σ p ln p of each line, in nats; what is masked counts nothing."""
    p = log_probs.exp()
    return -(p * log_probs.masked_fill(p == 0, 0.0)).sum(dim=1)
