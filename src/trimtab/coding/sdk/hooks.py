"""Hooks of a program around those of a session: the program's look first, and see the result last.

    call ──program.before_tool──▶ (changed) call ──session: rules, person──▶ run ──session.after_tool──▶ program.after_tool ──▶ recorded

The one rule: a call that the program changed is judged as it was changed.
"""

from dataclasses import dataclass

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput, set_meanwhile
from trimtab.types.messages import ToolCall


@dataclass(frozen=True, slots=True)
class Around:
    """`outer` around `inner`."""

    outer: Hooks
    inner: Hooks

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What the outer says of the call; if it lets it run, what the inner says of what became of it."""
        told = await self.outer.before_tool(call)
        if isinstance(told, Answer) or told.call is None:
            return told if isinstance(told, Answer) else await self.inner.before_tool(call)
        set_meanwhile(_wait)  # what the changed call touches, calls behind it don't know
        verdict = await self.inner.before_tool(told.call)
        return told if isinstance(verdict, Proceed) and verdict.call is None else verdict

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What the outer makes of the inner's output."""
        return await self.outer.after_tool(call, await self.inner.after_tool(call, output))


def _wait() -> None:
    """Calls behind this one wait."""


def around(outer: Hooks | None, inner: Hooks) -> Hooks:
    """`inner`, with `outer` around it where there is one."""
    return inner if outer is None else Around(outer, inner)
