"""The host of the context tools: an engine, its view and its stores, as the tools see them.

    tool ──▶ EngineHost ──resolve, text_of──▶ the view: recorded texts, whatever the window shows
                        ├─search────────────▶ an index over the path, grown when somebody searches
                        └─act, status──────▶ a plan of the engine, run by whoever drives it

Reading goes past the edits on purpose: what a stub hides is what `recall` is for. Tools run side by side in threads. So whatever asks the engine is a plan,
which takes the view when its turn has come, and what the host keeps for itself has a lock.
"""

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from trimtab.context.actions import Action
from trimtab.context.editing.housekeeping import said_in
from trimtab.context.engine import Engine
from trimtab.context.markers import KEPT_OUTSIDE, RECALL, known_markers, refuse_markers
from trimtab.context.naming import body_of, name_of, text_of
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoStore
from trimtab.context.tools.host import Outcome
from trimtab.context.tools.indexes import MEMORIES, memory_index
from trimtab.context.window.overlays import Address
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Offload, Restate, edit_kind
from trimtab.types.errors import StoreError
from trimtab.types.messages import ToolResult
from trimtab.types.models import ModelRequest

if TYPE_CHECKING:
    from trimtab.context.asks import Answer, Ask
    from trimtab.context.editing.applying import Outcome as Applied
    from trimtab.context.recall.index import Hit, Index
    from trimtab.context.seeing.observation import Observation

T = TypeVar("T")


class Drive(Protocol):
    """Runs a plan of the engine, one plan at a time."""

    def __call__(self, plan: "Generator[Ask, Answer, T]", /) -> T:
        """Run it to its end and return what it gave."""
        ...


@dataclass(slots=True)
class EngineHost:
    """Serves the tools of one session. `view` and `request` give them as they stand; `drive` runs a plan of the engine to its end. Safe for threads.

    `labels` are names that a person gave to entries.
    """

    engine: Engine
    view: Callable[[], View]
    request: Callable[[], ModelRequest]
    drive: Drive
    memos: MemoStore
    memories: Memories
    labels: Callable[[], Mapping[str, str]] = field(default=dict)
    page_tokens: int = 4_000
    _index: "Index | None" = None
    _indexed: int = 0
    _passed: list[int] = field(default_factory=list)
    """Slots that had no answer when what stands behind them was taken in."""
    _lineage: object = None
    _known: dict[str, str] = field(default_factory=dict)
    _edits: int = 0
    _edited: object = None
    """The lineage whose edits were counted."""
    _guard: Lock = field(default_factory=Lock)

    def resolve(self, name: str) -> str | None:
        """The id of the item that `name` means, or None."""
        view = self.view()
        address = view.find(self._unlabelled(name, view))
        if address is None:
            return None
        slot = view.slots[address.index]
        return address.edit or (slot.id if address.part is None else f"{slot.id}#{address.part}")

    def text_of(self, name: str) -> str | None:
        """The recorded text of an item, whole; of a summary, the texts that it stands for."""
        view = self.view()
        address = view.find(self._unlabelled(name, view))
        if address is None:
            return None
        if address.edit is not None:
            return _behind_summary(view, address)
        slot = view.slots[address.index]
        if address.part is not None:
            return body_of(slot.base, address.part) if address.part < len(slot.base.parts) else None
        return text_of(slot)

    def near(self, name: str) -> Sequence[str]:
        """Names of items of the path that may have been meant, the nearest first."""
        from trimtab.context.recall.near import near_names  # noqa: PLC0415 - for the rare name that there isn't

        slots = self.view().slots
        return near_names(name, [name_of(slot) for slot in slots if slot.answered and not slot.note])

    def search(self, query: str, limit: int) -> "Sequence[Hit]":
        """Items of the path that hold `query`, the best first."""
        with self._guard:
            index = self._grown()
        return index.search(query, limit)

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        return self.engine.tally.text(text)

    def act(self, actions: Sequence[Action]) -> Sequence[Outcome]:
        """Do what the model wants; an outcome for each action. Never raises for an action."""
        return [_told(self.drive(self._acted(action))) for action in actions]

    def status(self) -> "Observation":
        """The context as it stands."""
        return self.drive(self._observed())

    def recollection(self) -> Action | None:
        """The wish to say what the long-term memory holds, by key and summary; None when there is nothing, or when that was said last, whoever took it back."""
        from trimtab.context.cycle.tail import most_of, stated  # noqa: PLC0415 - not before there are memories

        try:
            kept = self.memories.all()
        except StoreError:
            return None
        text = memory_index(kept, count=self.count, most=most_of(self.engine.budget.room))
        last = stated(self.view(), MEMORIES)
        if not text or (last is not None and isinstance(last.edit, Restate) and last.edit.text == text):
            return None
        return Action("restate", params={"text": text, "label": MEMORIES}, reason="what earlier sessions kept")

    def refuse(self, arguments: object, *, searched: Collection[str] = ()) -> str | None:
        """Why a tool must not write these arguments: they hold a stub or pointer of this session, or are nothing but the form of one. None: it may.

        `searched` are names of arguments that are only looked for.
        """
        with self._guard:
            known = self._markers()
        return refuse_markers(arguments, known, searched=searched, way_to=self._way_to)

    def _way_to(self, name: str) -> str | None:
        """How the item of that name is read; None when there is none, or no way to it."""
        view = self.view()
        address = view.find(name)
        if address is None or view.slots[address.index].note:
            return None
        way = self.engine.way_of(view.slots[address.index])
        return f"recall id={name}" if way == RECALL else f"read path={way}" if way and way != KEPT_OUTSIDE else None

    def _acted(self, action: Action) -> "Generator[Ask, Answer, Applied]":
        view = self.view()
        named = tuple(self._unlabelled(target, view) for target in action.targets)
        wanted = Action(action.action, named, self._said_once(action, view), action.reason)
        return (yield from self.engine.act(view, self.request(), [wanted], author="model"))

    def _said_once(self, action: Action, view: View) -> dict[str, Any]:
        """What an archive is to do; a summary that has to stay in the arguments of its call is only pointed to."""
        summary = action.params.get("summary")
        if action.action != "elide" or not isinstance(summary, str):
            return action.params
        call = said_in(view, summary.strip(), frozen=self.engine.faults.frozen)
        return {"said_in": call} if call else action.params

    def _observed(self) -> "Generator[Ask, Answer, Observation]":
        yield from ()  # it asks for nothing, but it has its turn like any other plan
        return self.engine.observe(self.engine.look(self.view(), self.request()))

    def _unlabelled(self, name: str, view: View) -> str:
        """The name that the view knows: a label's target, or what is left without what a model may copy along: brackets, the key of a marker."""
        labels = {label: target for target, label in self.labels().items()}
        name = name.strip().strip("[]")
        # A name may hold a `~` of its own (the second entry of an id has one), so the whole comes first.
        for known in (name, name.rpartition("~")[0], name.partition("~")[0]):
            if known in labels or (known and view.find(known) is not None):
                return labels.get(known, known)
        return name

    def _grown(self) -> "Index":
        """The index, with what came since the last search."""
        from trimtab.context.recall.index import Document, Index  # noqa: PLC0415 - a session that never recalls pays nothing

        view = self.view()
        if self._index is None or view.lineage is not self._lineage:
            self._index, self._indexed, self._passed, self._lineage = Index(), 0, [], view.lineage
        places = [index for index in self._passed if view.slots[index].answered]
        self._passed = [index for index in self._passed if index not in places]
        while self._indexed < len(view.slots):
            if view.slots[self._indexed].answered:
                places.append(self._indexed)
            elif view.is_passed(self._indexed):
                self._passed.append(
                    self._indexed
                )  # an interrupted call: whatever comes behind it is found all the same
            else:
                break
            self._indexed += 1
        for slot in (view.slots[index] for index in places):
            tool = slot.base.tool_name if isinstance(slot.base, ToolResult) else ""
            kind = {"ToolResult": "result", "Assistant": "assistant"}.get(type(slot.base).__name__, "user")
            # What was searched for before would be found first by every search for the same.
            if tool != RECALL and (text := text_of(slot, without=(RECALL,))):
                self._index.add(Document(name_of(slot), kind, tool, text))
        return self._index

    def _markers(self) -> dict[str, str]:
        """Key to way back of whatever edits have rendered; reverted ones too, for a copy may have survived."""
        view = self.view()
        if (self._edited, self._edits) == (view.lineage, len(view.applied)):
            return self._known
        from trimtab.context.shorten.arguments import pointers_in  # noqa: PLC0415 - not before there are edits

        if self._edited is not view.lineage or self._edits > len(view.applied):
            self._edited, self._edits = (
                view.lineage,
                0,
            )  # another branch has other edits; what was known may still stand somewhere
        for applied in view.applied.range(self._edits, len(view.applied)):
            texts: list[str] = list(getattr(applied.edit, "texts", {}).values())
            if isinstance(applied.edit, Offload):
                for target, shown in applied.edit.arguments.items():
                    texts += pointers_in(shown, _raw(view, target))
            self._known.update(known_markers(texts))
        self._edits = len(view.applied)
        return self._known


def _raw(view: View, target: str) -> str:
    address = view.find(target)
    return "" if address is None else body_of(view.slots[address.index].base, address.part)


def _behind_summary(view: View, address: Address) -> str | None:
    applied = view.edit(address.edit or "")
    if applied is None or not isinstance(applied.edit, Compact):
        return None
    pieces = [f"[{name_of(view.slots[index])}]\n{text_of(view.slots[index])}" for index in sorted(applied.slots)]
    return "\n\n".join(pieces)


def _told(applied: "Applied") -> Outcome:
    """One line of what came of an action."""
    said = [
        f"{edit_kind(d.entry.edit)} {', '.join(d.entry.edit.targets[:5])}: {d.entry.before_tokens:,} -> {d.entry.after_tokens:,} tokens"
        for d in applied.done
    ]
    said += applied.problems
    return Outcome("; ".join(said) or "nothing was done", done=bool(applied.done))
