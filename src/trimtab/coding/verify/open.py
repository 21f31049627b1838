"""The verifier of a session, from its settings."""

import shutil
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from trimtab.coding.beside import Book
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.models import OpenModel, close_provider, open_model, resolve_model
from trimtab.coding.project import Project
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
) -> Verifier:
    """Make it. What a reviewing model takes goes to `book`; it is opened when it is first asked."""
    settings = project.settings.verify
    environment = environment_of(project)
    path = environment.get("PATH")
    shell = shutil.which("bash", path=path) or shutil.which("sh", path=path) or "/bin/sh"
    if settings.model:
        resolve_model(project, settings.model)  # an unknown one is said now, not after the work
    reviewer = Reviewer(_Lazily(project, settings.model, stack).open, book) if settings.model else None
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


@dataclass(slots=True)
class _Lazily:
    """A model that is opened once, when it is needed, and closed with the session."""

    project: Project
    ref: str
    stack: AsyncExitStack
    _open: OpenModel | None = field(default=None)

    async def open(self) -> OpenModel:
        """The model, ready to be asked. Raises `UnknownModel` or `ConfigError`."""
        if self._open is None:
            self._open = await open_model(self.project, self.ref)
            self.stack.push_async_callback(close_provider, self._open.provider)
        return self._open


def _task(log: SessionLog) -> str:
    """What the person asked for last, and what they added since."""
    said: list[str] = []
    for message in reversed(log.view()):
        if isinstance(message, User) and message.origin in ("prompt", "steering", "follow_up"):
            said.append("\n".join(part.text for part in message.parts if isinstance(part, Text)))
            if message.origin == "prompt":
                break
    return "\n\n".join(reversed(said))
