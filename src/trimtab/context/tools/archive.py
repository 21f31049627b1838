"""The `archive` tool: the model puts results out of its window, and brings them back."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from trimtab.context.actions import Action
from trimtab.context.tools.arguments import TEXT, TEXTS, item_name, one_of, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, ToolReply, acted
from trimtab.types.tools import ToolSpec


class ArchiveArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `archive`."""

    action: Literal["archive", "unarchive"]
    ids: tuple[str, ...]
    summary: str = ""


def archive_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    ids = TEXTS | {"minItems": 1, "description": "handles or call ids"}
    properties = {"action": one_of("archive", "unarchive"), "ids": ids, "summary": TEXT}
    return spec("archive", properties, "action", "ids")


def archive_tool(host: ContextToolHost) -> ContextTool:
    """Return the tool."""

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(ArchiveArguments, arguments, lists=("ids",))
        if isinstance(call, ToolReply):
            return call
        ids = tuple(dict.fromkeys(name for part in call.ids if (name := item_name(part))))
        if not ids:
            return ToolReply("ids is empty; give the handle at the head of a result, such as r7", is_error=True)
        if call.action == "unarchive":
            return acted(host, Action("reload", ids))
        summary = call.summary.strip()
        params = {"summary": summary} if summary else {}
        return acted(host, Action("elide", ids, params))

    return ContextTool(archive_spec(), handle)
