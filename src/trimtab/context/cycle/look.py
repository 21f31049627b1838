"""A look: the next request as it stands, counted.

    view + request ──look──▶ Look: messages, sizes, tokens with a band, what is fixed

The one count. The meter, the trigger and the preflight all read it, so they can't disagree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trimtab.context.budget import Budget
from trimtab.context.counting.estimate import Estimate
from trimtab.context.window.view import Shown, View
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec


class Tally(Protocol):
    """Counts for one model, and learns from what its provider reports."""

    def text(self, text: str) -> int:
        """Tokens of a text."""
        ...

    def message(self, message: Message) -> int:
        """Tokens of a message as the provider will count it: overhead, text, thinking that it keeps, calls, media."""
        ...

    def fixed(self, system: str, tools: Sequence[ToolSpec]) -> int:
        """Tokens of what stands in front of the messages."""
        ...

    def estimate(self, view: View, system: str, tools: Sequence[ToolSpec]) -> Estimate:
        """The size of a whole request that shows `view`. Cheap while the view only grows (see `View.extends`)."""
        ...

    def observe(self, answer: Assistant) -> bool:
        """Learn from the usage of `answer`, which answered exactly what was estimated last; say whether it was believed."""
        ...


@dataclass(frozen=True, slots=True)
class Look:
    """A request before it is sent, counted by `tally`."""

    view: View
    request: ModelRequest
    budget: Budget
    estimate: Estimate
    tally: Tally

    @property
    def used(self) -> int:
        """What decisions go by: the upper end of the estimate."""
        return self.estimate.upper

    @property
    def fixed(self) -> int:
        """Tokens of system prompt and tools."""
        return self.tally.fixed(self.request.system, self.request.tools)

    @property
    def aim(self) -> int:
        """What the ladder goes down to: the target, or the middle of the space above what is fixed where that is larger.

        With a long system prompt and a small window the target may lie below what nothing can take out.
        """
        return max(self.budget.target, (self.fixed + self.budget.hard) // 2)

    def has_room_for(self, tokens: int) -> bool:
        """Whether a text of so many tokens at the end would still fit, with the band that its estimate has and what a message costs around it."""
        return self.used + tokens * 3 // 2 + 16 <= self.budget.hard

    def sizes(self) -> list[tuple[Shown, int]]:
        """Each shown message with its tokens."""
        return [(shown, self.tally.message(shown.message)) for shown in self.view.shown()]


def look(view: View, request: ModelRequest, budget: Budget, tally: Tally) -> Look:
    """Count the request that `view` makes of `request`."""
    return Look(view, request, budget, tally.estimate(view, request.system, request.tools), tally)
