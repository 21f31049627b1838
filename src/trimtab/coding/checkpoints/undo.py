"""Taking turns back, and doing them again.

History, current states ──plan──▶ what to put back, what to leave ──▶ files put back ──▶ `undo` entry, leaf moved

The one rule: a file that somebody changed since is left, unless a person says `force`; then what stood there comes back with a redo. A kill at any moment
leaves states from which the same undo goes on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
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
from trimtab.coding.checkpoints.left import Left
from trimtab.coding.checkpoints.moving import Moved, move
from trimtab.coding.checkpoints.patch import patch_of
from trimtab.coding.checkpoints.putting import aside_of
from trimtab.coding.checkpoints.states import State, state_of
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.context.stores.disk import store_errors
from trimtab.context.stores.exclusive import exclusive
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.private import make_private
from trimtab.types.entries import CustomEntry
from trimtab.types.errors import UsageError

What: TypeAlias = Literal["both", "files", "talk"]
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `turns` oldest first; `put_back` from which state into which; `talk`: whether the conversation went back (or forward) too.
    `aside` is where large files lie that were moved away, if any were."""

    turns: tuple[str, ...]
    put_back: tuple[Change, ...]
    left: tuple[Left, ...]
    talk: bool
    aside: Path | None = None


@dataclass(frozen=True, slots=True)
class Rewinder:
    """Undoes and redoes for one session. Touches the disk: use it in a thread, while no turn runs."""

    log: SessionLog
    store: ContentStore
    root: Path
    """The folder of the project, from which files are named in a diff."""

    def undo(self, number: int | None = None, *, what: What = "both", force: bool = False) -> Outcome:
        """Take the last `number` turns back, one if it is left out; `force`: files too that were changed since. Without a number, right behind an undo that
        left such files, it finishes that one.

        Raises `UsageError` when there are not so many, `StoreError` when the log can't be written: files may be back by then, and the same undo goes on.
        """
        with self._alone():
            history = history_of(self.log.archive)
            if force and number is None and (undone := _unfinished(history)):
                self._redo(undone)
                history = history_of(self.log.archive)
                number, what = _again(undone, history)
            return self._undo(_last(history, number or 1, what), history, what, force=force)

    def _undo(self, turns: Sequence[Turn], history: History, what: What, *, force: bool) -> Outcome:
        ids = tuple(turn.entry_id for turn in turns)
        moved = move(_back(turns, history, what), self.store, force=force)
        left = (*moved.left, *_unkept(turns, what))
        leaf, talk = self.log.archive.leaf, what != "files"
        since = any(file.remedy == "force" for file in left)
        data = undo_data(ids, leaf, moved.recorded, talk=talk, files=what != "talk", left=since)
        self._note(UNDO, data)  # before the talk goes back: cut off between the two, a redo knows what to do
        if talk:
            self.log.move_leaf(turns[0].parent)
        return self._outcome(tuple(turn.text for turn in turns), moved.done, left, talk=talk)

    def redo(self) -> Outcome:
        """Do again what was undone last. Raises `UsageError` when nothing was, or something was said since."""
        with self._alone():
            history = history_of(self.log.archive)
            if not history.redoable:
                raise UsageError(
                    "nothing to redo",
                    hint="/undo takes a turn back; once you go on from there, the other way is in /tree.",
                )
            return self._redo(history.redoable[-1])

    def _redo(self, undone: Undone) -> Outcome:
        moved: Moved = move([_backwards(change) for change in undone.put_back], self.store)
        texts = self._texts(undone)
        if undone.talk:
            self.log.move_leaf(undone.leaf)
        self._note(REDO, {"undo": undone.entry_id})
        return self._outcome(texts, moved.done, moved.left, talk=undone.talk)

    def diff(self, number: int | None = 1) -> tuple[str, ...]:
        """What the last `number` turns (None: all of the branch) changed, a diff of git's a file, against how the files are now. Raises `UsageError` as `undo`.

        Together they are a patch of the folder `root`: `git apply -R` there takes it back, as far as it is text.
        """
        history = history_of(self.log.archive)
        turns = history.turns if number is None else history.turns[-number:]
        changes = sorted(standing(turns, history), key=lambda change: change.path)
        texts = (self.diff_of(change) for change in changes)
        return tuple(text for text in texts if text)

    def preview(self, number: int | None = None, *, what: What = "both", force: bool = False) -> Outcome:
        """What `undo` would do, as far as it can be seen. Touches nothing. Raises `UsageError` as `undo`."""
        history = history_of(self.log.archive)
        if force and number is None and (undone := _unfinished(history)):
            changes = combined([history.changes.get(turn, {}) for turn in undone.turns])
            moved = move([_backwards(change) for change in changes], self.store, force=True, preview=True)
            return self._outcome(self._texts(undone), moved.done, moved.left, talk=undone.talk)
        turns = _last(history, number or 1, what)
        moved = move(_back(turns, history, what), self.store, force=force, preview=True)
        texts = tuple(turn.text for turn in turns)
        return self._outcome(texts, moved.done, (*moved.left, *_unkept(turns, what)), talk=what != "files")

    def _outcome(
        self, turns: tuple[str, ...], done: tuple[Change, ...], left: tuple[Left, ...], *, talk: bool
    ) -> Outcome:
        went_aside = any(change.before is not None and change.before.loose for change in done)
        return Outcome(turns, done, left, talk, aside_of(self.store) if went_aside else None)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Of all sessions of the project only this one moves files."""
        with store_errors(self.store.folder):
            make_private(self.store.folder)
        with exclusive(self.store.folder / "undo.lock", patience_s=_PATIENCE_S):
            yield

    def diff_of(self, change: Change) -> str:
        """One file against how it is now, as git would say it; empty when it is the same."""
        return patch_of(change.path, self.root, change.before, state_of(change.path, self.store), self.text_of)

    def text_of(self, state: State) -> str | None:
        """What stood there, as text (nothing: the empty one); None when it is none, or isn't kept."""
        if state is None:
            return ""
        if state.link:
            return state.content
        if not state.kept:
            return None
        data = self.store.get(state.content)
        return None if b"\0" in data else data.decode("utf-8", "replace")

    def _texts(self, undone: Undone) -> tuple[str, ...]:
        entries = (self.log.archive.get(one) for one in undone.turns)
        return tuple((words_of(entry.value) if entry is not None else None) or "" for entry in entries)

    def _note(self, kind: str, data: dict[str, object]) -> None:
        self.log.append([CustomEntry(id="", parent=None, time="", kind=kind, data=data)])


def combined(turns: Iterable[Mapping[str, Change]]) -> tuple[Change, ...]:
    """What several turns changed together."""
    found: dict[str, Change] = {}
    for changes in turns:
        for path, change in changes.items():
            found[path] = found[path].then(change) if path in found else change
    return tuple(found.values())


def standing(turns: Sequence[Turn], history: History) -> tuple[Change, ...]:
    """What turns changed together, without those whose files are undone already."""
    return combined(turn.changes for turn in turns if turn.entry_id not in history.files_undone)


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


def _unfinished(history: History) -> Undone | None:
    """The undo behind which nothing was said, if it left files that were changed since."""
    last = history.redoable[-1] if history.redoable else None
    return last if last is not None and last.left else None


def _again(undone: Undone, history: History) -> tuple[int, What]:
    """How many turns of the branch, now that it is whole again, and what of them, the undo was about."""
    at = [place for place, turn in enumerate(history.turns) if turn.entry_id in undone.turns]
    what: What = "both" if undone.talk else "files"
    if what == "files":
        with_files = [t for t in history.turns if t.changes and t.entry_id not in history.files_undone]
        return max(1, sum(turn.entry_id in undone.turns for turn in with_files)), what
    return (len(history.turns) - at[0] if at else 1), what


def _back(turns: Sequence[Turn], history: History, what: What) -> list[Change]:
    return [] if what == "talk" else [_backwards(change) for change in standing(turns, history)]


def _unkept(turns: Sequence[Turn], what: What) -> Iterator[Left]:
    names = dict.fromkeys(name for turn in turns for name in turn.unkept)
    for name in names if what != "talk" else ():
        yield Left(name, "its name is no text, so it wasn't kept", "yourself")


def _backwards(change: Change) -> Change:
    return Change(change.path, change.after, change.before, change.made)
