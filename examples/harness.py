"""The harness alone: a model, a tool, a conversation, and nothing else of Trimtab. Run: python examples/harness.py

The model is a script of two answers, so that the example needs no key; any provider goes in its place.
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any

import anyio

from trimtab.agent import Agent, SimpleTool, ToolOutput, ToolRun
from trimtab.types import ModelInfo, ModelRequest, StreamEvent, Text, ToolSpec
from trimtab.types.stream import Ended, PartEnded, make_call


class Scripted:
    """Calls the tool first and then repeats what it said."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Answer one request."""
        last = request.messages[-1]
        if hasattr(last, "call_id"):
            yield PartEnded(0, Text(f"The thermometer says {last.text}."))
            yield Ended("stop")
        else:
            yield PartEnded(0, make_call("call_1", "thermometer", '{"room": "kitchen"}'))
            yield Ended("tool_use")


async def measure(arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
    """The tool: a plain function."""
    return ToolOutput.text(f"21 °C in the {arguments['room']}")


PARAMETERS = {"type": "object", "properties": {"room": {"type": "string"}}, "required": ["room"]}


async def main() -> None:
    """Ask once and print the answer."""
    agent = Agent(
        Scripted(),
        model=ModelInfo(provider="example", id="script", api="scripted"),
        tools=[SimpleTool(ToolSpec("thermometer", "Measures a room.", PARAMETERS), measure)],
    )
    turn = await agent.prompt("How warm is it in the kitchen?")
    print(turn.text)


if __name__ == "__main__":
    anyio.run(main)
