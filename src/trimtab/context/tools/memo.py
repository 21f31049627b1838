"""The `memo` tool: what the model worked out goes to disk by a key; a summary of a line stays in view.

Content that holds a live stub or pointer is refused before it reaches the store: it would keep the name of a text for the text.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from trimtab.context.recall.pages import page
from trimtab.context.stores.note_files import Memo
from trimtab.context.stores.notes import clean_key
from trimtab.context.tools.arguments import NUMBER, TEXT, missing, one_of, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, Refuse, ToolReply
from trimtab.context.tools.indexes import memo_list
from trimtab.types.errors import StoreError
from trimtab.types.tools import ToolSpec

SUMMARY = 300
"""Characters that a summary may have."""
KEY = 200
"""Characters that a key may have."""
_HEAD_TOKENS = 48


class MemoArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `memo`."""

    action: Literal["write", "read", "list", "delete"]
    key: str = ""
    summary: str = ""
    content: str = ""
    page: int = 1


def memo_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    properties = {
        "action": one_of("write", "read", "list", "delete"),
        "key": TEXT,
        "summary": TEXT | {"maxLength": SUMMARY},
        "content": TEXT,
        "page": NUMBER,
    }
    return spec("memo", properties, "action")


def memo_tool(host: ContextToolHost, *, refuse: Refuse) -> ContextTool:
    """Return the tool. `refuse` looks at what is about to be written."""
    actions: dict[str, Callable[[MemoArguments], ToolReply]] = {
        "list": lambda call: _list(host, call),
        "write": lambda call: _write(host, call, refuse),
        "read": lambda call: _read(host, call),
        "delete": lambda call: _delete(host, call),
    }

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(MemoArguments, arguments)
        if isinstance(call, ToolReply):
            return call
        if call.action != "list" and not clean_key(call.key):
            return missing("key", call.action)
        if len(call.key) > KEY:
            return ToolReply(f"key has {len(call.key)} characters, {KEY} are allowed", is_error=True)
        try:
            return actions[call.action](call)
        except StoreError as problem:
            return ToolReply(f"{problem.message}; {problem.hint}", is_error=True)

    return ContextTool(memo_spec(), handle)


def _write(host: ContextToolHost, call: MemoArguments, refuse: Refuse) -> ToolReply:
    if not call.content.strip():
        return missing("content", "write")
    if len(call.summary) > SUMMARY:
        return ToolReply(
            f"summary has {len(call.summary)} characters, {SUMMARY} are allowed; nothing was written", is_error=True
        )
    if reason := refuse({"key": call.key, "summary": call.summary, "content": call.content}):
        return ToolReply(reason, is_error=True)
    info = host.memos.write(call.key, call.content, summary=" ".join(call.summary.split()))
    return ToolReply(f"kept memo {info.key!r}, version {info.version}: {info.size:,} bytes, verified")


def _list(host: ContextToolHost, call: MemoArguments) -> ToolReply:
    return ToolReply(page(memo_list(host.memos.infos()), call.page, host.page_tokens, host.count).text)


def _read(host: ContextToolHost, call: MemoArguments) -> ToolReply:
    memo = host.memos.read(call.key)
    if memo is None:
        return _unknown(host, call.key)
    return ToolReply(_page(host, memo, call.page))


def _page(host: ContextToolHost, memo: Memo, number: int) -> str:
    room = host.page_tokens - _HEAD_TOKENS - host.count(memo.info.key)
    part = page(memo.content, number, room, host.count)
    rest = f"; go on with page {part.number + 1}" if part.number < part.of else "; the end"
    return f"[memo {memo.info.key!r}: page {part.number} of {part.of}{rest}]\n{part.text}"


def _delete(host: ContextToolHost, call: MemoArguments) -> ToolReply:
    info = host.memos.delete(call.key)
    if info is None:
        return _unknown(host, call.key)
    return ToolReply(f"memo {info.key!r} is off the list; its versions stay on disk")


def _unknown(host: ContextToolHost, key: str) -> ToolReply:
    keys = ", ".join(repr(info.key) for info in host.memos.infos()[:20]) or "none yet"
    return ToolReply(f"no memo {clean_key(key)!r}; there are: {keys}", is_error=True)
