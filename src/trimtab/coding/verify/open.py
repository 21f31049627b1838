"""The verifier of a session, from its settings."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from trimtab.coding.beside import Book
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.checkpoints.open import Checkpoints, checkpoint_folder
from trimtab.coding.checkpoints.store import ContentStore
from trimtab.coding.limits import require_price
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.coding.role_models import RoleModels
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import environment_of
from trimtab.coding.trust import project_root
from trimtab.coding.verify.checks import Checks
from trimtab.coding.verify.place import Place
from trimtab.coding.verify.protected import Protected
from trimtab.coding.verify.reviewer import Reviewer
from trimtab.coding.verify.turn_changes import TurnChanges
from trimtab.coding.verify.verifier import Verifier
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, Text, User


def open_verifier(
    project: Project,
    recorder: ChangeRecorder,
    confiner: Confiner,
    outputs: PrivateFolder,
    log: SessionLog,
    book: Book,
    stack: AsyncExitStack,
    *,
    models: Callable[[str], RoleModels],
    checkpoints: Checkpoints | None = None,
) -> Verifier:
    """Make it. What a reviewing model takes goes to `book`; `models` gives those of a name, opened when they are first asked; `checkpoints` know what turns changed."""
    settings = project.settings.verify
    environment = environment_of(project)
    path = environment.get("PATH")
    shell = shutil.which("bash", path=path) or shutil.which("sh", path=path) or "/bin/sh"
    if settings.model:
        found = resolve_model(project, settings.model)  # an unknown one is said now, not after the work
        if settings.enabled:
            require_price(project.settings, found.model)
    reviewer = Reviewer(models(settings.model), book) if settings.model else None
    cwd = Path(os.path.realpath(project.cwd))
    root = project_root(cwd, home=project.env.get("HOME"))
    rewinder = checkpoints.rewinder if checkpoints is not None else None
    own = {os.path.realpath(path) for path in (log.path, project.home.data, project.home.config) if path is not None}
    return Verifier(
        settings,
        Place(root, cwd, _other_names(cwd, project.cwd, project.env.get("PWD"))),
        Checks(shell, environment, settings.timeout_s, outputs, confiner),
        TurnChanges(recorder, root, log, rewinder, own),
        Protected(cwd, settings.protect, log, rewinder.store if rewinder is not None else _store(project, log, stack)),
        lambda: _task(log),
        lambda: _said(log),
        reviewer,
        on=settings.enabled,
    )


def _other_names(cwd: Path, *names: Path | str | None) -> tuple[str, ...]:
    """By which other paths than the real one a person knows the folder: through links."""
    found = dict.fromkeys(str(name) for name in names if name and os.path.isabs(name))
    return tuple(name for name in found if name != str(cwd) and os.path.realpath(name) == str(cwd))


def _store(project: Project, log: SessionLog, stack: AsyncExitStack) -> ContentStore:
    """Where the protected files of a session lie that keeps no checkpoints; made when the first comes."""
    folder = checkpoint_folder(project)
    if log.path is None:
        folder = Path(tempfile.gettempdir()) / f"trimtab-protected-{log.header.id}"
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
    store = ContentStore(folder)
    stack.callback(store.close)
    return store


def _said(log: SessionLog) -> str:
    """What the agent said last."""
    return next((message.text for message in reversed(log.view()) if isinstance(message, Assistant)), "")


def _task(log: SessionLog) -> str:
    """What the person asked for last, and what they added since."""
    said: list[str] = []
    for message in reversed(log.view()):
        if isinstance(message, User) and message.origin in ("prompt", "steering", "follow_up"):
            said.append("\n".join(part.text for part in message.parts if isinstance(part, Text)))
            if message.origin == "prompt":
                break
    return "\n\n".join(reversed(said))
