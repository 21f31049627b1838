"""Taking turns back, and doing them again.

History, current states ──plan──▶ what to put back, what to leave ──▶ files put back ──▶ `undo` entry, leaf moved
"""

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.coding.checkpoints.history import (
    REDO,
    UNDO,
    Change,
    History,
    Turn,
    Undone,
    history_of,
    undo_data,
    words_of,
)
from trimtab.coding.checkpoints.states import State, put_back, state_of
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.tools.diffs import unified
from trimtab.context.stores.log import SessionLog
from trimtab.types.entries import CustomEntry
from trimtab.types.errors import StoreError, UsageError

What: TypeAlias = Literal["both", "files", "talk"]
_DIFF_CHARS = 200_000


@dataclass(frozen=True, slots=True)
class Left:
    """A file that was left as it is, and why."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `turns` oldest first; `put_back` from which state into which; `talk`: whether the conversation went back (or forward) too."""

    turns: tuple[str, ...]
    put_back: tuple[Change, ...]
    left: tuple[Left, ...]
    talk: bool


@dataclass(frozen=True, slots=True)
class Rewinder:
    """Undoes and redoes for one session. Touches the disk: use it in a thread, while no turn runs."""

    log: SessionLog
    store: ContentStore

    def undo(self, number: int = 1, *, what: What = "both") -> Outcome:
        """Take the last `number` turns back. Raises `UsageError` when there are not so many, `StoreError` when the log can't be written."""
        history = history_of(self.log.archive)
        turns = _last(history, number, what)
        ids = tuple(turn.entry_id for turn in turns)
        back = [_backwards(change) for change in combined(turns, history)] if what != "talk" else []
        done, left = self._put(back)
        if what != "talk":
            names = dict.fromkeys(name for turn in turns for name in turn.unkept)
            left = (*left, *(Left(name, "its name is no text, so it wasn't kept") for name in names))
        leaf, talk = self.log.archive.leaf, what != "files"
        if talk:
            self.log.move_leaf(turns[0].parent)
        self._note(UNDO, undo_data(ids, leaf, done, talk=talk, files=what != "talk"))
        return Outcome(tuple(turn.text for turn in turns), done, left, talk)

    def redo(self) -> Outcome:
        """Do again what was undone last. Raises `UsageError` when nothing was, or something was said since."""
        history = history_of(self.log.archive)
        if not history.redoable:
            raise UsageError(
                "nothing to redo", hint="/undo takes a turn back; once you go on from there, the other way is in /tree."
            )
        undone = history.redoable[-1]
        done, left = self._put([_backwards(change) for change in undone.put_back])
        texts = self._texts(undone)
        if undone.talk:
            self.log.move_leaf(undone.leaf)
        self._note(REDO, {"undo": undone.entry_id})
        return Outcome(texts, done, left, undone.talk)

    def diff(self, number: int | None = 1) -> tuple[str, ...]:
        """What the last `number` turns (None: all of the branch) changed, a unified diff a file, against how the files are now. Raises `UsageError` as `undo`."""
        history = history_of(self.log.archive)
        turns = history.turns if number is None else history.turns[-number:]
        texts = (self._diff(change) for change in combined(turns, history))
        return tuple(text for text in texts if text)

    def _put(self, changes: Iterable[Change]) -> tuple[tuple[Change, ...], tuple[Left, ...]]:
        """Put each file from `before` into `after`, unless somebody else changed it since."""
        done: list[Change] = []
        left: list[Left] = []
        for change in changes:
            now = state_of(change.path, self.store)
            if _same(now, change.after) and not _only_mode(now, change):
                continue
            if any(state is not None and state.special for state in (now, change.before, change.after)):
                left.append(Left(change.path, "it is, or was, a pipe, socket or device"))
                continue
            if not _same(now, change.before):
                left.append(Left(change.path, "it was changed since by somebody else"))
                continue
            try:
                put_back(change.path, change.after, self.store)
            except (OSError, StoreError) as problem:
                left.append(Left(change.path, getattr(problem, "strerror", None) or str(problem)))
                continue
            done.append(change)
            if change.after is None and change.made:
                _remove_empty(change.path, change.made)
        return tuple(done), tuple(left)

    def _diff(self, change: Change) -> str:
        now = state_of(change.path, self.store)
        if _same(now, change.before):
            return ""
        before, after = self._text(change.before), self._text(now)
        head = f"--- {change.path if change.before else '/dev/null'}\n+++ {change.path if now else '/dev/null'}\n"
        if before is None or after is None:
            return f"{head}(no text, or too large to be kept)\n"
        body = unified(before, after, size=_DIFF_CHARS)
        return head + (body if body is not None else "(too large to be shown)\n")

    def _text(self, state: State) -> str | None:
        if state is None:
            return ""
        if not state.kept or state.link:
            return None
        data = self.store.get(state.content)
        return None if b"\0" in data else data.decode("utf-8", "replace")

    def _texts(self, undone: Undone) -> tuple[str, ...]:
        entries = (self.log.archive.get(one) for one in undone.turns)
        return tuple((words_of(entry.value) if entry is not None else None) or "" for entry in entries)

    def _note(self, kind: str, data: dict[str, object]) -> None:
        self.log.append([CustomEntry(id="", parent=None, time="", kind=kind, data=data)])


def combined(turns: Sequence[Turn], history: History) -> tuple[Change, ...]:
    """What several turns changed together, without those whose files are undone already."""
    found: dict[str, Change] = {}
    for turn in turns:
        if turn.entry_id in history.files_undone:
            continue
        for path, change in turn.changes.items():
            found[path] = found[path].then(change) if path in found else change
    return tuple(found.values())


def _last(history: History, number: int, what: What) -> Sequence[Turn]:
    if what == "files":
        with_files = [t for t in history.turns if t.changes and t.entry_id not in history.files_undone]
        if not with_files:
            raise UsageError("no turn's changes of files are left to take back", hint="/diff shows what there is.")
        first = history.turns.index(with_files[-number] if number <= len(with_files) else with_files[0])
        return history.turns[first:]
    if not history.turns:
        raise UsageError("nothing to undo", hint="Nothing was said yet on this branch; /tree shows the others.")
    if number > len(history.turns):
        there = len(history.turns)
        what_is = "is only 1 turn" if there == 1 else f"are only {there} turns"
        raise UsageError(f"there {what_is} to undo", hint=f"/undo {there} takes all back.")
    return history.turns[-number:]


def _backwards(change: Change) -> Change:
    return Change(change.path, change.after, change.before, change.made)


def _same(one: State, other: State) -> bool:
    return one is None and other is None if one is None else one.same_content(other)


def _only_mode(now: State, change: Change) -> bool:
    """Whether the change was one of permissions alone, and these are still as it left them."""
    if now is None or now.link or change.before is None or change.after is None:
        return False
    return now.mode == change.before.mode != change.after.mode


def _remove_empty(path: str, made: str) -> None:
    """Remove the folders that were made for a file, as far as they are empty."""
    folder = os.path.dirname(path)
    with suppress(OSError):
        while folder == made or folder.startswith(made.rstrip("/") + "/"):
            os.rmdir(folder)
            folder = os.path.dirname(folder)
