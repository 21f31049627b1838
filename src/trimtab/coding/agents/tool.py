"""The tool `task`: gives a piece of work to a subagent, whose answer comes back and nothing else.

Calls of one step run side by side. Like commands they may read anything, so they wait for earlier writes; what two of them write at the same time, they write into
one folder: an edit fails where its text isn't there any more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.agents.crew import Crew
from trimtab.coding.tools.arguments import number_argument, text_argument
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.types.errors import TrimtabError
from trimtab.types.tools import ToolSpec

SPEC = ToolSpec(
    "task",
    "Give a subagent with a fresh context one task that stands alone; only its answer comes back. Agents: general (all tools), "
    "explore (looks, changes nothing). Several in one message work side by side, in the same folder.",
    {
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "description": "all that it has to know"},
            "agent": {"type": "string", "description": "default general"},
            "max_steps": {"type": "integer"},
        },
        "required": ["prompt"],
    },
)
_DEFAULT = "general"
_STOPPED = {
    "max_steps": "it was stopped: it may make no more steps",
    "budget": "it was stopped: a limit of cost, tokens or time is reached",
    "length": "its answer was cut off by the model's limit",
    "floor": "its context can't be made any smaller",
    "refused": "the model refused",
    "empty": "the model answered nothing",
    "parked": "it waits for an answer that nobody gives it",
    "cancelled": "it was cancelled",
}


@dataclass(frozen=True, slots=True)
class TaskTool:
    """Puts the crew of a session to work."""

    crew: Crew

    @property
    def spec(self) -> ToolSpec:
        """Name, description and JSON Schema."""
        return SPEC

    @property
    def snippet(self) -> str:
        """One line for the system prompt."""
        return "let a subagent do a task that stands alone"

    @property
    def guidelines(self) -> tuple[str, ...]:
        """None."""
        return ()

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """As a command's."""
        return Access(reads="*")

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Let it work; an error result when it can't begin, or ends with nothing to say."""
        return await answering(self._work)(arguments, run)

    async def _work(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        prompt = text_argument(arguments, "prompt")
        if not prompt.strip():
            raise ToolFailure("prompt is empty: say what has to be done")
        name = text_argument(arguments, "agent", _DEFAULT)
        given = arguments.get("max_steps")
        steps = None if given is None else number_argument(arguments, "max_steps", 1, least=1)
        try:
            result = await self.crew.work(name, prompt, max_steps=steps, update=run.update)
        except TrimtabError as error:
            raise ToolFailure(f"agent {name}: {error.message}. {error.hint}".strip()) from None
        lines = [result.text] if result.text else []
        if result.reason != "stop":
            lines.append(f"[{_STOPPED.get(result.reason) or f'it failed: {result.error or result.reason}'}]")
        elif not result.text:
            lines.append("[it ended without a word]")
        return ToolOutput.text(
            "\n".join(lines),
            is_error=not result.text,
            details={
                "agent": name,
                "session_id": result.session_id,
                "session_file": result.session_file,
                "reason": result.reason,
                "steps": result.steps,
                "usage": msgspec.to_builtins(result.usage),
                "cost_usd": result.cost_usd,
                "cut_answer": result.cut,
                "changed_files": list(result.changed_files),
            },
        )
