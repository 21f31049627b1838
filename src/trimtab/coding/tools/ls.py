"""The `ls` tool: what is in a folder, a row for each entry.

`name/` is a folder, `name -> target` a link; files carry their size. Hidden entries are shown. A huge folder is counted up to a
bound and listed up to the row cap.
"""

import itertools
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, SimpleTool, ToolOutput, ToolRun
from trimtab.coding.tools.arguments import text_argument
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.failures import ToolFailure, answering, os_failure
from trimtab.coding.tools.paths import Workspace, missing, shown_name
from trimtab.types.tools import Cut, ToolSpec

_COUNTED = 100_000
"""Names that are read of a folder, sorted and counted."""
_NARROWER = "use find or grep to narrow it down"
_KINDS = ((stat.S_ISFIFO, "named pipe"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "device"), (stat.S_ISBLK, "device"))

SPEC = ToolSpec(
    "ls",
    "List a folder, hidden entries too: folders end in /, links show their target, files their size.",
    {"type": "object", "properties": {"path": {"type": "string", "description": "default: working folder"}}},
)


def ls_tool(workspace: Workspace, *, caps: Caps) -> SimpleTool:
    """Return the tool."""

    async def handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        path = text_argument(arguments, "path", ".") or "."
        return await anyio.to_thread.run_sync(
            lambda: list_folder(workspace, workspace.locate(path), caps), abandon_on_cancel=True
        )

    return SimpleTool(
        SPEC,
        answering(handle),
        snippet="list a folder",
        accesses=lambda _arguments: Access(reads="*"),  # a row tells of a file that another call may be writing
    )


def list_folder(workspace: Workspace, path: Path, caps: Caps) -> ToolOutput:
    """Return what `ls` answers for `path`, and for a file its row. Raises `ToolFailure` for what can't be listed. Blocks on the disk: call it in a thread."""
    shown = workspace.shown(path)
    try:
        names, more = _names(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        if os.path.lexists(path):
            return ToolOutput.text(_row(path.parent, path.name), details={"path": shown})
        if isinstance(error, NotADirectoryError):
            raise ToolFailure(os_failure(error, shown)) from None
        raise missing(path, shown) from None
    except OSError as error:
        raise ToolFailure(os_failure(error, shown)) from error
    names = [name for name in names if not workspace.is_denied(path / name)]
    names.sort(key=lambda name: (name.casefold(), name))
    listed = [_row(path, name) for name in names[: caps.list_rows]]
    text, cut = "\n".join(listed) or f"{shown} is empty", None
    if len(listed) < len(names):
        total = f"{'more than ' if more else ''}{len(names):,}"
        text += f"\n[{len(listed):,} of {total} entries; {_NARROWER}]"
        cut = Cut("rows", ((1, len(listed)),), None if more else len(names), shown, _NARROWER)
    return ToolOutput.text(text, details={"path": shown}, cut=cut)


def _names(path: Path) -> tuple[list[str], bool]:
    """The names in the folder, up to the bound, and whether there are more."""
    with os.scandir(path) as entries:
        names = [entry.name for entry in itertools.islice(entries, _COUNTED + 1)]
    return names[:_COUNTED], len(names) > _COUNTED


def _row(folder: Path, name: str) -> str:
    path, shown = folder / name, shown_name(name)
    try:
        status = os.lstat(path)
    except OSError as error:
        return f"{shown}  ({os_failure(OSError(error.errno, error.strerror))})"
    if stat.S_ISLNK(status.st_mode):
        return _link_row(path, shown)
    if stat.S_ISDIR(status.st_mode):
        return f"{shown}/"
    if stat.S_ISREG(status.st_mode):
        return f"{shown}  {_size(status.st_size)}"
    return f"{shown}  ({next((words for test, words in _KINDS if test(status.st_mode)), 'special file')})"


def _link_row(path: Path, shown: str) -> str:
    try:
        target = shown_name(os.readlink(path))
    except OSError:
        return f"{shown} -> ?"
    end = "/" if path.is_dir() else "" if path.exists() else "  (broken)"
    return f"{shown} -> {target}{end}"


def _size(size: int) -> str:
    if size < 1024:
        return f"{size} B"
    value, unit = size / 1024, "KB"
    for bigger in ("MB", "GB", "TB"):
        if value < 1024:
            break
        value, unit = value / 1024, bigger
    return f"{value:.1f} {unit}"
