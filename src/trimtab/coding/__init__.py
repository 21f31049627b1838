"""The coding agent without a user interface, for programs: `from trimtab.coding import Session`.

    async with Session.open(".", model="openai/gpt-5.1") as session:
        reply = await session.prompt("Why does the test fail?")
        print(reply.text, reply.changed_files)

Every name of `__all__` is the interface, and nothing is loaded before it is asked for. docs/sdk.md says how it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trimtab.agent.events import (
        BudgetChanged,
        ContextEdited,
        Error,
        Event,
        JobEnded,
        JobStarted,
        MessageDelta,
        MessageEnded,
        MessageStarted,
        Notice,
        Result,
        Retry,
        SessionOpened,
        StepEnded,
        StepStarted,
        ToolEnded,
        ToolParked,
        ToolStarted,
        ToolUpdate,
        TurnEnded,
        TurnStarted,
        VerifyEnded,
    )
    from trimtab.agent.feed import Watcher
    from trimtab.agent.ports import (
        Access,
        Answer,
        Deferred,
        Hooks,
        NoHooks,
        Proceed,
        Provider,
        SimpleTool,
        Tool,
        ToolOutput,
        ToolRun,
    )
    from trimtab.agent.run import AgentBusy
    from trimtab.coding.person import NOBODY, Option, Person, Question
    from trimtab.coding.sdk.commanding import Commanded
    from trimtab.coding.sdk.options import OpenOptions
    from trimtab.coding.sdk.reply import Reply
    from trimtab.coding.sdk.run import run
    from trimtab.coding.sdk.stream import Stream
    from trimtab.coding.sdk.tools import FunctionTool, tool
    from trimtab.coding.session import Session
    from trimtab.context.actions import Action
    from trimtab.context.policies.base import Policy
    from trimtab.context.seeing.observation import Observation
    from trimtab.providers.scripted import ScriptedProvider
    from trimtab.types.errors import (
        BudgetExceeded,
        ConfigError,
        ProviderError,
        SessionError,
        SessionLocked,
        StoreError,
        TrimtabError,
        UnknownModel,
        UnknownSession,
        UsageError,
    )
    from trimtab.types.messages import Assistant, Image, Text, ToolResult, User
    from trimtab.types.models import ModelInfo
    from trimtab.types.tools import ToolSpec
    from trimtab.types.usage import Usage

_PLACES = {
    "trimtab.agent.events": "BudgetChanged ContextEdited Error Event JobEnded JobStarted MessageDelta MessageEnded MessageStarted Notice Result Retry SessionOpened StepEnded StepStarted ToolEnded ToolParked ToolStarted ToolUpdate TurnEnded TurnStarted VerifyEnded",
    "trimtab.agent.feed": "Watcher",
    "trimtab.agent.ports": "Access Answer Deferred Hooks NoHooks Proceed Provider SimpleTool Tool ToolOutput ToolRun",
    "trimtab.agent.run": "AgentBusy",
    "trimtab.coding.person": "NOBODY Option Person Question",
    "trimtab.coding.sdk.commanding": "Commanded",
    "trimtab.coding.sdk.options": "OpenOptions",
    "trimtab.coding.sdk.reply": "Reply",
    "trimtab.coding.sdk.run": "run",
    "trimtab.coding.sdk.stream": "Stream",
    "trimtab.coding.sdk.tools": "FunctionTool tool",
    "trimtab.coding.session": "Session",
    "trimtab.context.actions": "Action",
    "trimtab.context.policies.base": "Policy",
    "trimtab.context.seeing.observation": "Observation",
    "trimtab.providers.scripted": "ScriptedProvider",
    "trimtab.types.errors": "BudgetExceeded ConfigError ProviderError SessionError SessionLocked StoreError TrimtabError UnknownModel UnknownSession UsageError",
    "trimtab.types.messages": "Assistant Image Text ToolResult User",
    "trimtab.types.models": "ModelInfo",
    "trimtab.types.tools": "ToolSpec",
    "trimtab.types.usage": "Usage",
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names.split()}

__all__ = [
    "NOBODY",
    "Access",
    "Action",
    "AgentBusy",
    "Answer",
    "Assistant",
    "BudgetChanged",
    "BudgetExceeded",
    "Commanded",
    "ConfigError",
    "ContextEdited",
    "Deferred",
    "Error",
    "Event",
    "FunctionTool",
    "Hooks",
    "Image",
    "JobEnded",
    "JobStarted",
    "MessageDelta",
    "MessageEnded",
    "MessageStarted",
    "ModelInfo",
    "NoHooks",
    "Notice",
    "Observation",
    "OpenOptions",
    "Option",
    "Person",
    "Policy",
    "Proceed",
    "Provider",
    "ProviderError",
    "Question",
    "Reply",
    "Result",
    "Retry",
    "ScriptedProvider",
    "Session",
    "SessionError",
    "SessionLocked",
    "SessionOpened",
    "SimpleTool",
    "StepEnded",
    "StepStarted",
    "StoreError",
    "Stream",
    "Text",
    "Tool",
    "ToolEnded",
    "ToolOutput",
    "ToolParked",
    "ToolResult",
    "ToolRun",
    "ToolSpec",
    "ToolStarted",
    "ToolUpdate",
    "TrimtabError",
    "TurnEnded",
    "TurnStarted",
    "UnknownModel",
    "UnknownSession",
    "Usage",
    "UsageError",
    "User",
    "VerifyEnded",
    "Watcher",
    "run",
    "tool",
]


def __getattr__(name: str) -> Any:
    """Load the module of a name of the interface when it is first asked for."""
    if (module := _MODULES.get(name)) is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    """The names of the interface, loaded or not."""
    return [*globals(), *_MODULES]
