"""Verify: what is checked when the model says that it is done, and what follows.

    answer without calls ─▶ did the turn change a file? ──no──▶ skipped
                                   │ yes
                     checks, in the project, or in a copy with protected files as they were ─▶ a reviewing model
                                   │
              passed ◀─────────────┴─────▶ failed: the model is told and goes on, so many rounds; then the turn ends with `verify_failed`

The one rule: the outcome tells what was checked last. A check that could not run is no check that passed.
"""

import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

import anyio

from trimtab.agent.events import Error, Notice, VerifyEnded
from trimtab.agent.ports import Closing, Emit
from trimtab.coding.verify.checks import CheckRun, Checks
from trimtab.coding.verify.place import Place
from trimtab.coding.verify.protected import Protected
from trimtab.coding.verify.reviewer import Reviewer, Work, head_of
from trimtab.coding.verify.turn_changes import FileChange
from trimtab.coding.verify.weakened import weakened
from trimtab.coding.verify.words import HINT, Problem, broken, failure, tampering, told, warned, weakening
from trimtab.config.settings import VerifySettings
from trimtab.types.errors import StoreError, TrimtabError, UsageError
from trimtab.types.messages import Assistant, user

Outcome: TypeAlias = Literal["passed", "failed", "skipped", "not_configured", "not_run"]


class Changes(Protocol):
    """What the turn changed, as far as it is known."""

    async def begin_turn(self) -> None:
        """Forget what was changed before."""
        ...

    async def changed(self) -> bool:
        """Whether anything in the project was changed since."""
        ...

    async def note_checked(self) -> None:
        """Everything as it is now was checked."""
        ...

    async def checked(self) -> bool:
        """Whether everything is still so."""
        ...

    async def files(self) -> Sequence[FileChange]:
        """What was changed, by file."""
        ...


@dataclass(slots=True)
class Verifier:
    """A `Closer`. `on`: whether checks run at all (`--no-verify`); `task` gives the person's words of this turn, `said` the agent's last ones."""

    settings: VerifySettings
    place: Place
    checks: Checks
    changes: Changes
    protected: Protected
    task: Callable[[], str]
    said: Callable[[], str]
    reviewer: Reviewer | None = None
    on: bool = True
    outcome: Outcome = "not_configured"
    tampered: tuple[str, ...] = ()
    """What of the protected files isn't as the person left it, in words."""
    afford: Callable[[], None] = lambda: None
    """Raises when a limit of the run is reached: asked before a model reviews."""
    _round: int = 0
    _runs: bool = False
    """Whether a turn runs that nobody asked yet whether it ends well."""
    _unprotected: str = ""
    _told: set[str] = field(default_factory=set)
    """What the model knows of its doings to the tests."""
    _shown: tuple[str, ...] = ()
    """What the person was shown of them last."""

    def __post_init__(self) -> None:
        """Nothing was checked yet."""
        self.outcome = "not_configured" if self.on else "skipped"

    @property
    def _configured(self) -> bool:
        return bool(self.settings.commands) or self.reviewer is not None

    async def begin(self) -> None:
        """A turn begins: what the person changed in protected files counts from now on."""
        await self._keep(self.protected.begin_turn)
        self._round, self._runs = 0, True
        if self._configured and self.on:
            self.outcome = "skipped"
            await self.changes.begin_turn()

    async def resume(self) -> None:
        """A turn that waited for the person goes on."""
        await self._keep(self.protected.resume_turn)
        self._runs = True
        if self._configured and self.on:
            self.outcome = "skipped"

    async def end(self, emit: Emit) -> None:
        """The turn has ended, whatever ended it: what it left is the agent's. Tell the person what wasn't told yet."""
        runs, self._runs = self._runs, False
        if runs and self._round == 0 and self._configured and self.on:
            self.outcome = "not_run" if await self.changes.changed() else "skipped"
        await self._keep(self.protected.end_turn)
        if self._configured and self.on:
            await self._look_at_protected()
            if self.tampered != self._shown:
                await self._show(emit, ())

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """Check, tell, and say what follows."""
        if not self._configured or not self.on:
            return Closing()
        if not await self.changes.changed():
            self.outcome, self._runs = "skipped", False
            await self._look_at_protected()
            await emit(VerifyEnded(outcome="skipped", detail="no file was changed", tampered=self.tampered))
            return Closing()
        if self.outcome == "passed" and await self.changes.checked():
            await self._show(emit, await self._taken_out())
            self._runs = False
            return Closing()
        self._round += 1
        self.outcome = "failed"  # until it is known better, also when this is broken off
        problem = await self._problem(answer.text, emit)
        taken_out = await self._taken_out()
        closing = (
            await self._passed(taken_out, emit) if problem is None else await self._failed(problem, taken_out, emit)
        )
        self._told |= {*self.tampered, *taken_out}
        if not closing.messages:
            self._runs = False
            await self._show(emit, taken_out)
        return closing

    async def _passed(self, taken_out: Sequence[str], emit: Emit) -> Closing:
        """The check succeeded; once, the model hears what of that it owes to nobody but itself."""
        self.outcome = "passed"
        await self.changes.note_checked()
        done = [*self.settings.commands, *([f"review by {self.settings.model}"] if self.reviewer else [])]
        await emit(VerifyEnded(outcome="passed", round=self._round, detail="; ".join(done), tampered=self.tampered))
        if self.settings.rounds and not {*self.tampered, *taken_out} <= self._told:
            return Closing((user(warned(self.tampered, taken_out), origin="verify"),))
        return Closing()

    async def _failed(self, problem: Problem, taken_out: Sequence[str], emit: Emit) -> Closing:
        detail = problem.text
        await emit(VerifyEnded(outcome="failed", round=self._round, detail=detail, tampered=self.tampered))
        if problem.repairable and self._round <= self.settings.rounds:
            left = self.settings.rounds - self._round
            return Closing((user(told(problem, taken_out, left=left), origin="verify"),))
        error = Error(kind="verify", message=f"the check failed: {problem.head}", hint=HINT)
        return Closing(reason="verify_failed", error=error)

    async def check(self, emit: Emit) -> str:
        """Check now, as at the end of a turn; return what is wrong, in words. Raises `UsageError` when no check is configured."""
        if not self._configured:
            raise UsageError(
                "no checks are configured",
                hint='Set verify.commands, as in verify.commands = ["pytest -q"], or verify.model.',
            )
        await self._keep(self.protected.between)
        self._round = 0
        problem = await self._problem(self.said(), emit)
        self.outcome = "passed" if problem is None else "failed"
        await self._show(emit, ())
        return "" if problem is None else problem.text

    async def accept(self) -> tuple[str, ...]:
        """Take the protected files as they are from now on; return what that changes, in words. Raises `StoreError`, and `UsageError` when nothing is protected."""
        if not self.settings.protect:
            raise UsageError("no files are protected", hint='Set verify.protect, as in verify.protect = ["tests/**"].')
        accepted = await anyio.to_thread.run_sync(self.protected.accept)
        self.tampered = self._shown = ()
        return accepted

    async def _keep(self, work: Callable[[], None]) -> None:
        """Let the protected files be looked at, and say it at the next check where that failed."""
        self._unprotected = ""
        if not self.settings.protect:
            return
        try:
            await anyio.to_thread.run_sync(work)
        except (OSError, StoreError) as problem:
            self._unprotected = f"the protected files could not be kept as they were: {problem}"

    async def _look_at_protected(self) -> None:
        if not self.settings.protect:
            return
        try:
            self.tampered = await anyio.to_thread.run_sync(self.protected.changed)
        except (OSError, StoreError) as problem:
            self._unprotected = f"the protected files could not be looked at: {problem}"

    async def _show(self, emit: Emit, taken_out: Sequence[str]) -> None:
        """Say to the person which protected files are not as they were, and which other tests seem to be taken out."""
        self._shown = self.tampered
        if self.tampered:
            await emit(Notice(message=tampering(self.tampered)))
        if taken_out:
            await emit(Notice(message=weakening(taken_out)))

    async def _problem(self, answer: str, emit: Emit) -> Problem | None:
        """What is wrong; None: nothing."""
        if not self._unprotected:
            await self._look_at_protected()
        if self._unprotected:
            return broken(self._unprotected)
        try:
            runs = await self._run(emit)
        except (OSError, StoreError) as problem:
            return broken(f"the project could not be copied for the check: {problem}")
        failed = next((run for run in runs if not run.passed), None)
        if failed is not None:
            return failure(failed, self.tampered)
        return await self._review(answer, runs, emit) if self.reviewer is not None else None

    async def _run(self, emit: Emit) -> Sequence[CheckRun]:
        """Run the commands; where protected files aren't as they were, in a copy. Raises `OSError` and `StoreError`."""

        async def begins(command: str) -> None:
            await emit(Notice(message=f"verify: {command}"))

        if not self.tampered or not self.settings.commands:
            return await self.checks.run(self.settings.commands, self.place.cwd, begins)
        async with self._copy() as copy:
            commands = {command: self.place.command_in(copy, command) for command in self.settings.commands}
            for command in (c for c, moved in commands.items() if self.place.still_names(copy, moved)):
                await emit(
                    Notice(
                        message=f"`{command}` names the project by its own path, so it may run protected files as they are now: name them by a path from the project's folder"
                    )
                )
            return await self.checks.run(self.settings.commands, copy.cwd, begins, as_run=commands)

    async def _review(self, answer: str, runs: Sequence[CheckRun], emit: Emit) -> Problem | None:
        files = await self.changes.files()
        if self.reviewer is None or not files:
            await emit(Notice(message="verify: the last turn changed nothing, so there is nothing to review"))
            return None
        await self._require_means(emit)
        await emit(Notice(message=f"verify: {self.settings.model} reviews the changes"))
        ended = [f"{run.command}: {run.ending or 'succeeded'}" for run in runs]
        ended += [f"protected file {change}" for change in self.tampered]
        reviewed = await self.reviewer.review(
            Work(self.task(), answer, ended, [(file.path, file.diff) for file in files])
        )
        if reviewed.passed is None:
            return broken(reviewed.said)
        if reviewed.passed:
            return None
        return Problem(f"the review says: {head_of(reviewed.said)}", f"the review says:\n{reviewed.said}")

    async def _require_means(self, emit: Emit) -> None:
        """End the turn where a limit of the run is reached: a review would go beyond it. Raises what `afford` raises."""
        try:
            self.afford()
        except TrimtabError as reached:
            await emit(VerifyEnded(outcome="failed", round=self._round, detail=f"not reviewed: {reached.message}"))
            raise

    @asynccontextmanager
    async def _copy(self) -> AsyncIterator[Place]:
        """A copy of the project with protected files as they were. A cancel leaves none behind."""
        folder = tempfile.TemporaryDirectory(prefix="trimtab-verify-", ignore_cleanup_errors=True)
        try:
            yield await anyio.to_thread.run_sync(self._copied, Path(folder.name))
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(folder.cleanup)

    def _copied(self, folder: Path) -> Place:
        copy = self.place.copied_to(folder, left_out=self.protected.fitting())
        self.protected.put_back(copy.cwd, within=copy.root)
        return copy

    async def _taken_out(self) -> tuple[str, ...]:
        """Tests that seem to be taken out, in words; of protected files more is known than that."""
        fits = self.protected.fitting()
        return weakened([file for file in await self.changes.files() if not fits(file.path)], self.place.root)
