"""Bisecting a saved session: which edit of its context broke a run, found by running a check on forks.

    edits that hold ──search──▶ some of them taken back on a fork ──check──▶ exit code 0: good ──▶ … ──▶ the guilty ones

The session itself is only read. Each trial gets a fresh fork in a folder of its own, which goes when the search ends, however it ends, and so does every process that a check left. Marks (pins and expiry) change
no byte that a model reads, so they are never suspected.
"""

import difflib
import re
import secrets
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import anyio

from trimtab.coding.logs import session_folder
from trimtab.coding.project import Project
from trimtab.coding.tools.process_tree import MARKER, stop
from trimtab.context.editing.applying import BLANK
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.telling.bisect_edits import Found, Trial, Verdict, begin, judged, next_trial
from trimtab.context.window.view import View
from trimtab.types.edits import Expire, Pin, Unpin
from trimtab.types.entries import RevertEntry
from trimtab.types.errors import UsageError

VARIABLE = "TRIMTAB_SESSION"
"""Names the fork's file to the check."""
PLACEHOLDER = "{session}"
"""Stands for the fork's file in the check."""
Waiting: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Makes what surrounds the wait for a check."""
_GRACE_S = 0.5
_PLACEHOLDER = re.compile(r"\{([A-Za-z_]{3,20})\}")
_NEAR = 0.7
"""How alike a name is to `session`, as `difflib` counts it, to be a slip of it; a shell and its tools have braces of their own."""
_NOT_RUN = (126, 127)
"""What a shell answers for a command that it can't run."""


@dataclass(frozen=True, slots=True)
class Check:
    """A command of the person's own. It runs in `cwd` with their environment; after `timeout_s` seconds it is ended, which proves nothing."""

    command: str
    cwd: Path
    env: Mapping[str, str]
    timeout_s: float = 600.0
    quiet: bool = True


@dataclass(frozen=True, slots=True)
class Tried:
    """One trial: what was taken back, and what the check said. `code` is None where it ran out of time."""

    number: int
    reverted: tuple[str, ...]
    verdict: Verdict
    code: int | None


@dataclass(frozen=True, slots=True)
class Bisected:
    """What was found, and by which trials."""

    found: Found
    trials: tuple[Tried, ...]


def suspects(view: View) -> tuple[str, ...]:
    """The edits of a view that may have broken a run: those that hold and change what a model reads, oldest first."""
    return tuple(
        applied.id
        for applied in view.applied
        if applied.id not in view.reverted and not isinstance(applied.edit, Pin | Unpin | Expire)
    )


def require_placeholders(command: str) -> None:
    """Raise `UsageError` for a placeholder that nearly is `{session}`: the command would run without the fork, and its verdict would mean nothing."""
    for name in _PLACEHOLDER.findall(command):
        if name != "session" and difflib.get_close_matches(name.casefold(), ["session"], cutoff=_NEAR):
            raise UsageError(f"the check has no placeholder {{{name}}}", hint="Write {session} for the fork's file.")


def bisect(
    project: Project,
    file: Path,
    edits: tuple[str, ...],
    check: Check,
    *,
    tell: Callable[[Tried], None],
    waiting: Waiting = nullcontext,
) -> Bisected:
    """Search among `edits` of the session in `file`. `tell` hears of each trial as it ends; a check is waited for within `waiting`, which may raise to end the search.

    Raises `UsageError` when the check can't be run at all.
    """
    require_placeholders(check.command)
    folder = session_folder(project)
    trials: list[Tried] = []
    search = begin(edits)
    with tempfile.TemporaryDirectory(prefix="trimtab-bisect-", ignore_cleanup_errors=True) as scratch:
        while isinstance(step := next_trial(search), Trial):
            run = partial(_run, check, waiting=waiting)
            tried = _try(folder, file, step, check, Path(scratch), run, number=len(trials) + 1)
            trials.append(tried)
            tell(tried)
            search = judged(search, tried.verdict)
    return Bisected(step, tuple(trials))


def _try(
    folder: SessionFolder,
    file: Path,
    trial: Trial,
    check: Check,
    scratch: Path,
    run: Callable[[Path], int | None],
    *,
    number: int,
) -> Tried:
    # A folder for each: what the check leaves beside its session (bodies, outputs) must not reach the next trial.
    place = scratch / f"trial-{number}"
    place.mkdir()
    fork = folder.fork(file, cwd=str(check.cwd), to=place / "session.jsonl")
    if trial.revert:
        log = folder.open(fork)
        try:
            log.append([RevertEntry(**BLANK, target=edit, reason="bisect", author="user") for edit in trial.revert])
        finally:
            log.close()
    code = run(fork)
    if code in _NOT_RUN:
        raise UsageError(
            f"the check can't be run: {check.command!r} ended with {code}",
            hint="Try it in a shell first; exit code 0 means good, anything else bad.",
        )
    verdict: Verdict = "unknown" if code is None else "pass" if code == 0 else "fail"
    return Tried(number, trial.revert, verdict, code)


def _run(check: Check, fork: Path, *, waiting: Waiting) -> int | None:
    """The exit code of the check; None when it ran out of time. Every process of it is gone then, however it ended."""
    command = check.command.replace(PLACEHOLDER, shlex.quote(str(fork)))
    marker = secrets.token_hex(8)
    process = subprocess.Popen(
        ["/bin/sh", "-c", command],
        cwd=check.cwd,
        env={**check.env, VARIABLE: str(fork), MARKER: marker},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if check.quiet else 2,
        stderr=subprocess.DEVNULL if check.quiet else None,
        start_new_session=True,
    )
    try:
        with waiting():
            return process.wait(check.timeout_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        # What the check started in the background would go on writing to a fork that goes away.
        anyio.run(partial(stop, process.pid, marker, grace_s=_GRACE_S))
        process.wait()
