"""The agent: a loop, its tools, its feed. Give it a provider and it runs; it knows no files, no vendors and no screens."""

from trimtab.agent.feed import Feed, Watcher
from trimtab.agent.loop import Turn
from trimtab.agent.memory import MemoryTranscript
from trimtab.agent.ports import (
    Access,
    Answer,
    Deferred,
    Emit,
    Hooks,
    NoHooks,
    Proceed,
    Prompt,
    Provider,
    Relief,
    Seat,
    SimpleTool,
    Tool,
    ToolOutput,
    ToolRun,
    Transcript,
)
from trimtab.agent.run import Agent, AgentBusy

__all__ = [
    "Access",
    "Agent",
    "AgentBusy",
    "Answer",
    "Deferred",
    "Emit",
    "Feed",
    "Hooks",
    "MemoryTranscript",
    "NoHooks",
    "Proceed",
    "Prompt",
    "Provider",
    "Relief",
    "Seat",
    "SimpleTool",
    "Tool",
    "ToolOutput",
    "ToolRun",
    "Transcript",
    "Turn",
    "Watcher",
]
