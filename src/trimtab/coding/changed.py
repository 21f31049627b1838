"""Which files a run changed, by all who know: the checkpoints, which look at the project, and what calls say of themselves.

    Checkpointer.made ── before, after by file ──┐
                                                 ├──▶ the files that are different now, in the order of their first change
    ChangeRecorder ── what tools said ───────────┘      (only of those that no checkpoint knows)

The one rule: a file that a run left as it found it wasn't changed.
"""

from collections.abc import Collection
from dataclasses import dataclass

from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.checkpoints.history import Change
from trimtab.coding.checkpoints.recorder import Checkpointer
from trimtab.coding.checkpoints.states import State


@dataclass(frozen=True, slots=True)
class Since:
    """A moment: how much both knew then, and which files commands that were cut off had changed."""

    written: int = 0
    made: int = 0
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Changed:
    """Knows what one session changed. `checkpoints` are None where none are kept; `child`: how the keys of its calls begin there, where it works for another session."""

    recorder: ChangeRecorder
    checkpoints: Checkpointer | None = None
    child: str = ""

    def now(self) -> Since:
        """This moment."""
        made = len(self.checkpoints.made) if self.checkpoints is not None else 0
        return Since(len(self.recorder.written), made, frozenset(self.recorder.files))

    def files(self, since: Since, *, undone: Collection[str] = ()) -> tuple[str, ...]:
        """Real absolute paths of what was changed since; the turns in `undone` count as never made."""
        known: dict[str, Change] = {}
        every: set[str] = set()
        for made in self.checkpoints.made[since.made :] if self.checkpoints is not None else ():
            if not made.key.startswith(self.child):
                continue
            every.add(made.change.path)
            if made.turn not in undone:
                path = made.change.path
                known[path] = known[path].then(made.change) if path in known else made.change
        found = [path for path, change in known.items() if is_changed(change)]
        told = dict.fromkeys(
            (
                *(path for path, _ in self.recorder.written[since.written :]),
                *(path for path in self.recorder.files if path not in since.files),
            )
        )
        return (*found, *(path for path in told if path not in every))


def is_changed(change: Change) -> bool:
    """Whether a file is another one now, or there where none was, or gone. Folders, pipes and sockets are none."""
    return _file(change.before) != _file(change.after)


def _file(state: State) -> State:
    return None if state is None or state.folder or state.special else state
