"""The window: the engine around one conversation, with messages that are numbered for whoever reads them.

    take(message) ─▶ m7 ──▶ recorded; a result shows its number and that of its call
    prepare(request) ──▶ what goes out; the engine's ladder makes room where the reader hasn't
    edit(m7, …) ──▶ an edit of the engine: an overlay, never a change of what was recorded

The one rule: pairs of calls and results stay, so whatever is edited, the request is well formed, and every edit can be undone.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Answer, Ask
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.editing.applying import Outcome
from trimtab.context.embed.log_in_memory import MemoryLog, drive
from trimtab.context.engine import Engine
from trimtab.context.markers import KEPT_OUTSIDE, known_markers, refuse_markers
from trimtab.context.policies.base import Manners
from trimtab.context.prepared import Prepared
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.context.shorten.compress import Compressor
from trimtab.context.tools.host import ToolReply
from trimtab.types.edits import Restate
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User
from trimtab.types.models import ModelInfo, ModelRequest

T = TypeVar("T")
READER, HARNESS, DESK = "model", "harness", "desk"
"""Authors of edits: the reader itself, a script around it, and the environment, which says anew what is kept."""
_LARGE_TEXT = 100
"""Tokens of an answer's own words from which on they may be hidden too."""


@dataclass(frozen=True, slots=True)
class Nobody:
    """The policy of a window that its reader manages: it wants nothing, and the ladder stands behind it."""

    name: str = "nobody"
    manners: Manners = field(default=Manners(guarded=False))

    def decide(self, observation: Observation) -> tuple[Action, ...]:
        """Return nothing."""
        return ()


class Window:
    """One conversation. `numbers` has the entry of each message, by its number from 1."""

    def __init__(self, model: ModelInfo, *, name: str, compressor: Compressor | None = None) -> None:
        self.log = MemoryLog()
        self.engine = Engine(
            model,
            session_id=name,
            policy=Nobody(),
            settings=EngineSettings(tools="pilot", result_share=None, epochs=False),
            way_back=lambda _slot: KEPT_OUTSIDE,
            compressor=compressor,
        )
        # What is hidden, restoreContext brings back, so a marker needs to name no call.
        self.engine.faults = faultfinder(model, has_way=lambda _slot, _text: True)
        self.engine.compressor_failed = lambda why: self._failed.append(why)
        self.request = ModelRequest(model, ())
        self.numbers: list[str] = []
        self._failed: list[str] = []

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return self.engine.tally.text(text)

    def take(self, message: Message) -> int:
        """Record a message and return its number. A result gets its number as its handle, which it shows."""
        number = len(self.numbers) + 1
        if isinstance(message, ToolResult):
            message = structs.replace(message, handle=f"m{number}")
        (entry,) = self.log.append([self.engine.admit(message)])
        self.numbers.append(entry)
        return number

    def prepare(self, request: ModelRequest) -> Prepared:
        """Return the next request. Raises `ContextFloor` when none fits."""
        self.request = request
        return self._run(self.engine.prepare(self.log.view, request))

    @property
    def forced_edits(self) -> int:
        """Edits so far that were neither the reader's nor the environment's: those of the ladder, and of a script around the reader."""
        return sum(applied.author not in (READER, DESK) for applied in self.log.view.applied)

    @property
    def edits(self) -> int:
        """The reader's edits so far."""
        return sum(applied.author == READER for applied in self.log.view.applied)

    def message(self, number: int) -> Message | None:
        """The message of a number, as it was recorded."""
        if not 1 <= number <= len(self.numbers):
            return None
        address = self.log.view.find(self.numbers[number - 1])
        return None if address is None else self.log.view.slots[address.index].base

    def state(self, number: int) -> str:
        """How a message stands in the context: `full`, `folded`, `summary`, `stub` or `gone`."""
        address = self.log.view.find(self.numbers[number - 1])
        return "gone" if address is None else self.log.view.slots[address.index].state

    def delete(self, number: int, *, author: str = READER) -> ToolReply:
        """Hide the body of a message, of a call its large arguments."""
        if isinstance(message := self.message(number), Assistant):
            reply = self.edit("offload", number, {}, author=author)
            if reply.is_error and self.count(message.text) >= _LARGE_TEXT:
                return self.edit("elide", number, {}, author=author)
            return reply
        return self.edit("elide", number, {}, author=author)

    def edit(self, action: str, number: int, params: dict[str, object], *, author: str = READER) -> ToolReply:
        """Do one action to one message, and tell its size before and after, or why nothing was done."""
        message = self.message(number)
        if message is None:
            return ToolReply(f"there is no message m{number}; the newest is m{len(self.numbers)}", is_error=True)
        if isinstance(message, User):
            return ToolReply(f"m{number} is what you were asked; it stays", is_error=True)
        self._failed.clear()
        wish = structs.replace(Action("keep", (self.numbers[number - 1],), dict(params)), action=action)
        outcome: Outcome = self._run(self.engine.act(self.log.view, self.request, [wish], author=author))
        if not outcome.done:
            why = "; ".join(outcome.problems) or "nothing was done"
            return ToolReply(
                why.replace(repr(self.numbers[number - 1]), f"m{number}").replace(
                    self.numbers[number - 1], f"m{number}"
                ),
                is_error=True,
            )
        entry = outcome.done[0].entry
        instead = " (the compressor failed; the built-in one stood in)" if self._failed else ""
        return ToolReply(
            f"m{number}: {entry.before_tokens or 0:,} tokens before, {entry.after_tokens or 0:,} now{instead}"
        )

    def restore(self, number: int) -> ToolReply:
        """Take back all that was done to a message, the newest first; what wouldn't fit stays as it is."""
        if self.message(number) is None:
            return ToolReply(f"there is no message m{number}; the newest is m{len(self.numbers)}", is_error=True)
        address = self.log.view.find(self.numbers[number - 1])
        done = (
            []
            if address is None
            else [
                a.id for a in self.log.view.applied if address.index in a.slots and a.id not in self.log.view.reverted
            ]
        )
        if not done:
            return ToolReply(f"m{number} stands there as it was", is_error=True)
        for edit in reversed(done):
            made = self._run(self.engine.revert(self.log.view, self.request, edit, author=READER))
            if isinstance(made, str):
                return ToolReply(made, is_error=True)
        return ToolReply(f"m{number} stands there again as it was")

    def say(self, text: str, label: str) -> None:
        """Say something at the end in place of what was said under that label before. An empty text takes that away."""
        view = self.log.view
        older = [a.id for a in view.applied if isinstance(a.edit, Restate) and a.edit.label == label]
        standing = [
            edit for edit in older if (at := view.find(edit)) is not None and view.slots[at.index].state != "gone"
        ]
        wishes = [Action("drop", tuple(standing), reason="said anew")] if standing else []
        wishes += [Action("restate", params={"text": text, "label": label})] if text else []
        if wishes:
            self._run(self.engine.act(view, self.request, wishes, author=DESK))

    def refuse(self, call: ToolCall) -> str | None:
        """Why what a call would keep must not be kept: a line that stands for hidden text is in it, and not that text."""
        texts = [text for a in self.log.view.applied for text in getattr(a.edit, "texts", {}).values()]
        return refuse_markers(call.arguments or {}, known_markers(texts))

    def _run(self, plan: Generator[Ask, Answer, T]) -> T:
        return drive(plan, self.log)


def text_result(call: ToolCall, text: str, *, is_error: bool) -> ToolResult:
    """Return a result that is one text."""
    return ToolResult(call.id, call.name, (Text(text),), is_error=is_error)
