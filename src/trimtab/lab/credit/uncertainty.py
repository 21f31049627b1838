"""Uncertainty of a decision, as branching compares it: how undecided whoever acts is at its start.

Three scales, each compared only with itself: the paper's mean over tokens, its code's sum over top tokens, and the mean over decisions of a policy that
chooses among actions instead of writing text.
"""

import math
from collections.abc import Sequence

FIRST_TOKENS = 20
TOP_TOKENS = 10
"""Figures of ContextPilot's code."""


def entropy(probabilities: Sequence[float]) -> float:
    """Return −Σ p ln p in nats. Zeros count nothing."""
    return -math.fsum(p * math.log(p) for p in probabilities if p > 0.0)


def mean_entropy(entropies: Sequence[float], *, first: int = FIRST_TOKENS) -> float:
    """Return the mean of the first `first` entropies, of tokens or of decisions; 0 where there are none. The paper's definition, for tokens."""
    head = entropies[:first]
    return math.fsum(head) / len(head) if head else 0.0


def top_token_uncertainty(
    top_log_probs: Sequence[Sequence[float]], vocabulary: int, *, first: int = FIRST_TOKENS, top: int = TOP_TOKENS
) -> float:
    """Return the code's definition: −Σ p ln p over the `top` likeliest of each of the first tokens, summed over these tokens and divided by ln(vocabulary).

    `top_log_probs` has, for each token, the natural log-probabilities that the server gave, in any order.
    """
    likeliest = (sorted(token, reverse=True)[:top] for token in top_log_probs[:first])
    return math.fsum(-math.exp(log_prob) * log_prob for token in likeliest for log_prob in token) / math.log(vocabulary)


def decision_uncertainties(entropies: Sequence[float], *, ahead: int = 4) -> tuple[float, ...]:
    """Return for each decision the mean entropy of it and those that follow, `ahead` in all, or as many as are left."""
    return tuple(mean_entropy(entropies[step:], first=ahead) for step in range(len(entropies)))
