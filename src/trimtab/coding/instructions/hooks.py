"""The hook that listens which files calls read and changed: their folders may have instructions, and a skill may be among them.

what calls read, changed and searched (touching.py), what redirections wrote, what the person attached to a word in between ──after──▶ instructions of its folder ──▶ told with the next request
read of a skill's file ──▶ what its `allowed-tools` grant holds for the rest of the turn
"""

import os

import anyio

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.attachment_text import attached_to
from trimtab.coding.instructions.instructions import Instructions
from trimtab.coding.instructions.touching import may_touch, paths_of
from trimtab.coding.tools.paths import Workspace
from trimtab.types.messages import ToolCall


class InstructionHooks:
    """Passes every call on to `inner`; after one that brings other instructions, `Instructions.changed` is awaited with what a person should know."""

    def __init__(self, inner: Hooks, instructions: Instructions, workspace: Workspace) -> None:
        self._inner = inner
        self._instructions = instructions
        self._workspace = workspace
        self._one = anyio.Lock()

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the inner hooks say."""
        return await self._inner.before_tool(call)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the inner hooks say; then the files are looked at."""
        output = await self._inner.after_tool(call, output)
        changed = (output.details or {}).get("changed", ())
        if not (changed or self._instructions.named) and (output.is_error or not may_touch(call)):
            return output
        async with self._one:
            news = await anyio.to_thread.run_sync(self._look, call, tuple(map(str, changed)))
            if news is not None:
                await self._instructions.changed(news)
        return output

    def _look(self, call: ToolCall, changed: tuple[str, ...]) -> tuple[str, ...] | None:
        """The news, None where the call brought no other instructions."""
        paths = {os.path.realpath(path) for path in changed}
        paths |= {path for prompt in self._instructions.take_named() for path in attached_to(prompt, self._workspace)}
        paths |= paths_of(call, self._workspace)
        if call.name == "read":
            for path in paths:
                if (skill := self._instructions.skill_at(path)) is not None and skill.model_may_load:
                    self._instructions.load(skill, running=True)
        return self._instructions.refresh() if self._instructions.touched(paths) else None
