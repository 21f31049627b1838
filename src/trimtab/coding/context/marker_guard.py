"""The guard that keeps stubs and pointers out of files: a hook in front of every tool that writes.

A model that copies the line which stands for an archived text, or makes one up, writes that line instead of the text. Such a call is answered
with what to read first. Which texts those are, `context/markers.py` says.
"""

from collections.abc import Callable

import anyio

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.types.messages import ToolCall

Refuse = Callable[[ToolCall], str | None]
WRITERS = frozenset({"write", "edit", "bash"})
"""Tools whose arguments end up in files."""
SEARCHED = frozenset({"old", "oldText", "old_text", "old_string"})
"""Arguments that are only looked for: a marker that got into a file once must be removable."""


class MarkerGuard:
    """Answers calls that would write a marker in place of a text; passes all others on to `inner`."""

    def __init__(self, inner: Hooks, refuse: Refuse) -> None:
        self._inner = inner
        self._refuse = refuse

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Refuse what holds a marker; else what the inner hooks say."""
        if call.name in WRITERS and (reason := await anyio.to_thread.run_sync(self._refuse, call)):
            return Answer(ToolOutput.text(reason, is_error=True))
        return await self._inner.before_tool(call)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say."""
        return await self._inner.after_tool(call, output)
