"""Cleanup: a script around the reader, like the state machine in which ContextPilot's released evaluation runs. Off unless somebody asks for it.

    analyze ─▶ plan ─▶ index ─▶ search ─▶ plan ─▶ read ─▶ keep ─▶ clean: searches, plans, reads, the keeping ─▶ look ─▶ review ─▶ …
                                   └── six empty searches in a row ──────────────────────────────────────────────▶ review

Two things that it does must not be taken for the reader's skill. It offers in each state the tools of that state alone, so often there is nothing to choose. And with `by_itself`, as released,
it makes the four cleanups itself, the oldest message first, with `harness` as their author, so the reader never learns when to put something away. Without it, the reader is offered
`deleteContext` there until what is due is gone. Source: arXiv 2608.28476 and its code, read for its facts; its states that only repair mistakes are left out.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from trimtab.context.tools.host import ToolReply
from trimtab.lab.docqa import calls, wording
from trimtab.lab.docqa.desk import Desk
from trimtab.lab.docqa.window import HARNESS
from trimtab.types.messages import ToolCall

State: TypeAlias = Literal["analyze", "plan", "index", "search", "replan", "read", "keep", "clean", "look", "review"]
_OFFERED: dict[State, frozenset[str]] = {
    "analyze": frozenset({"analyzeText"}),
    "plan": frozenset({"plan"}),
    "index": frozenset({"buildIndex"}),
    "search": frozenset({"searchEngine"}),
    "replan": frozenset({"plan"}),
    "read": calls.READING,
    "keep": frozenset({"memorize", "updateMemory", "note", "updateNote"}),
    "clean": frozenset({"deleteContext"}),
    "look": frozenset({"readNote", "loadMemory"}),
    "review": frozenset({"searchEngine", "readChunk", "readMultiChunks", "readNote", "loadMemory", "finish"}),
}
DUE = "due"
"""The label under which a reader is told what to put away."""
_EMPTY = 6
"""Searches in a row that find nothing, then the reader is to look at what it has."""
_SEARCHES, _PLANS = 2, 3
"""So many have piled up before they are cleaned away."""
_CHUNKS, _READS = 2, 2
"""Distinct chunks, or calls that read, after which something is to be kept."""


@dataclass(slots=True)
class Cleanup:
    """One reader's script. `state` is where it is; `by_itself`: it puts away what is due without asking."""

    by_itself: bool = True
    state: State = "analyze"
    searches: list[int] = field(default_factory=list)
    """Messages with hits that weren't put away yet, and likewise plans, readings of this round and the calls that kept something."""
    plans: list[int] = field(default_factory=list)
    reads: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    _round: set[int] = field(default_factory=set)
    """Chunks that were read in this round."""
    _seen: int = 0

    def before(self, desk: Desk) -> None:
        """Put away what is due."""
        if self.state != "clean":
            return
        if self.by_itself:
            for number in self._due():
                desk.window.delete(number, author=HARNESS)
            self._forget(self._due())
        due = self._due()
        if not self.by_itself:
            desk.window.say(wording.put_away(due), DUE)
        if not due:
            self.state = "look" if desk.notebook.listed else "review"

    def offered(self, desk: Desk) -> Collection[str]:
        """Name the tools of the state."""
        return _OFFERED[self.state]

    def called(self, desk: Desk, call: ToolCall, number: int, reply: ToolReply) -> None:
        """Go on to the next state, if the call went well."""
        if reply.is_error:
            if self.state == "clean" and call.name == "deleteContext" and isinstance(call.arguments, dict):
                self._forget([int(n) for n in [call.arguments.get("msg_id")] if isinstance(n, int)])
            return
        self._note(desk, call, number)
        self.state = self._next(desk, call)

    def _note(self, desk: Desk, call: ToolCall, number: int) -> None:
        if call.name == "searchEngine":
            self.searches.append(number)
        elif call.name == "plan":
            self.plans.append(number - 1)
        elif call.name in calls.READING:
            self.reads.append(number)
            self._round.update(desk.library.read[self._seen :])
            self._seen = len(desk.library.read)
        elif call.name in calls.KEEPING:
            self.kept.append(number - 1)
        elif call.name == "deleteContext" and call.arguments is not None:
            self._forget([n for n in [call.arguments.get("msg_id")] if isinstance(n, int)])

    def _next(self, desk: Desk, call: ToolCall) -> State:
        match self.state:
            case "analyze":
                return "plan"
            case "plan":
                return "index"
            case "index":
                return "search"
            case "search":
                return "review" if desk.library.empty >= _EMPTY else "search" if desk.library.empty else "replan"
            case "replan":
                return "read"
            case "read":
                return "keep" if len(self._round) >= _CHUNKS or len(self.reads) >= _READS else "read"
            case "keep":
                return "clean"
            case "clean":
                return "clean"
            case "look":
                return "review"
            case "review":
                return self._review(call)

    def _review(self, call: ToolCall) -> State:
        if call.name in calls.READING:
            return "keep"
        return "replan" if call.name == "searchEngine" else "review"

    def _due(self) -> list[int]:
        """What is to be put away, the oldest of each kind first: searches and plans once enough of them have piled up, what was read, and the call that kept it."""
        searches = self.searches if len(self.searches) >= _SEARCHES else []
        plans = self.plans if len(self.plans) >= _PLANS else []
        return [*searches, *plans, *self.reads, *self.kept]

    def _forget(self, numbers: Iterable[int]) -> None:
        gone = set(numbers)
        for pile in (self.searches, self.plans, self.reads, self.kept):
            pile[:] = [number for number in pile if number not in gone]
        if not self.reads:
            self._round.clear()
