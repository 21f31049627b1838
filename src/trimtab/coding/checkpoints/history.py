"""What each turn changed, read from the log: pure, and the same after every opening.

files {turn, changes}  ─┐
undo {turns, …}         ├─ in the order of the file ──▶ History: turns with their changes, what is undone, what could be done again
redo {undo}            ─┘
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trimtab.coding.checkpoints.states import FileState, State, from_data, to_data
from trimtab.context.archive import Archive
from trimtab.types.entries import CustomEntry, MessageEntry
from trimtab.types.messages import User

FILES, UNDO, REDO = "files", "undo", "redo"
_BEGINS_A_TURN = frozenset({"prompt", "follow_up"})


@dataclass(frozen=True, slots=True)
class Change:
    """A file (its real path) before and after. `made` is the outermost folder that was made for it."""

    path: str
    before: State
    after: State
    made: str | None = None

    def then(self, later: "Change") -> "Change":
        """This change and a later one of the same file as one."""
        return Change(self.path, self.before, later.after, self.made or later.made)


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the branch: the entry of its prompt, the prompt's words, and what it changed, by path."""

    entry_id: str
    parent: str | None
    text: str
    changes: Mapping[str, Change]
    unkept: tuple[str, ...] = ()
    """Files that it changed and that nobody can take back, since a log can't hold their names."""


@dataclass(frozen=True, slots=True)
class Undone:
    """One undo. `leaf` is where the talk was before, None when it wasn't moved; `put_back`: from which state each file was put into which."""

    entry_id: str
    turns: tuple[str, ...]
    leaf: str | None
    talk: bool
    files: bool
    put_back: tuple[Change, ...]
    left: bool = False
    """Whether files stayed as they were only because they had been changed since."""


@dataclass(slots=True)
class History:
    """All turns of the branch, oldest first; which turns have their files undone; undos that can be done again, the last one last."""

    turns: list[Turn] = field(default_factory=list)
    files_undone: set[str] = field(default_factory=set)
    redoable: list[Undone] = field(default_factory=list)
    changes: dict[str, dict[str, Change]] = field(default_factory=dict)
    """What each turn changed, those of other branches too."""


def history_of(archive: Archive) -> History:
    """Read the history of a session's branch."""
    unkept: dict[str, dict[str, None]] = {}
    history = History()
    changes = history.changes
    for entry in archive:
        if entry.type == "custom" and isinstance(value := entry.value, CustomEntry):
            match value.kind:
                case "files":
                    turn = str(value.data.get("turn"))
                    _take_changes(changes.setdefault(turn, {}), value.data)
                    unkept.setdefault(turn, {}).update(dict.fromkeys(_names(value.data, "unkept")))
                case "undo":
                    undone = _undone(entry.id, value.data)
                    history.redoable.append(undone)
                    history.files_undone |= set(undone.turns) if undone.files else set()
                case "redo":
                    _redo(history, str(value.data.get("undo")))
                case _:
                    pass
        elif entry.type == "message" and history.redoable and words_of(entry.value) is not None:
            history.redoable.clear()  # who goes on from here has left the other way
    for entry in archive.path():
        if entry.type == "message" and (text := words_of(entry.value)) is not None:
            history.turns.append(
                Turn(entry.id, entry.parent, text, changes.get(entry.id, {}), tuple(unkept.get(entry.id, ())))
            )
    return history


@dataclass(slots=True)
class TurnNow:
    """Knows the prompt that the branch of `archive` works on. Of a branch that grew, only what is new is looked at, so asking costs the same in long turns."""

    archive: Archive
    _length: int = 0
    _last: str = ""
    _turn: str | None = None

    def entry_id(self) -> str | None:
        """The entry of the prompt; None before the first."""
        path = self.archive.path()
        grew = 0 < self._length <= len(path) and path[self._length - 1].id == self._last
        known, start = (self._turn, self._length) if grew else (None, 0)
        for place in range(len(path) - 1, start - 1, -1):
            entry = path[place]
            if entry.type == "message" and words_of(entry.value) is not None:
                known = entry.id
                break
        self._length, self._last, self._turn = len(path), path[-1].id if path else "", known
        return known


def changes_data(turn: str, changes: Mapping[str, Change], unkept: Sequence[str] = ()) -> dict[str, Any]:
    """What a `files` entry holds. `unkept` are names, as they are shown, of files that changed and can't be named."""
    named = [_change_data(change) for change in changes.values()]
    return {"turn": turn, "changes": named, **({"unkept": list(unkept)} if unkept else {})}


def undo_data(
    turns: tuple[str, ...],
    leaf: str | None,
    put_back: tuple[Change, ...],
    *,
    talk: bool,
    files: bool,
    left: bool = False,
) -> dict[str, Any]:
    """What an `undo` entry holds."""
    moved = [_change_data(change) for change in put_back]
    rest = {"left": True} if left else {}
    return {"turns": list(turns), "leaf": leaf, "talk": talk, "files": files, "put_back": moved, **rest}


def words_of(value: Any) -> str | None:
    """The words of a message that begins a turn; None for anything else."""
    if not isinstance(value, MessageEntry) or not isinstance(message := value.message, User):
        return None
    if message.origin not in _BEGINS_A_TURN:
        return None
    return " ".join(message.said)


def _change_data(change: Change) -> dict[str, Any]:
    made = {"made": change.made} if change.made else {}
    return {"path": change.path, "before": to_data(change.before), "after": to_data(change.after), **made}


def _read_change(data: Any) -> Change | None:
    if not isinstance(data, dict) or not isinstance(path := data.get("path"), str):
        return None
    made = data.get("made")
    return Change(
        path, from_data(data.get("before")), from_data(data.get("after")), made if isinstance(made, str) else None
    )


def _listed(data: Mapping[str, Any], key: str) -> tuple[Change, ...]:
    rows = data.get(key)
    found = (_read_change(row) for row in rows) if isinstance(rows, list) else ()
    return tuple(change for change in found if change is not None)


def _names(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    rows = data.get(key)
    return tuple(map(str, rows)) if isinstance(rows, list) else ()


def _take_changes(into: dict[str, Change], data: Mapping[str, Any]) -> None:
    for change in _listed(data, "changes"):
        known = into.get(change.path)
        into[change.path] = change if known is None else known.then(change)


def _undone(entry_id: str, data: Mapping[str, Any]) -> Undone:
    leaf, turns = data.get("leaf"), data.get("turns")
    return Undone(
        entry_id,
        tuple(map(str, turns)) if isinstance(turns, list) else (),
        leaf if isinstance(leaf, str) else None,
        talk=bool(data.get("talk")),
        files=bool(data.get("files")),
        put_back=_listed(data, "put_back"),
        left=bool(data.get("left")),
    )


def _redo(history: History, undo: str) -> None:
    for undone in [one for one in history.redoable if one.entry_id == undo]:
        history.redoable.remove(undone)
        history.files_undone -= set(undone.turns)


__all__ = [
    "FILES",
    "REDO",
    "UNDO",
    "Change",
    "FileState",
    "History",
    "Turn",
    "TurnNow",
    "Undone",
    "changes_data",
    "history_of",
    "undo_data",
    "words_of",
]
