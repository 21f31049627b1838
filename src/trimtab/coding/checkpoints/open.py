"""The checkpoints of a session: where they lie, who records them, who takes turns back."""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from trimtab.agent.ports import Hooks
from trimtab.coding.checkpoints.pending import Pending
from trimtab.coding.checkpoints.recorder import Checkpointer
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.checkpoints.tree import ProjectTree
from trimtab.coding.checkpoints.undo import Rewinder
from trimtab.coding.context.open import name_of
from trimtab.coding.guard import workspace_of
from trimtab.coding.project import Project
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import ConfigError, StoreError
from trimtab.types.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """Who records what calls change, and who takes it back."""

    recorder: Checkpointer
    rewinder: Rewinder


def checkpoint_folder(project: Project) -> Path:
    """Where the contents of a project's files are kept, for all its sessions."""
    return project.home.checkpoints / name_of(project)


def open_checkpoints(
    project: Project,
    log: SessionLog,
    inner: Hooks,
    stack: AsyncExitStack,
    *,
    may_change: Callable[[ToolCall], bool],
) -> Checkpoints | None:
    """Make them (`may_change`: whether a call of a tool that isn't ours may change files), and write down what a kill cut off; None when they are turned off. A session that is kept nowhere keeps its own for as long as it is open."""
    if not project.settings.checkpoints.enabled:
        return None
    if log.path is None:
        try:
            folder = Path(tempfile.mkdtemp(prefix="trimtab-checkpoints-"))
        except OSError as e:
            raise ConfigError(
                f"no temporary folder can be made: {e.strerror or e}",
                hint="Make room there, or name another one in the variable TMPDIR; checkpoints.enabled = false goes without.",
            ) from None
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
    else:
        folder = checkpoint_folder(project)
    store = ContentStore(folder)
    stack.callback(store.close)
    tree = ProjectTree(project.cwd, store, find_rg(project.env.get("PATH")))
    pending = Pending(folder / "pending" / log.header.id, store)
    recorder = Checkpointer(inner, workspace_of(project), log, store, tree, pending, may_change)
    try:
        recorder.catch_up()
    except StoreError as problem:
        recorder.notes.append(f"what a call changed that was cut off can't be taken back: {problem.message}")
    return Checkpoints(recorder, Rewinder(log, store, project.cwd))
