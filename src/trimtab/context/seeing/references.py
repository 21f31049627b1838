"""References: which earlier results later calls used.

    result ──distinctive strings it is the first to show──▶ origin
    later call ──its arguments contain one of them──▶ the result was used, at that step

What is distinctive, `strings` says. A string that the user said or the model wrote before has no origin. This is the same rule by
which `trimtab replay` decides what was needed, so a policy sees what it will be judged by; it is a heuristic, and it costs one pass over each
text, once.
"""

from dataclasses import dataclass, field

from trimtab.context.naming import body_of
from trimtab.context.strings import Strings, arguments_text, distinctive_strings
from trimtab.context.window.view import View
from trimtab.types.messages import Assistant, Text, Thinking, ToolCall, ToolResult

_MOST = 4_000
"""Strings that are kept of one text; a listing of a whole disk tells nothing with the rest."""


@dataclass(slots=True)
class Use:
    """How a result was used since it came: by how many steps, and at which step last."""

    count: int = 0
    last_step: int = -1


@dataclass(slots=True)
class References:
    """Follows one conversation. `update` takes in what is new; a move to another branch starts over."""

    uses: dict[str, Use] = field(default_factory=dict)
    """By slot id."""
    _origins: dict[str, str] = field(default_factory=dict)
    """String → id of the slot that showed it first; empty where no result did."""
    _known: Strings = field(default_factory=Strings)
    _taken: dict[str, int] = field(default_factory=dict)
    _lineage: object = None
    _passed: list[int] = field(default_factory=list)
    """Slots that had no answer when what stands behind them came."""
    _next: int = 0
    _last_id: str = ""

    def update(self, view: View) -> None:
        """Take in the slots that came since the last look."""
        if view.lineage is not self._lineage or not self._continues(view):
            self.uses.clear()
            self._origins.clear()
            self._known = Strings()
            self._passed.clear()
            self._lineage, self._next = view.lineage, 0
        late = [index for index in self._passed if view.slots[index].answered]
        for index in late:
            self._take(view, index)
            self._passed.remove(index)
        while self._next < len(view.slots):
            slot = view.slots[self._next]
            if slot.answered:
                self._take(view, self._next)
            elif view.is_passed(self._next):
                self._passed.append(
                    self._next
                )  # an interrupted call hardly ever gets its answer, and nothing waits for it
            else:
                break  # it is looked at when its answer is there
            self._last_id = slot.id
            self._next += 1

    def _continues(self, view: View) -> bool:
        return self._next == 0 or (self._next <= len(view.slots) and view.slots[self._next - 1].id == self._last_id)

    def _take(self, view: View, index: int) -> None:
        slot = view.slots[index]
        base = slot.base
        if isinstance(base, ToolResult):
            self._saw(body_of(base), slot.id)
        elif isinstance(base, Assistant):
            used: set[str] = set()
            for part in base.parts:
                if isinstance(part, ToolCall):
                    text = arguments_text(part)
                    # A copy of this ledger, for another way that the conversation goes on, adds to the same known strings; it is the origins that say which are of this one.
                    used.update(self._origins[s] for s in self._known.found_in(text) if s in self._origins)
                    self._saw(text, "")
                elif isinstance(part, Text | Thinking):
                    self._saw(part.text, "")
            for origin in used - {""}:
                use = self.uses.setdefault(origin, Use())
                use.count += 1
                use.last_step = slot.step
        else:
            self._saw(body_of(base), "")

    def _saw(self, text: str, origin: str) -> None:
        """Strings of `text` that are new came from `origin`."""
        for string in distinctive(text):
            if string not in self._origins:
                self._origins[string] = origin
                self._known.add(string)


def distinctive(text: str) -> tuple[str, ...]:
    """The distinctive strings of `text`, as far as they are kept."""
    return distinctive_strings(text)[:_MOST]
