"""Moving files from the states they are in to those they had: which are moved, in which order, and which are left, why, and what can be done.

changes ──what goes away, the deepest first ──▶ what comes, folders first──▶ done · already there · left

The one rule: nothing that a person did since is undone, unless they say so, and nothing of which no copy is kept is removed.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from trimtab.coding.checkpoints.foreseen import foreseen
from trimtab.coding.checkpoints.history import Change
from trimtab.coding.checkpoints.left import Left
from trimtab.coding.checkpoints.putting import Mark, mark_of, put_back
from trimtab.coding.checkpoints.states import State, state_of
from trimtab.coding.checkpoints.store import ContentStore, NameOnly
from trimtab.coding.checkpoints.tree import GIT
from trimtab.types.errors import StoreError


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of changes. `recorded`: those that were done, and those that stood so already, as a move the other way needs them. `done` names no folder around others."""

    done: tuple[Change, ...]
    left: tuple[Left, ...]
    recorded: tuple[Change, ...]


def move(changes: Sequence[Change], store: ContentStore, *, force: bool = False, preview: bool = False) -> Moved:
    """Put each file from `before` into `after`; `force`: from whatever state it is in. `preview`: only say what would become of it, as far as that can be seen."""
    keeper = NameOnly() if preview else store
    going: set[str] = set()
    done: list[Change] = []
    left: list[Left] = []
    already: list[Change] = []
    for change in _ordered(changes):
        mark = mark_of(change.path)
        try:
            now = state_of(change.path, keeper)
        except StoreError as problem:  # what stands there can't be kept
            left.append(Left(change.path, problem.message, "again"))
            continue
        if _same(now, change.after) and not _only_mode(now, change):
            already += [] if _same(change.before, change.after) else [change]
            continue
        if reason := _reason(now, change, force=force):
            left.append(reason)
            continue
        outcome = foreseen(now, change, store, going) if preview else _moved(now, mark, change, store)
        if isinstance(outcome, Left):
            left.append(outcome)
        elif outcome is not None:
            done.append(outcome)
    return Moved(
        _sorted(_without_folders_around(done)),
        tuple(sorted(left, key=lambda one: one.path)),
        _sorted([*done, *already]),
    )


def _sorted(changes: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(changes, key=lambda change: change.path))


def _without_folders_around(changes: Sequence[Change]) -> list[Change]:
    around = {os.path.dirname(change.path) for change in changes}
    for folder in list(around):
        while (folder := os.path.dirname(folder)) not in around:
            around.add(folder)
    return [change for change in changes if not (change.path in around and (_is_folder(change.before, change.after)))]


def _is_folder(before: State, after: State) -> bool:
    """Whether nothing but a folder came or went."""
    return all(state is None or state.folder for state in (before, after))


def _ordered(changes: Sequence[Change]) -> Iterator[Change]:
    """What goes away first, the deepest first, so that folders are empty; then what comes, folders before what is in them."""
    by_path = _sorted(changes)
    yield from (change for change in reversed(by_path) if change.after is None)
    yield from (change for change in by_path if change.after is not None)


def _reason(now: State, change: Change, *, force: bool) -> Left | None:
    """Why the file is not to be moved; None when it is."""
    path = change.path
    states = [state for state in (now, change.before, change.after) if state is not None]
    if change.after is not None and change.after.unknown:
        return Left(path, "it was only moved here: it is older than the turn", "yourself")
    if any(state.special for state in states):
        return Left(path, "it is, or was, a pipe, socket or device", "yourself")
    if os.path.basename(path) == GIT and _is_folder(change.before, change.after):
        return Left(path, "it is, or was, a repository of git's, and those are never touched", "yourself")
    if _same(now, change.before) or (now is None and change.before is not None and change.before.folder):
        return None
    return None if force else Left(path, "it was changed since, by you or by another program", "force")


def _moved(now: State, mark: Mark, change: Change, store: ContentStore) -> Change | Left | None:
    """Put the file; what became of it, None for a folder that stays since others' files are in it. Who goes the other way later finds how it was now."""
    try:
        put_back(change.path, now, mark, change.after, store)
    except OSError as problem:
        if problem.errno in (errno.ENOTEMPTY, errno.EEXIST) and now is not None and now.folder:
            if change.after is None:
                return None
            return Left(change.path, "it is a folder that holds other files", "yourself")
        in_the_way = now is None and isinstance(problem, FileExistsError | NotADirectoryError)
        why = "a file stands where its folder was" if in_the_way else problem.strerror or str(problem)
        return Left(change.path, why, "again")
    except StoreError as problem:
        lost = change.after is not None and change.after.loose
        return Left(change.path, problem.message, "yourself" if lost else "again")
    if change.after is None and change.made:
        _remove_empty(change.path, change.made)
    emptied = now is None and change.before is not None and change.before.folder
    return Change(change.path, change.before if emptied else now, change.after, change.made)


def _same(one: State, other: State) -> bool:
    return other is None if one is None else one.same_content(other)


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
