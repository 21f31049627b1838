"""The archive: every entry of a session as one tree in memory.

    lines of the file ──decode_line──▶ Entry ──Archive.add──▶ tree, leaf, labels, damage
                                                    │
                                          path(): root … leaf ──▶ the fold that makes the view

Pure: no file, no clock. Entries arrive in file order, one at a time, and a parent must have arrived before its child; so cycles can't
exist, and a parent that is missing, later or the entry itself is damage of one kind. Adding costs the same at ten entries and at fifty
thousand: the path of the leaf is kept and extended, and only a move to another branch walks it again.

The one rule: damage is data. `add` never raises for what a file may hold.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from trimtab.types.codec import Entry
from trimtab.types.entries import (
    TIP_TYPES,
    CustomEntry,
    KnownEntry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    RepairEntry,
    SessionInfoEntry,
    ThinkingChangeEntry,
)
from trimtab.types.messages import Assistant, Message, ToolResult

T = TypeVar("T", ModelChangeEntry, ThinkingChangeEntry)
_STEERING = frozenset({"leaf", "label", "session_info", "repair"})
_CALL = b'"tool_call"'
"""Stands in every line that holds a call, and spares decoding most others."""


@dataclass(frozen=True, slots=True)
class Damage:
    """Something that a file should not hold. `line` counts from 1; 0 is no line of its own."""

    kind: str
    line: int
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Parked:
    """A call that waits for a person: who asks, and what."""

    call_id: str
    question: str
    entry_id: str


@dataclass(slots=True)
class Archive:
    """The tree of one session. Entries are never changed or removed."""

    leaf: str | None = None
    title: str | None = None
    cwd: str | None = None
    policy: str | None = None
    window: int | None = None
    max_output: int | None = None
    archived: bool = False
    """Whether the session was put away, and nothing was said in it since."""
    labels: dict[str, str] = field(default_factory=dict)
    damage: list[Damage] = field(default_factory=list)
    repaired: set[tuple[str, int]] = field(default_factory=set)
    """Damage, as (kind, line), that a `repair` entry already speaks of."""
    _entries: dict[str, Entry] = field(default_factory=dict)
    _children: dict[str | None, list[str]] | None = None
    _path: list[Entry] = field(default_factory=list)
    _path_leaf: str | None = None
    _looked: dict[str, tuple[int, KnownEntry | None]] = field(default_factory=dict)
    """By type: how much of the path in use was searched for the newest entry of it, and what was found."""

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._entries

    def get(self, entry_id: str) -> Entry | None:
        """The entry of that exact id."""
        return self._entries.get(entry_id)

    def add(self, entry: Entry, *, line: int = 0) -> Entry | None:
        """Take in the next entry of the log; return it as the tree holds it, or None for an exact copy of an earlier one.

        An entry without an id is named after its line, a second one of an id gets the line appended, and one whose parent
        hasn't been seen hangs on the leaf. Such names depend on nothing but the file, so each opening gives the same ones.
        """
        known = self._entries.get(entry.id)
        if known is not None or not entry.id:
            if known is not None and known.raw == entry.raw:
                return None
            self._name(entry, line)
        if entry.parent is not None:
            above = self._entries.get(entry.parent)
            if above is None:
                self.damage.append(Damage("bad_parent", line, f"{entry.id}: no earlier entry {entry.parent!r}"))
            entry.parent = self.leaf if above is None else above.id  # the same string object: ids are kept once
        parent = entry.parent
        self._entries[entry.id] = entry
        if self._children is not None:
            self._children.setdefault(parent, []).append(entry.id)
        if entry.type in TIP_TYPES:
            if parent == self.leaf == self._path_leaf:
                self._path.append(entry)
                self._path_leaf = entry.id
            self.leaf = entry.id
            if self.archived and entry.type == "message":
                self.archived = False
        if entry.type in _STEERING:
            self._steer(entry, line)
        return entry

    def path(self, leaf: str | None = None) -> Sequence[Entry]:
        """Entries from the root to `leaf` (default: the leaf in use). For the leaf in use it is the live list: read only."""
        if leaf is not None and leaf != self.leaf:
            return self._walk(leaf)
        if self._path_leaf != self.leaf:
            self._path = self._walk(self.leaf)
            self._path_leaf = self.leaf
            self._looked = {}
        return self._path

    def children(self, entry_id: str | None) -> tuple[str, ...]:
        """Ids of the entries that hang on this one (None: the roots), in order of arrival."""
        if self._children is None:
            self._children = {}
            for entry in self:
                self._children.setdefault(entry.parent, []).append(entry.id)
        return tuple(self._children.get(entry_id, ()))

    def matches(self, ref: str) -> tuple[str, ...]:
        """Ids that `ref` can mean: an exact id, else a label, else the start of an id."""
        if ref in self._entries:
            return (ref,)
        labelled = tuple(target for target, label in self.labels.items() if label == ref)
        return labelled or tuple(entry_id for entry_id in self._entries if ref and entry_id.startswith(ref))

    @property
    def model(self) -> tuple[str, str] | None:
        """Provider and model that the path chose last."""
        value = self._newest("model_change", ModelChangeEntry)
        return None if value is None else (value.provider, value.model)

    @property
    def own_model(self) -> str | None:
        """The model that the path chose last, as `PROVIDER/ID`: not one that stood in for it."""
        value = self._newest("model_change", ModelChangeEntry)
        return None if value is None else value.instead_of or f"{value.provider}/{value.model}"

    @property
    def thinking(self) -> str | None:
        """Thinking level that the path chose last."""
        value = self._newest("thinking_change", ThinkingChangeEntry)
        return None if value is None else value.level

    @property
    def parked(self) -> tuple[Parked, ...]:
        """Calls on the path that wait for a person and have no result yet, oldest first."""
        path = self.path()
        waiting: dict[str, Parked] = {}
        for entry in path:
            if (call_id := parked_call(entry)) and isinstance(value := entry.value, CustomEntry):
                waiting[call_id] = Parked(call_id, str(value.data.get("question", "")), entry.id)
            elif waiting and isinstance(result := _message(entry), ToolResult):
                waiting.pop(result.call_id, None)
        return tuple(waiting.values())

    def call_ids(self) -> set[str]:
        """Ids of all calls that were ever recorded, on whatever branch."""
        answers = (m for e in self if _CALL in e.raw and isinstance(m := _message(e), Assistant))
        return {call.id for answer in answers for call in answer.tool_calls}

    def _newest(self, kind: str, of: type[T]) -> T | None:
        """The newest entry of a type on the path in use. Each turn asks, so only what is new since then is looked at."""
        path = self.path()
        upto, found = self._looked.get(kind, (0, None))
        for place in range(len(path) - 1, upto - 1, -1):
            if path[place].type == kind and isinstance(value := path[place].value, of):
                found = value
                break
        self._looked[kind] = len(path), found
        return found if isinstance(found, of) else None

    def _name(self, entry: Entry, line: int) -> None:
        if entry.id:
            self.damage.append(Damage("duplicate_id", line, entry.id))
            entry.id = f"{entry.id}~{line}"
        else:
            self.damage.append(Damage("missing_id", line, entry.type))
            entry.id = f"line-{line}"
        while entry.id in self._entries:
            entry.id += "~"

    def _steer(self, entry: Entry, line: int) -> None:
        """Let an entry act that isn't content but says how to read the rest."""
        match entry.value:
            case LeafEntry(target=target):
                if target is None or target in self._entries:
                    self.leaf = target
                else:
                    self.damage.append(Damage("bad_leaf", line, f"no earlier entry {target!r}"))
            case LabelEntry(target=target, label=label):
                self.labels.pop(target, None)
                if label:
                    self.labels[target] = label
            case SessionInfoEntry(title=title, cwd=cwd, policy=policy, window=window, max_output=output) as info:
                self.archived = self.archived if info.archived is None else info.archived
                self.title = self.title if title is None else title
                self.cwd = self.cwd if cwd is None else cwd
                self.policy = self.policy if policy is None else policy
                if window is not None and window > 0:
                    self.window, self.max_output = window, output if output is not None and output > 0 else None
            case RepairEntry(kind=kind, detail=detail):
                lines = detail.get("lines")
                self.repaired.update(
                    (kind, n) for n in (lines if isinstance(lines, list) else ()) if isinstance(n, int)
                )
            case _:
                pass

    def _walk(self, leaf: str | None) -> list[Entry]:
        path: list[Entry] = []
        while leaf is not None:
            entry = self._entries[leaf]
            path.append(entry)
            leaf = entry.parent
        path.reverse()
        return path


def _message(entry: Entry) -> Message | None:
    return value.message if entry.type == "message" and isinstance(value := entry.value, MessageEntry) else None


def parked_call(entry: Entry) -> str | None:
    """The id of the call that `entry` marks as waiting for a person, if it does."""
    if entry.type == "custom" and isinstance(value := entry.value, CustomEntry) and value.kind == "parked":
        return value.call_id
    return None
