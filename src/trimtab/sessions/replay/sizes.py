"""Sizes: one count of every message, the same whatever is replayed.

A replay compares policies on one recording, so nothing is learned on the way: a message has one size from its first request to its last, and
requests that show the same have the same size. `hidden` is what the first reported prompt had that the file doesn't show: the client's system prompt and tools.
"""

from collections.abc import Sequence

from trimtab.context.counting.counter import Counter
from trimtab.context.counting.estimate import Estimate
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelInfo
from trimtab.types.tools import ToolSpec


class Sizes:
    """A tally that never changes its mind. `hidden`: tokens in front of all requests that no message shows."""

    def __init__(self, model: ModelInfo, *, hidden: int = 0, counter: Counter | None = None) -> None:
        self.counter = counter or Counter(model)
        self.hidden = hidden
        self._texts: dict[str, int] = {}
        self._sizes: dict[int, tuple[Message, int]] = {}
        self._fixed: dict[tuple[str, tuple[ToolSpec, ...]], int] = {}
        self._seen: tuple[View, int] = (View(), 0)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = self.counter.text(text)
        return known

    def message(self, message: Message) -> int:
        """Tokens of a message as later requests carry it."""
        known = self._sizes.get(id(message))
        if known is None or known[0] is not message:
            known = self._sizes[id(message)] = (message, self.counter.message(message))
        return known[1]

    def fixed(self, system: str, tools: Sequence[ToolSpec]) -> int:
        """Tokens of what stands in front of the messages, hidden prefix included."""
        key = (system, tuple(tools))
        if key not in self._fixed:
            self._fixed[key] = self.counter.tokens(self.counter.fixed_size(*key))
        return self._fixed[key] + self.hidden

    def estimate(self, view: View, system: str, tools: Sequence[ToolSpec]) -> Estimate:
        """The size of a whole request that shows `view`: exactly the sum of its messages."""
        seen, total = self._seen if view.extends(self._seen[0]) else (View(), 0)
        total += sum(self.message(message) for message in view.messages()[len(seen.messages()) :])
        self._seen = (view, total)
        tokens = total + self.fixed(system, tools)
        return Estimate(tokens, tokens, known=True, anchored=False)

    def observe(self, answer: Assistant) -> bool:
        """Learn nothing: a report of the recorded context says nothing of this one."""
        return False
