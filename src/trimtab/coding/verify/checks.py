"""Run the commands of one check, one after the other, in the time that all of them have together.

commands ──Confiner.wrap, process.run_command──▶ CheckRun ──the first that fails ends it──▶ what the model is told
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio

from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.process import run_command

_HEAD_BYTES, _TAIL_BYTES = 4_000, 12_000
"""Of an output, the end says most: a failing test run sums up there."""


@dataclass(frozen=True, slots=True)
class CheckRun:
    """One command: how it ended, in words (empty: it succeeded), and what it printed."""

    command: str
    ending: str
    output: str

    @property
    def passed(self) -> bool:
        """Whether it succeeded."""
        return not self.ending


@dataclass(frozen=True, slots=True)
class Checks:
    """How commands are run here. `shell` is its path; `timeout_s` in seconds for all commands of one check; `outputs` takes long ones."""

    shell: str
    environment: Mapping[str, str]
    timeout_s: float
    outputs: PrivateFolder
    confiner: Confiner

    async def run(
        self,
        commands: Sequence[str],
        cwd: Path,
        begins: Callable[[str], Awaitable[None]],
        *,
        as_run: Mapping[str, str] | None = None,
    ) -> tuple[CheckRun, ...]:
        """Run `commands` in `cwd` up to the first that fails; `begins` hears of each, `as_run` says how one is put here. Never raises for what a command does; a cancel stops all that it started."""
        runs: list[CheckRun] = []
        ends = anyio.current_time() + self.timeout_s
        for command in commands:
            await begins(command)
            put = (as_run or {}).get(command, command)
            runs.append(replace(await self._run(put, cwd, ends - anyio.current_time()), command=command))
            if not runs[-1].passed:
                break
        return tuple(runs)

    async def _run(self, command: str, cwd: Path, left_s: float) -> CheckRun:
        if left_s <= 0:
            return CheckRun(command, f"not run: the {self.timeout_s:g} s of the check were over", "")
        words = (self.shell, "-c", command)
        started = await anyio.to_thread.run_sync(self.confiner.wrap, words, self.environment, cwd)
        if isinstance(started, str):
            return CheckRun(command, f"not run: {started}", "")
        argv, environment = started
        try:
            finished = await run_command(
                argv,
                cwd=cwd,
                environment=environment,
                timeout_s=left_s,
                capture=Capture(self.outputs, _HEAD_BYTES, _TAIL_BYTES),
            )
        except (OSError, ValueError) as failure:
            return CheckRun(command, f"could not be started: {failure}", "")
        if finished.timed_out:
            ending = f"timed out; a check has {self.timeout_s:g} s"
        elif finished.signal:
            ending = f"killed by {finished.signal}"
        else:
            ending = f"exit {finished.exit_code}" if finished.exit_code else ""
        look = partial(self.confiner.look_after, finished.output.text, failed=bool(ending))
        why = await anyio.to_thread.run_sync(look)
        return CheckRun(command, ending, f"{finished.output.text.rstrip()}\n{why}" if why else finished.output.text)
