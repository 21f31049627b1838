"""The `write` tool: a whole file, new or replaced.

Over a text file that exists, the content takes on that file's encoding, mark and CRLF line ends, and the answer says so; content that the
old encoding can't hold is written as UTF-8. The save is atomic (`disk.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, SimpleTool, ToolOutput, ToolRun
from trimtab.coding.tools.arguments import text_argument
from trimtab.coding.tools.caps import Caps, line_count
from trimtab.coding.tools.changes import change_details
from trimtab.coding.tools.disk import open_regular, save, writable
from trimtab.coding.tools.failures import answering
from trimtab.coding.tools.paths import Workspace, identities
from trimtab.coding.tools.text_files import UTF8, TextEncoding, decode, encode, line_end, sniff, with_line_end
from trimtab.types.tools import ToolSpec

SPEC = ToolSpec(
    "write",
    "Create a file or replace all of it. Folders are made. An existing file keeps its encoding and line ends.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """Content in the dress of the file it replaces, with what a reader should know about it."""

    text: str
    data: bytes
    notes: tuple[str, ...]


def write_tool(workspace: Workspace, *, caps: Caps) -> SimpleTool:
    """Return the tool."""

    async def handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        path, content = text_argument(arguments, "path"), text_argument(arguments, "content")
        return await anyio.to_thread.run_sync(lambda: _write(workspace, workspace.place(path), content, caps))

    return SimpleTool(
        SPEC,
        answering(handle),
        snippet="create or replace a file",
        accesses=lambda arguments: Access(writes=identities(workspace.place, arguments.get("path"))),
    )


def _write(workspace: Workspace, path: Path, content: str, caps: Caps) -> ToolOutput:
    shown = workspace.shown(path)
    before = writable(path, shown)
    if before is None:
        data = encode(content, UTF8)
        save(path, data, shown=shown, before=None)
        words = f"created {shown}: {line_count(content):,} lines, {len(data):,} bytes"
        return ToolOutput.text(words, details=change_details(path, "created", "", content, caps))
    with open_regular(path, shown) as (file, before):
        old = file.read(caps.edit_file_bytes)
        whole = before.st_size <= len(old)
    encoding = sniff(old, complete=whole)
    old_text = decode(old, encoding) if encoding is not None and whole else None
    fitted = _fit(content, encoding, line_end(old_text or ""))
    if whole and fitted.data == old:
        return ToolOutput.text(f"{shown} already holds exactly this; nothing was written", details={"changed": []})
    save(path, fitted.data, shown=shown, before=before)
    words = f"replaced {shown}: {line_count(fitted.text):,} lines, {len(fitted.data):,} bytes"
    notes = f" ({'; '.join(fitted.notes)})" if fitted.notes else ""
    return ToolOutput.text(words + notes, details=change_details(path, "overwritten", old_text, fitted.text, caps))


def _fit(content: str, encoding: TextEncoding | None, ends: str) -> _Fitted:
    """Dress `content` as the old file was: line ends, then encoding."""
    notes: list[str] = []
    if ends == "\r\n":
        content = with_line_end(content, "\r\n")
        notes.append("CRLF line ends kept")
    elif ends == "\n" and "\r\n" in content:
        notes.append("the old file had LF line ends; now as given")
    elif ends == "mixed":
        notes.append("the old file mixed CRLF and LF; now as given")
    if encoding is None:
        return _Fitted(content, encode(content, UTF8), (*notes, "the old content was binary"))
    if encoding.errors == "surrogateescape":
        encoding = TextEncoding(encoding.name, encoding.mark)
    try:
        data = encode(content, encoding)
    except UnicodeEncodeError:
        return _Fitted(
            content, encode(content, UTF8), (*notes, f"was {encoding.note}, which can't hold this; now UTF-8")
        )
    if encoding.note:
        notes.append(f"{encoding.note} kept")
    return _Fitted(content, data, tuple(notes))
