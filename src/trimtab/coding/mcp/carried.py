"""Hooks see the tool that a call is about, not the one that carries it.

    mcp_call(name=T, arguments=A) ──▶ T(A) ──▶ hooks: guards, checkpoints, permissions ──changed to T(B)──▶ mcp_call(name=T, arguments=B)

So a hook for `mcp__SERVER__TOOL` holds whether that tool is listed or looked up.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.mcp.tool import CALL, stands_for
from trimtab.types.messages import ToolCall


@dataclass(frozen=True, slots=True)
class CarriedHooks:
    """`inner`, asked about the tools that calls are about."""

    inner: Hooks

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """What `inner` says of the call that is meant."""
        meant = stands_for(call)
        verdict = await self.inner.before_tool(meant)
        if isinstance(verdict, Answer) or verdict.call is None or meant is call:
            return verdict
        arguments = verdict.call.arguments
        if call.name == CALL:
            arguments = {"name": verdict.call.name, "arguments": arguments}
        return Proceed(replace(call, arguments=arguments))

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """What `inner` makes of the output."""
        return await self.inner.after_tool(stands_for(call), output)
