"""What would become of a file that is to be put back, without touching it.

state now, state to be ──▶ its folder, what stands in the way, whether a copy is kept ──▶ the change, why it would be left, or None for a folder that stays

What only the doing shows (a full disk, a change at that very moment) isn't foreseen.
"""

import errno
import os

from trimtab.coding.checkpoints.aside import Aside, no_copy
from trimtab.coding.checkpoints.history import Change
from trimtab.coding.checkpoints.left import Left
from trimtab.coding.checkpoints.putting import aside_of
from trimtab.coding.checkpoints.states import State
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.types.errors import StoreError


def foreseen(now: State, change: Change, store: ContentStore, going: set[str]) -> Change | Left | None:
    """What would become of it. `going` are the paths that go before, to which one that goes is added."""
    path, after = change.path, change.after
    if hindrance := _of_its_folder(path, going):
        return Left(path, hindrance, "again")
    if now is not None and now.folder and (after is None or not after.folder) and not _emptied(path, going):
        return None if after is None else Left(path, "it is a folder that holds other files", "yourself")
    if after is None:
        going.add(path)
    elif after.loose:
        if not Aside(aside_of(store)).holds(after):
            return Left(path, no_copy(after), "yourself")
    elif after.kept and not after.link and not (now is not None and now.same_content(after)):
        try:
            store.get(after.content)
        except StoreError as problem:
            return Left(path, problem.message, "again")
    return Change(path, now, after, change.made)


def _of_its_folder(path: str, going: set[str]) -> str:
    """What is wrong with the folder around it, or with the nearest one that is there."""
    folder = os.path.dirname(path)
    if os.path.realpath(folder) != folder:
        return "its folder is now a link to somewhere else"
    while not os.path.lexists(folder) or folder in going:
        folder = os.path.dirname(folder)
    if not os.path.isdir(folder):
        return "a file stands where its folder was"
    return "" if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)


def _emptied(folder: str, going: set[str]) -> bool:
    try:
        return all(os.path.join(folder, name) in going for name in os.listdir(folder))
    except OSError:
        return False
