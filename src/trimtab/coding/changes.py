"""Which files a run changed: a hook that listens to what tools say they did, and looks what redirections of a command did.

    before ── bash: stat of each redirect target ──▶ the command runs ──▶ after ── another stat? ──▶ details["changed"]

What a command changes otherwise (`sed -i`, a build) the checkpoints see; `changed.py` puts both together.
"""

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import anyio

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.permissions import redirect_targets
from trimtab.coding.tools.paths import Workspace, shown_name
from trimtab.types.messages import ToolCall

_Mark: TypeAlias = tuple[int, ...]
"""What differs once a file was written: device, inode, size in bytes, time of the change in ns. Empty: no regular file."""


class ChangeRecorder:
    """Passes every call on to `inner` and remembers the paths in `details["changed"]`, those of redirections added."""

    def __init__(self, inner: Hooks, workspace: Workspace, *, above: "ChangeRecorder | None" = None) -> None:
        """`above` is that of the session that this one works for: what changes here changed there."""
        self._inner = inner
        self._above = above
        self._cwd = workspace.cwd
        self._files: dict[str, None] = {}
        self._before: dict[str, dict[str, _Mark]] = {}
        self.written: list[tuple[str, str]] = []
        """Each change in order: the file, and its diff, or why there is none."""

    @property
    def files(self) -> tuple[str, ...]:
        """Absolute paths, in the order of their first change; those of commands that were cut off too, for which it looks."""
        cut_off = (path for before in self._before.values() for path in _written(before))
        return tuple(dict.fromkeys((*self._files, *cut_off)))

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say; for a command that runs, how the files are that it redirects to."""
        told = await self._inner.before_tool(call)
        if isinstance(told, Proceed) and call.name == "bash":
            script = str(((told.call or call).arguments or {}).get("command", ""))
            if targets := redirect_targets(script):
                self._before[call.id] = await anyio.to_thread.run_sync(self._marks, targets)
        return told

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Remember, then what the inner hooks say."""
        if before := self._before.pop(call.id, None):
            written = await anyio.to_thread.run_sync(_written, before)
            output = replace(output, details={**(output.details or {}), "changed": written}) if written else output
        changed = (output.details or {}).get("changed", ())
        self._note([(str(path), _diff(output)) for path in changed])
        return await self._inner.after_tool(call, output)

    def _note(self, written: list[tuple[str, str]]) -> None:
        self._files.update(dict.fromkeys(path for path, _ in written))
        self.written += written
        if self._above is not None:
            self._above._note(written)

    def _marks(self, targets: Sequence[str]) -> dict[str, _Mark]:
        paths = (os.path.realpath(self._cwd / target) for target in targets)
        return {path: _mark(path) for path in paths}


def _diff(output: ToolOutput) -> str:
    details = output.details or {}
    return str(details.get("diff") or f"({details.get('diff_note') or details.get('kind') or 'written by a command'})")


def _written(before: dict[str, _Mark]) -> list[str]:
    return [shown_name(path) for path, mark in before.items() if (now := _mark(path)) and now != mark]


def _mark(path: str) -> _Mark:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else ()
