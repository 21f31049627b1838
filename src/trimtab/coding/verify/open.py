"""The verifier of a session, from its settings."""

import shutil
from collections.abc import Callable
from contextlib import AsyncExitStack

from trimtab.coding.beside import Book
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.limits import require_price
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.coding.role_models import RoleModels
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import environment_of
from trimtab.coding.verify.checks import Checks
from trimtab.coding.verify.reviewer import Reviewer
from trimtab.coding.verify.turn_changes import TurnChanges
from trimtab.coding.verify.verifier import Verifier
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Text, User


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
) -> Verifier:
    """Make it. What a reviewing model takes goes to `book`; `models` gives those of a name, opened when they are first asked."""
    settings = project.settings.verify
    environment = environment_of(project)
    path = environment.get("PATH")
    shell = shutil.which("bash", path=path) or shutil.which("sh", path=path) or "/bin/sh"
    if settings.model:
        found = resolve_model(project, settings.model)  # an unknown one is said now, not after the work
        if settings.enabled:
            require_price(project.settings, found.model)
    reviewer = Reviewer(models(settings.model), book) if settings.model else None
    verifier = Verifier(
        settings,
        project.cwd,
        Checks(shell, environment, settings.timeout_s, outputs, confiner),
        TurnChanges(recorder, project.cwd),
        lambda: _task(log),
        reviewer,
        on=settings.enabled,
    )
    stack.callback(verifier.shut)
    return verifier


def _task(log: SessionLog) -> str:
    """What the person asked for last, and what they added since."""
    said: list[str] = []
    for message in reversed(log.view()):
        if isinstance(message, User) and message.origin in ("prompt", "steering", "follow_up"):
            said.append("\n".join(part.text for part in message.parts if isinstance(part, Text)))
            if message.origin == "prompt":
                break
    return "\n\n".join(reversed(said))
