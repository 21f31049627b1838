"""The `context_status` tool: how full the window is, and with what."""

from collections.abc import Mapping
from typing import Any

from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.context.tools.arguments import spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, ToolReply
from trimtab.types.tools import ToolSpec

_BIGGEST = 10


def context_status_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    return spec("context_status", {})


def context_status_tool(host: ContextToolHost) -> ContextTool:
    """Return the tool. It takes no arguments and overlooks any."""

    def handle(_arguments: Mapping[str, Any]) -> ToolReply:
        return ToolReply(status_text(host.status()))

    return ContextTool(context_status_spec(), handle)


def status_text(observation: Observation) -> str:
    """Return the budget in one line, and the biggest items that are in view, a line each."""
    o = observation
    left = o.room - o.used
    state = f"{left:,} left" if left >= 0 else f"{-left:,} over"
    kept = f"reserve {o.reserve:,} for the answer, margin {max(0, o.window - o.room - o.reserve):,}"
    head = f"window {o.window:,} tokens, {kept}, used {o.used:,} ({o.used / max(o.room, 1):.0%} of what is usable), {state}"
    shown = sorted((item for item in o.items if item.state != "gone"), key=lambda item: (-item.tokens, item.position))
    return "\n".join((head, *(_row(item) for item in shown[:_BIGGEST])))


def _row(item: ItemFacts) -> str:
    what = " ".join(word for word in (item.tool or item.kind, "" if item.state == "full" else item.state) if word)
    marks = "".join((", pinned" if item.pinned else "", ", superseded" if item.superseded_by else ""))
    return f"  {item.handle or item.call_id or item.id} {what}: {item.tokens:,} tokens, {item.age} steps old{marks}"
