"""The `edit_context` tool: one edit of one item, from the whole grammar of actions."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, get_args

import msgspec

from trimtab.context.actions import Action
from trimtab.context.tools.arguments import NUMBER, TEXT, TEXTS, item_name, missing, one_of, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, ToolReply, acted
from trimtab.types.tools import ToolSpec

EditName = Literal["summarize", "truncate", "compress", "fold", "delete", "restore", "expire", "pin", "unpin"]
_PERCENT = 30
"""What compress keeps unless told."""


class EditContextArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `edit_context`."""

    action: EditName
    id: str
    summary: str = ""
    first: str = ""
    last: str = ""
    percent: int = _PERCENT
    match: tuple[str, ...] = ()
    page: int | None = None
    steps: int | None = None


def edit_context_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    properties = {
        "action": one_of(*get_args(EditName)),
        "id": TEXT,
        "summary": TEXT,
        "first": TEXT,
        "last": TEXT,
        "percent": NUMBER,
        "match": TEXTS,
        "page": NUMBER,
        "steps": NUMBER,
    }
    return spec("edit_context", properties, "action", "id")


def edit_context_tool(host: ContextToolHost) -> ContextTool:
    """Return the tool."""

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(EditContextArguments, arguments, lists=("match",))
        if isinstance(call, ToolReply):
            return call
        name = item_name(call.id)
        if not name:
            return missing("id", call.action)
        action = _ACTIONS[call.action](call, name)
        if isinstance(action, ToolReply):
            return action
        return acted(host, action)

    return ContextTool(edit_context_spec(), handle)


def _summarize(call: EditContextArguments, name: str) -> Action | ToolReply:
    if not call.summary.strip():
        return missing("summary", "summarize")
    return Action("summarize", (name,), {"summary": call.summary.strip()})


def _truncate(call: EditContextArguments, name: str) -> Action | ToolReply:
    ends = {side: text for side, text in (("first", call.first), ("last", call.last)) if text.strip()}
    return Action("truncate", (name,), ends) if ends else missing("first or last, copied from the item", "truncate")


def _compress(call: EditContextArguments, name: str) -> Action | ToolReply:
    if not 1 <= call.percent <= 99:
        return ToolReply(f"percent is what is kept, 1 to 99, not {call.percent}; nothing was done", is_error=True)
    return Action("compress", (name,), {"share": call.percent / 100})


def _fold(call: EditContextArguments, name: str) -> Action:
    return Action("fold", (name,), {"keep": list(call.match)} if call.match else {})


def _restore(call: EditContextArguments, name: str) -> Action:
    return Action("reload", (name,), {} if call.page is None else {"page": call.page})


def _expire(call: EditContextArguments, name: str) -> Action | ToolReply:
    if call.steps is None:
        return Action("expire", (name,), {"when_superseded": True})
    if call.steps < 1:
        return ToolReply(f"steps is 1 or more, not {call.steps}; nothing was done", is_error=True)
    return Action("expire", (name,), {"after_steps": call.steps})


_ACTIONS: dict[EditName, Callable[[EditContextArguments, str], Action | ToolReply]] = {
    "summarize": _summarize,
    "truncate": _truncate,
    "compress": _compress,
    "fold": _fold,
    "delete": lambda _call, name: Action("drop", (name,)),
    "restore": _restore,
    "expire": _expire,
    "pin": lambda _call, name: Action("pin", (name,)),
    "unpin": lambda _call, name: Action("unpin", (name,)),
}
