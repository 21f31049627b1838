"""The `recall` tool: search in everything that happened, and exact text of what left the window."""

from collections.abc import Mapping
from typing import Any

import msgspec

from trimtab.context.tools.arguments import NUMBER, TEXT, item_name, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, ToolReply
from trimtab.types.errors import StoreError
from trimtab.types.tools import ToolSpec


class RecallArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `recall`."""

    query: str = ""
    id: str = ""
    page: int = 1


def recall_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    return spec("recall", {"query": TEXT, "id": TEXT, "page": NUMBER})


def recall_tool(host: ContextToolHost) -> ContextTool:
    """Return the tool."""

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(RecallArguments, arguments)
        if isinstance(call, ToolReply):
            return call
        name = item_name(call.id)
        from trimtab.context.recall.search import recall  # noqa: PLC0415 - a session that never recalls pays nothing

        answer = recall(host, query=call.query, name=name, number=call.page, max_tokens=host.page_tokens)
        told = _memo_of(host, name) if answer.is_error and name else ""
        return ToolReply(answer.text + told, is_error=answer.is_error)

    return ContextTool(recall_spec(), handle)


def _memo_of(host: ContextToolHost, name: str) -> str:
    """Where the name is a memo's and no item's: how that is read."""
    try:
        found = any(info.key == name for info in host.memos.infos())
    except StoreError:
        return ""
    return f"; there is a memo of that key: memo action=read key={name}" if found else ""
