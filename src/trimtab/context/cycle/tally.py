"""The tally of a session: `counting` fitted to views.

view ──it only grew?──▶ the messages that are new        (any edit, revert or move: whatever changed)
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from trimtab.context.counting.estimate import Estimate
from trimtab.context.counting.tokenizers import guess
from trimtab.context.pause import breathe
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Message, Text, Thinking, ToolCall
from trimtab.types.models import ModelInfo
from trimtab.types.tools import ToolSpec

if TYPE_CHECKING:
    from trimtab.context.counting.anchor import Meter
    from trimtab.context.counting.counter import Counter
    from trimtab.context.counting.size import Size

_OVERHEAD = 16
"""Tokens that a wire puts around a text, at most."""
_TOGETHER = 32
"""Texts that are guessed as one: most are short, and each guess is twenty passes."""


class MeterTally:
    """Counts views for one model. `complete`: nothing of a request is hidden from us (see `Meter`).

    What counts is loaded, or made with `make`, with the first request that isn't small at a glance.
    """

    def __init__(
        self,
        model: ModelInfo,
        *,
        counter: "Counter | None" = None,
        make: "Callable[[ModelInfo], Counter] | None" = None,
        complete: bool = True,
    ) -> None:
        self._model = model
        self._make = make
        self._complete = complete
        self._counter = counter
        self._meter: Meter | None = None
        self._sizes: dict[int, tuple[Message, Size]] = {}
        self._seen: View | None = View()
        """What the meter has taken in; None: nobody knows, for that was left in the middle."""
        self._fixed: tuple[str, tuple[ToolSpec, ...], Size] | None = None

    @property
    def counter(self) -> "Counter":
        """What sizes texts and messages."""
        if self._counter is None:
            from trimtab.context.counting.counter import Counter  # noqa: PLC0415 - see the class

            self._counter = (self._make or Counter)(self._model)
        return self._counter

    @property
    def counts(self) -> bool:
        """Whether anything was counted yet."""
        return self._counter is not None

    @property
    def meter(self) -> "Meter":
        """What knows the sizes of the requests that went out, and what was reported for them."""
        if self._meter is None:
            from trimtab.context.counting.anchor import Meter  # noqa: PLC0415 - see the class

            self._meter = Meter(self.counter, complete=self._complete)
        return self._meter

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self.counter.text(text)

    def message(self, message: Message) -> int:
        """Tokens of a message as later requests carry it, by all that was learned until now."""
        known = self._sizes.get(id(message))
        if known is None or known[0] is not message:
            if len(self._sizes) > 50_000:
                self._sizes.clear()
            known = self._sizes[id(message)] = (message, self.counter.size(message))
        return max(1, self.counter.tokens(known[1]))

    def fixed(self, system: str, tools: Sequence[ToolSpec]) -> int:
        """Tokens of what stands in front of the messages."""
        tools = tuple(tools)
        if self._fixed is None or self._fixed[:2] != (system, tools):
            self._fixed = (system, tools, self.counter.fixed_size(system, tools))
        return self.counter.tokens(self._fixed[2])

    def estimate(self, view: View, system: str, tools: Sequence[ToolSpec]) -> Estimate:
        """The size of a whole request that shows `view`."""
        self.meter.fixed(system, tuple(tools))
        messages = view.messages()
        seen, self._seen = self._seen, None
        if seen is not None and view.extends(seen):
            for message in messages[len(seen.messages()) :]:
                self.meter.append(message)
        else:
            self.meter.sync(messages)
        self._seen = view
        return self.meter.estimate()

    def glance(self, view: View, system: str, tools: Sequence[ToolSpec], *, most: int) -> Estimate | None:
        """A guess that loads no vocabulary; `upper` is certain, for no token is less than a byte, and under `most`. None where that can't be, or
        where there is more than text.
        """
        texts = [system, *(f"{t.name} {t.description} {t.parameters}" for t in tools)]
        for message in view.messages():
            for part in message.parts:
                if isinstance(part, Text | Thinking):
                    texts.append(part.text)
                elif isinstance(part, ToolCall):
                    texts.append(f"{part.name} {part.raw}")
                else:
                    return None
        overhead = _OVERHEAD * len(texts)
        size = overhead + sum(_bytes(text) for text in texts)
        if size >= most:  # known without a guess, which would read every letter
            return None
        together = ("\n".join(texts[at : at + _TOGETHER]) for at in range(0, len(texts), _TOGETHER))
        guessed = sum(map(_guessed, together)) + overhead // 2
        upper = max(guessed, size)
        return Estimate(guessed, upper, known=False, anchored=False) if upper < most else None

    def observe(self, answer: Assistant) -> bool:
        """Learn from the usage of `answer`, which answered exactly what was estimated last; say whether it was believed."""
        return self.meter.observe(answer)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _guessed(text: str) -> int:
    breathe()
    return guess(text, "o200k_base")
