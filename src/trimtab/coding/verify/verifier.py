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
from trimtab.coding.verify.protected import Protected
from trimtab.coding.verify.reviewer import Reviewer, Work
from trimtab.config.settings import VerifySettings
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import Assistant, user

_NAMED = 10
"""Protected files that are named one by one."""
Outcome: TypeAlias = Literal["passed", "failed", "skipped", "not_configured"]


class Changes(Protocol):
    """What the turn changed, as far as it is known."""

    async def begin_turn(self) -> None:
        """Forget what was changed before."""
        ...

    async def changed(self) -> bool:
        """Whether anything in the project was changed since."""
        ...

    @property
    def diffs(self) -> Sequence[tuple[str, str]]:
        """A diff, or a line that says why there is none, by file."""
        ...


@dataclass(slots=True)
class Verifier:
    """A `Closer`. `on`: whether checks run at all (`--no-verify`); `task` gives the person's words of this turn."""

    settings: VerifySettings
    project: Path
    checks: Checks
    changes: Changes
    task: Callable[[], str]
    reviewer: Reviewer | None = None
    on: bool = True
    outcome: Outcome = "not_configured"
    afford: Callable[[], None] = lambda: None
    """Raises when a limit of the run is reached: asked before a model reviews."""
    _protected: Protected = field(init=False)
    _round: int = 0
    _unprotected: str = ""

    def __post_init__(self) -> None:
        """Nothing is kept yet."""
        self._protected = Protected(self.project, self.settings.protect)
        self.outcome = "not_configured" if self.on else "skipped"

    @property
    def _configured(self) -> bool:
        return bool(self.settings.commands) or self.reviewer is not None

    async def begin(self) -> None:
        """A turn begins: keep the protected files as they are."""
        self._round, self._unprotected = 0, ""
        if not self._configured or not self.on:
            return
        self.outcome = "skipped"
        await self.changes.begin_turn()
        try:
            await anyio.to_thread.run_sync(self._protected.take)
        except OSError as problem:
            self._unprotected = f"the protected files could not be kept as they were: {problem}"

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """Check, tell, and say what follows."""
        if not self._configured or not self.on:
            return Closing()
        if not await self.changes.changed():
            self.outcome = "skipped"
            await emit(VerifyEnded(outcome="skipped", detail="no file was changed"))
            return Closing()
        self._round += 1
        self.outcome = "failed"  # until it is known better, also when this is broken off
        problems, repairable = await self._problems(answer, emit)
        if not problems:
            self.outcome = "passed"
            await emit(VerifyEnded(outcome="passed", round=self._round, detail=self._passed()))
            await self._tell_of_protected(emit)
            return Closing()
        await emit(VerifyEnded(outcome="failed", round=self._round, detail=problems))
        if repairable and self._round <= self.settings.rounds:
            return Closing((user(_told(problems, left=self.settings.rounds - self._round), origin="verify"),))
        await self._tell_of_protected(emit)
        head = problems.partition("\n")[0]
        return Closing(
            reason="verify_failed", error=Error(kind="verify", message=f"the check failed: {head}", hint=_HINT)
        )

    async def _tell_of_protected(self, emit: Emit) -> None:
        """Say to the person which protected files are not as they were: the check ran with the old ones, and what the turn made of them still stands in the project."""
        changed = await anyio.to_thread.run_sync(self._protected.changed)
        if changed:
            more = f", and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
            named = ", ".join(changed[:_NAMED]) + more
            await emit(
                Notice(message=f"protected files are not as they were: {named}; the check ran with the old ones")
            )

    async def check(self, emit: Emit) -> str:
        """Run the commands now, in the project as it is; return what is wrong, in words. Raises `UsageError` when there are none."""
        if not self.settings.commands:
            raise UsageError(
                "no checks are configured", hint='Set verify.commands, as in verify.commands = ["pytest -q"].'
            )

        async def begins(command: str) -> None:
            await emit(Notice(message=f"verify: {command}"))

        runs = await self.checks.run(self.settings.commands, self.project, begins)
        failed = next((run for run in runs if not run.passed), None)
        self.outcome = "passed" if failed is None else "failed"
        return "" if failed is None else _failure(failed, ())

    def shut(self) -> None:
        """Forget what was kept."""
        self._protected.close()

    def _passed(self) -> str:
        done = [*self.settings.commands, *([f"review by {self.settings.model}"] if self.reviewer else [])]
        return "; ".join(done)

    async def _problems(self, answer: Assistant, emit: Emit) -> tuple[str, bool]:
        """What is wrong, in words (empty: nothing), and whether the model can do something about it."""
        if self._unprotected:
            return self._unprotected, False

        async def begins(command: str) -> None:
            await emit(Notice(message=f"verify: {command}"))

        changed = await anyio.to_thread.run_sync(self._protected.changed)
        try:
            async with self._place(tampered=bool(changed)) as place:
                runs = await self.checks.run(self.settings.commands, place, begins)
        except OSError as problem:
            return f"the project could not be copied for the check: {problem}", False
        failed = next((run for run in runs if not run.passed), None)
        if failed is not None:
            return _failure(failed, changed), True
        if self.reviewer is None:
            return "", True
        await self._require_means(emit)
        await emit(Notice(message=f"verify: {self.settings.model} reviews the changes"))
        reviewed = await self.reviewer.review(self._work(answer, runs, changed))
        if reviewed.passed is None:
            return reviewed.said, False
        return ("" if reviewed.passed else f"the review says:\n{reviewed.said}"), True

    async def _require_means(self, emit: Emit) -> None:
        """End the turn where a limit of the run is reached: a review would go beyond it. Raises what `afford` raises."""
        try:
            self.afford()
        except TrimtabError as reached:
            await emit(VerifyEnded(outcome="failed", round=self._round, detail=f"not reviewed: {reached.message}"))
            raise

    @asynccontextmanager
    async def _place(self, *, tampered: bool) -> AsyncIterator[Path]:
        """Where the commands run. A cancel leaves no copy behind."""
        if not tampered:
            yield self.project
            return
        folder = tempfile.TemporaryDirectory(prefix="trimtab-verify-", ignore_cleanup_errors=True)
        try:
            yield await anyio.to_thread.run_sync(self._protected.copy_into, Path(folder.name))
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(folder.cleanup)

    def _work(self, answer: Assistant, runs: Sequence[CheckRun], changed: Sequence[str]) -> Work:
        ended = [f"{run.command}: {run.ending or 'succeeded'}" for run in runs]
        return Work(self.task(), answer.text, (*ended, *(f"protected file {c}" for c in changed)), self.changes.diffs)


_HINT = "What was done is kept: --continue goes on, --no-verify leaves the check out."


def _failure(run: CheckRun, changed: Sequence[str]) -> str:
    """Which check failed and how, and what became of protected files, in words for the model."""
    lines = [f"`{run.command}`: {run.ending}"]
    if changed:
        named = [f"- {one}" for one in changed[:_NAMED]]
        more = [f"- and {len(changed) - _NAMED} more"] if len(changed) > _NAMED else []
        lines += ["These files are protected; the check ran with them as they were before the turn:", *named, *more]
    return "\n".join([*lines, run.output.rstrip() or "(no output)"])


def _told(problems: str, *, left: int) -> str:
    """What the model is told: data, and what to do about it."""
    rounds = "this is the last time" if left == 0 else f"the check runs again, {left + 1} times at most"
    return f"You said that you are done, but the check failed ({rounds}). Repair it; don't change what is checked by.\n\n{problems}"
