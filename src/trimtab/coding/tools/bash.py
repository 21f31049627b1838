"""The `bash` tool: one command line, run as written, in the project folder.

    arguments → Command → Confiner.wrap → process.run_command → Finished → text + details

The text that the model reads is what the command printed and, only when there is something to say, one line per fact about
how it ended. A failed command is an error result: the model and everybody who watches should see it as one.
"""

import codecs
import errno
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import anyio

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.sandbox.sandbox import Started
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.process import Finished, Group, Watch, run_command
from trimtab.coding.tools.terminal import plain, settled
from trimtab.config.settings import BashTool as BashSettings
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

_UPDATE_EVERY_S = 0.1
_UPDATE_CHARS = 8_000
_LISTED = 10
_EXHAUSTED = {errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE}


class Background(Protocol):
    """Where commands go on that nobody waits for, or nobody any more."""

    async def mind(self, group: Group, *, command: str) -> None:
        """While `command` runs and is waited for, keep in mind that it does. Until cancelled; raises nothing."""
        ...

    async def start(self, started: Started, *, command: str, cwd: Path, limit_s: float | None) -> ToolOutput:
        """Start `started`, which runs `command`, and return at once. Raises `OSError` and `ValueError` when it can't be started."""
        ...

    async def adopt(self, finished: Finished, *, command: str) -> str:
        """Look after what `command` left running; say so, in words that may stand in a line, or not at all."""
        ...


@dataclass(frozen=True, slots=True)
class BashTool:
    """Runs commands in `cwd` with `environment` (see `environment.command_environment`), which is all they get.

    `folder` takes output that outgrows the caps; `default_timeout_s` holds when a call names none.
    No call may ask for more than `max_timeout_s`. Without a `confiner` there is no sandbox, without a `background` no command goes on there.
    """

    cwd: Path
    environment: Mapping[str, str]
    folder: PrivateFolder = field(default_factory=PrivateFolder)
    caps: Caps = field(default_factory=Caps)
    default_timeout_s: float = BashSettings().timeout_s
    max_timeout_s: float = BashSettings().max_timeout_s
    confiner: Confiner | None = None
    background: Background | None = None
    prefix: str = ""
    """What the shell runs before each command."""

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema."""
        return _spec(self.default_timeout_s, self.max_timeout_s, background=self.background is not None)

    @property
    def snippet(self) -> str:
        """One line for the system prompt."""
        return "run shell commands"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """What the system prompt adds while the tool is on."""
        if self.background is not None:
            return ("Run servers, watchers and what takes long with background=true.",)
        return ("Run programs that never end with `&` and their output redirected to a file.",)

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """A command may read anything: it waits for earlier writes, and runs beside reads and other commands."""
        return Access(reads="*")

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Run the command; an error result when it exits with another code than 0, by a signal, or is out of time."""
        command = scrub(str(arguments["command"]))
        timeout_s = float(arguments.get("timeout") or self.default_timeout_s)
        if not 0 < timeout_s <= self.max_timeout_s:
            return ToolOutput.text(f"timeout must be above 0 and at most {self.max_timeout_s:g} seconds", is_error=True)
        shell = await anyio.to_thread.run_sync(_find_shell, self.environment.get("PATH"))
        if shell is None:
            return ToolOutput.text("there is neither bash nor sh on the PATH", is_error=True)
        started = await self._confined((shell, "-c", f"{self.prefix}\n{command}" if self.prefix else command))
        if isinstance(started, str):
            return ToolOutput.text(started, is_error=True)
        if self.background is not None and arguments.get("background") is True:
            limit_s = timeout_s if arguments.get("timeout") else None
            return await self._in_background(self.background, started, command, limit_s)
        live = _Live(run.update)
        async with anyio.create_task_group() as group:
            group.start_soon(live.run)
            finished = await self._attempt(started, command, timeout_s, live.see)
            group.cancel_scope.cancel()
        if isinstance(finished, str):
            return ToolOutput.text(finished, is_error=True)
        await live.flush()
        notice = "" if shell.endswith("bash") else "bash was not found; this ran in sh\n"
        why = await self._looked_after(finished)
        adopted = ""
        if self.background is not None and finished.left_running:
            adopted = await self.background.adopt(finished, command=command)
        return _output(finished, timeout_s=timeout_s, notice=notice, why=why, adopted=adopted)

    async def _in_background(
        self, background: Background, started: Started, command: str, limit_s: float | None
    ) -> ToolOutput:
        try:
            return await background.start(started, command=command, cwd=self.cwd, limit_s=limit_s)
        except (OSError, ValueError) as failure:
            why = await anyio.to_thread.run_sync(_why_not_started, failure, command, self.cwd)
            return ToolOutput.text(why, is_error=True)

    async def _confined(self, argv: tuple[str, ...]) -> Started | str:
        """What to start so that the command runs in the sandbox; words when there must be one and is none."""
        if self.confiner is None:
            return argv, self.environment
        return await anyio.to_thread.run_sync(self.confiner.wrap, argv, self.environment, self.cwd)

    async def _looked_after(self, finished: Finished) -> str:
        """What the sandbox has to say about how it went; mostly nothing."""
        if self.confiner is None:
            return ""
        look = partial(self.confiner.look_after, finished.output.text, failed=bool(finished.exit_code))
        return await anyio.to_thread.run_sync(look)

    async def _attempt(self, started: Started, command: str, timeout_s: float, watch: Watch) -> Finished | str:
        """Run it; words instead when it could not be started."""
        argv, environment = started
        beside = partial(self.background.mind, command=command) if self.background is not None else None
        try:
            return await run_command(
                argv,
                cwd=self.cwd,
                environment=environment,
                timeout_s=timeout_s,
                capture=Capture(self.folder, self.caps.bash_head_bytes, self.caps.bash_tail_bytes),
                watch=watch,
                beside=beside,
            )
        except (OSError, ValueError) as failure:
            return await anyio.to_thread.run_sync(_why_not_started, failure, argv[-1], self.cwd)


def _spec(default_s: float, most_s: float, *, background: bool) -> ToolSpec:
    timeout = {"type": "number", "description": f"seconds, default {default_s:g}, at most {most_s:g}"}
    more = {"background": {"type": "boolean", "description": "don't wait: a job"}} if background else {}
    return ToolSpec(
        name="bash",
        description="Run a shell command in the project folder. No terminal, no stdin. "
        "Long output is cut; the whole goes to a file.",
        parameters={
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": timeout, **more},
            "required": ["command"],
        },
    )


class _Live:
    """Shows output while it comes: joined, cleaned, at most ten times a second, the newest part when it is too much."""

    def __init__(self, update: Callable[[str], Awaitable[None]]) -> None:
        self._update = update
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._news = anyio.Event()

    def see(self, data: bytes) -> None:
        self._pending = (self._pending + self._decoder.decode(data))[-_UPDATE_CHARS:]
        self._news.set()

    async def run(self) -> None:
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            await self._send(settled(self._pending))
            await anyio.sleep(_UPDATE_EVERY_S)

    async def flush(self) -> None:
        await self._send(len(self._pending))

    async def _send(self, size: int) -> None:
        text, self._pending = self._pending[:size], self._pending[size:]
        if text:
            await self._update(plain(text))


def _find_shell(path: str | None) -> str | None:
    return shutil.which("bash", path=path) or shutil.which("sh", path=path)


def _output(finished: Finished, *, timeout_s: float, notice: str, why: str, adopted: str) -> ToolOutput:
    ending, failed = _ending(finished, timeout_s)
    printed = finished.output.text
    lines = [notice + printed.removesuffix("\n")] if printed else []
    if not printed:
        lines.append(f"{notice}(no output), {ending or 'exit 0'}")
    elif ending:
        lines.append(f"[{ending}]")
    lines += [why] if why else []
    if finished.left_running:
        lines.append(_still_running(finished, adopted))
    return ToolOutput.text(
        "\n".join(lines),
        is_error=failed,
        cut=finished.output.cut,
        details={
            "exit_code": finished.exit_code,
            "signal": finished.signal,
            "timed_out": finished.timed_out,
            "duration_ms": round(finished.duration_s * 1000),
            "output_file": finished.output.file,
            "left_running": [p.pid for p in finished.left_running],
        },
    )


def _ending(finished: Finished, timeout_s: float) -> tuple[str, bool]:
    """Return how it ended in words (empty for success) and whether that is a failure."""
    if finished.timed_out:
        stopped = (
            "some of its processes can't be stopped" if finished.left_running else "all its processes were stopped"
        )
        return f"timed out after {timeout_s:g} s; {stopped}", True
    if finished.signal:
        return f"killed by {finished.signal}", True
    if finished.exit_code:
        return f"exit {finished.exit_code}", True
    return "", False


def _still_running(finished: Finished, adopted: str) -> str:
    listed = ", ".join(f"{p.pid} ({plain(p.command)[:60]})" for p in finished.left_running[:_LISTED])
    more = len(finished.left_running) - _LISTED
    output = f"; what they print goes on in {finished.output.file}" if finished.output.file else ""
    state = "still running" if finished.timed_out else "still running in the background"
    return f"[{state}: {listed}{f' and {more} more' if more > 0 else ''}{output}{adopted}]"


def _why_not_started(failure: OSError | ValueError, command: str, cwd: Path) -> str:
    if isinstance(failure, OSError) and not cwd.is_dir():
        return f"the working folder {str(cwd)!r} is gone"
    if isinstance(failure, OSError) and failure.errno == errno.E2BIG:
        return f"the command is too long ({len(command):,} characters): write it to a file and run that"
    if isinstance(failure, OSError) and failure.errno in _EXHAUSTED:
        return f"the machine has no room for another process now ({failure.strerror}); stop some, then try again"
    if isinstance(failure, ValueError):
        return "the command holds a NUL character, which no program can be given"
    return f"the command could not be started: {failure}"
