"""Kinds of problems of an outgoing request, and which of them mending repairs."""

from dataclasses import dataclass
from typing import Literal, get_args

ProblemKind = Literal[
    "missing_result",
    "orphan_result",
    "extra_result",
    "misplaced_result",
    "result_order",
    "superseded",
    "illegal_id",
    "repeated_id",
    "empty_message",
    "first_role",
    "alternation",
    "thinking_changed",
    "thinking_missing",
    "thinking_partial",
    "signed_step_changed",
    "reasoning_follower",
    "image_type",
    "image_bytes",
    "image_side",
    "image_count",
    "media_bytes",
    "request_bytes",
    "empty_request",
    "newest_request",
    "no_way_back",
    "over_budget",
]
KINDS: tuple[str, ...] = get_args(ProblemKind)
UNFIXABLE = frozenset({"request_bytes", "empty_request", "newest_request", "no_way_back", "over_budget"})
"""What `mend` can't repair: somebody must take back an edit, or make one."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule. `where` is `N` or `N#M` (message and part, from 0), or empty: the whole request."""

    kind: ProblemKind
    where: str
    message: str

    @property
    def fixable(self) -> bool:
        """Whether `mend` repairs it."""
        return self.kind not in UNFIXABLE
