"""The `plan` tool: the plan as it stands now, said again near the end of the context while only the newest counts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from trimtab.context.actions import Action
from trimtab.context.tools.arguments import TEXT, missing, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, ToolReply, acted
from trimtab.types.tools import ToolSpec

LABEL = "plan"
"""The label of the `restate` that shows the plan."""


class PlanArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `plan`."""

    strategy: str


def plan_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    return spec("plan", {"strategy": TEXT}, "strategy")


def plan_tool(host: ContextToolHost) -> ContextTool:
    """Return the tool."""

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(PlanArguments, arguments)
        if isinstance(call, ToolReply):
            return call
        if not call.strategy.strip():
            return missing("strategy", "plan")
        return acted(host, Action("restate", params={"text": call.strategy.strip(), "label": LABEL}))

    return ContextTool(plan_spec(), handle)
