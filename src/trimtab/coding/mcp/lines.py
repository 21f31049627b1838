"""A line that a server printed as a message of the protocol: as it stands, or else what can be made of it.

    line ──the SDK's reading──▶ message
         └─ refused ──JSON that Python reads, without what no text can hold──▶ message │ an answer that nobody can read ─▶ an error in its place │ None: no message

JavaScript cuts texts in the middle of a character and writes half of it; the SDK refuses the whole answer then, and who asked would wait until their time is
over. The one rule: however large or odd a line is, it costs the event loop little.
"""

import json
import re
from typing import Any

import anyio

from trimtab.coding.mcp.tail import Tail
from trimtab.types.text import scrub_deep

_MOST_ENTRIES = 5_000
"""Of a list in a result: each is an object of the SDK's, which takes its time."""
_LISTS = ("content", "contents", "messages", "prompts", "resources", "resourceTemplates", "tools")
_ANSWER = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15})\s*,\s*"(?:result|error)"')
"""How an answer begins that can't be read further: it still is one to that request."""
_UNREADABLE = {"code": -32603, "message": "its answer isn't of the protocol"}


async def read_message(line: bytes) -> Any:
    """The message, in the SDK's shape; None for what is none."""
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415 - of the extra

    if not line.lstrip().startswith(b"{"):
        return None
    try:
        return jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return await anyio.to_thread.run_sync(_mended, line)


def _mended(line: bytes) -> Any:
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415 - of the extra

    try:
        value = scrub_deep(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        found = _ANSWER.match(line)
        value = {"id": int(found[1]), "result": None} if found else None
    if not isinstance(value, dict):
        return None
    for one in (value, {"jsonrpc": "2.0", "id": value.get("id"), "error": _UNREADABLE}):
        try:
            return jsonrpc_message_adapter.validate_python(one, by_name=False)
        except (ValueError, RecursionError):
            if "method" in value or not {"result", "error"} & value.keys():
                return None
    return None


def mend(message: Any, tail: Tail) -> None:
    """Shorten lists in a result that hold more than anybody reads, and leave out of a list of tools those for which the SDK would refuse the whole list."""
    result = getattr(message, "result", None)
    if not isinstance(result, dict):
        return
    for name in _LISTS:
        entries = result.get(name)
        if isinstance(entries, list) and len(entries) > _MOST_ENTRIES:
            more = f"[and {len(entries) - _MOST_ENTRIES:,} more, which are left out]"
            tail.say(f"{name}: the first {_MOST_ENTRIES:,} of {len(entries):,} count")
            last = [{"type": "text", "text": more}] if name == "content" else []
            result[name] = entries[:_MOST_ENTRIES] + last
    tools = result.get("tools")
    if isinstance(tools, list):
        result["tools"] = [tool for tool in tools if _is_listable(tool, tail)]


def _is_listable(tool: Any, tail: Tail) -> bool:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    if (
        isinstance(schema, dict)
        and schema.setdefault("type", "object") == "object"
        and isinstance(tool.get("name"), str)
    ):
        return True
    tail.say(f"left out, since its arguments have no schema of an object: {str(tool)[:100]}")
    return False
