"""What authors of extensions import; [docs/extensions.md](../../docs/extensions.md) shows how.

    from trimtab.extend import Api, Deny, Here, ToolCalled

    API = 1

    def extend(api: Api) -> None:
        api.on_tool_call(no_lock_files, match="write | edit")

    def no_lock_files(call: ToolCalled, here: Here) -> Deny | None:
        return Deny("lock files are made by their tool") if call.tool_input["path"].endswith(".lock") else None

All names here belong to version 1 of the contract: within it names are added, never changed or removed.
"""

from trimtab.agent.events import Event
from trimtab.agent.ports import Access, Deferred, Provider, Tool, ToolOutput, ToolRun
from trimtab.coding.extensions.api import (
    API_VERSION,
    Api,
    Extension,
    Renderer,
    Say,
)
from trimtab.coding.extensions.here import Here
from trimtab.coding.extensions.points import (
    AfterCompaction,
    Ask,
    BeforeCompaction,
    BeforeRequest,
    Cancel,
    Change,
    Deny,
    Handled,
    Input,
    Note,
    Replace,
    Rewrite,
    SessionEnd,
    SessionStart,
    Summary,
    ToolCalled,
    ToolReturned,
    Wishes,
)
from trimtab.coding.person import Option, Question
from trimtab.types.config import ModelConfig
from trimtab.types.tools import ToolSpec

__all__ = [
    "API_VERSION",
    "Access",
    "AfterCompaction",
    "Api",
    "Ask",
    "BeforeCompaction",
    "BeforeRequest",
    "Cancel",
    "Change",
    "Deferred",
    "Deny",
    "Event",
    "Extension",
    "Handled",
    "Here",
    "Input",
    "ModelConfig",
    "Note",
    "Option",
    "Provider",
    "Question",
    "Renderer",
    "Replace",
    "Rewrite",
    "Say",
    "SessionEnd",
    "SessionStart",
    "Summary",
    "Tool",
    "ToolCalled",
    "ToolOutput",
    "ToolReturned",
    "ToolRun",
    "ToolSpec",
    "Wishes",
]
