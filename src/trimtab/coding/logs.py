"""Opening the log that a choice means: a new file, an existing one, a copy, or none.

A session goes on in its own folder; one whose folder is gone goes on here, and says so. A disk that refuses a *new* session is a
notice, not the end: the session then lives in memory.
"""

import os
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import assert_never

from trimtab.coding.choose import AtFile, Choice, Ephemeral, Fork, New, Resume
from trimtab.coding.project import Project
from trimtab.config.settings import ContextSettings
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant
from trimtab.types.models import ModelInfo
from trimtab.types.text import scrub


def now() -> datetime:
    """The clock that sessions are given."""
    return datetime.now(UTC)


def session_folder(project: Project) -> SessionFolder:
    """All sessions of this user."""
    return SessionFolder(project.home.sessions, project.home.bodies, now=now)


@dataclass(frozen=True, slots=True)
class Opened:
    """An open log. `model_ref` is the model that the session used last."""

    project: Project
    log: SessionLog
    model_ref: str | None = None
    notices: tuple[str, ...] = ()
    moved: bool = False
    """Whether the session goes on in another folder than its log says; the log is told with the next entry."""


def open_log(project: Project, choice: Choice, *, takeover: bool = False) -> Opened:
    """Open or make the log. Raises `UnknownSession`, `SessionLocked`, `SessionError` or `UsageError`."""
    folder = session_folder(project)
    match choice:
        case Ephemeral():
            return Opened(project, SessionLog.in_memory(str(project.cwd), now=now))
        case New(parent_session=parent):
            log, refusal = folder.begin(str(project.cwd), parent_session=parent)
            return Opened(project, log, notices=(refusal,) if refusal else ())
        case AtFile(path=path):
            absolute = Path(project.cwd, path.expanduser())
            return _place(project, folder.open_or_create(absolute, str(project.cwd), takeover=takeover))
        case Resume(ref=ref):
            path = folder.find(ref, str(project.cwd))
            over = folder.passed_over(path, str(project.cwd)) if ref == "last" else ""
            opened = _place(project, folder.open(path, takeover=takeover, cwd=str(project.cwd)))
            note = f"an older session goes on: {over}"
            return replace(opened, notices=(*opened.notices, note)) if over else opened
        case Fork(ref=ref, at=at):
            copy = folder.fork(folder.find(ref, str(project.cwd)), cwd=str(project.cwd), at=at)
            return _place(project, folder.open(copy))
        case _:
            assert_never(choice)


def forget_empty(log: SessionLog) -> None:
    """Remove the file that was made for a new session in which nothing happened. While it is open, nobody else writes it."""
    if log.path is not None and not len(log.archive):
        with suppress(OSError):
            log.path.unlink()


def outputs_beside(session_file: Path) -> Path:
    """The folder for the long outputs that results of this session name; made when the first one comes, kept with the file."""
    return session_file.with_name(session_file.name + ".outputs")


def writes_at_once(choice: Choice, project: Project) -> bool:
    """Whether `open_log` makes a file: what can fail otherwise should then be tried before."""
    match choice:
        case New():
            return True
        case AtFile(path=path):
            return not Path(project.cwd, path.expanduser()).exists()
        case _:
            return False


def _place(project: Project, log: SessionLog) -> Opened:
    """Decide where an existing session goes on, and what the person should know of it."""
    try:
        project, notices, moved = _folder_for(project, log)
        if log.damage:
            places = "1 damaged place" if len(log.damage) == 1 else f"{len(log.damage)} damaged places"
            read = "was" if len(log.damage) == 1 else "were"
            notices = (*notices, f"{places} in {log.path} {read} read around; nothing readable is lost")
        if log.archive.archived:
            notices = (*notices, "this session was archived; lists show it again once something is said in it")
        return Opened(project, log, own_model(log), notices, moved)
    except BaseException:
        log.close()
        raise


def _folder_for(project: Project, log: SessionLog) -> tuple[Project, tuple[str, ...], bool]:
    """Where the session goes on: in its own folder, unless the person named one or it is gone; and whether that is news to the log."""
    there = log.cwd
    if not there or scrub(os.path.realpath(there)) == scrub(str(project.cwd)):
        return project, (), False
    if project.asked.cwd_given or not os.path.isdir(there):
        why = "as asked" if project.asked.cwd_given else "its folder is gone"
        return project, (f"the session was in {there} and goes on in {project.cwd}: {why}",), True
    try:
        moved = project.moved_to(Path(there))
        return moved, (f"the session goes on in its own folder, {there} (--cwd . keeps you here)",), False
    except UsageError as e:
        return project, (f"{e.message}; the session goes on in {project.cwd}",), True


def policy_of(log: SessionLog) -> str:
    """The context policy that the session runs under, as it was named; a log that says nothing of it ran under the default one."""
    return log.archive.policy or ContextSettings().policy


def window_is_news(log: SessionLog, model: ModelInfo) -> bool:
    """Whether the window of `model` is one that nobody could tell from its name later, and that the log doesn't state.

    One that was assumed is none either: by then settings may state another. A script has no window but the one that every script has.
    """
    assumed = model.source == "default" and model.api not in ("scripted", "recorded")
    stated = log.archive.window is not None or model.source in ("config", "probe") or assumed
    return stated and (log.archive.window, log.archive.max_output) != (model.context_window, model.max_output)


def own_model(log: SessionLog) -> str | None:
    """As `last_model`, but not one that only stood in for the session's own."""
    return log.archive.own_model or last_model(log)


def last_model(log: SessionLog) -> str | None:
    """The model that the session's branch chose or heard last, as `PROVIDER/ID`; None when nothing answered yet."""
    if log.archive.model is not None:
        return "/".join(log.archive.model)
    answers = (m for m in reversed(log.view()) if isinstance(m, Assistant))
    last = next(answers, None)
    return f"{last.provider}/{last.model}" if last else None


def record_choices(log: SessionLog, *, cwd: str | None, model: ModelInfo, thinking: str | None, policy: str) -> None:
    """Say in the log where one works (None: as before), which model answers from here on, how much it thinks, in which window, and which policy decides, when the log doesn't say so yet.

    Raises `StoreError` or `SessionError`.
    """
    used = last_model(log)
    if cwd is not None:
        log.set_cwd(cwd)
    if used is not None and used != model.ref:
        log.set_model(model.provider, model.id)
    if thinking != log.archive.thinking:
        log.set_thinking(thinking)
    if policy != policy_of(log):
        log.set_policy(policy)
    if window_is_news(log, model):
        log.set_window(model.context_window, model.max_output)
