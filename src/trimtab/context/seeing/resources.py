"""Resources: what a result is about, so that a newer one about the same makes it stale.

    read(path, offset, limit) ─▶ file:PATH#LINES      write(path), edit(path) ─▶ changes file:PATH
    the same call again ─▶ call:NAME(ARGUMENTS)

Names of tools and arguments are those that agents in the field use; a tool that nobody here knows is only ever compared with itself.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.types.messages import ToolCall

_READERS = frozenset({"read", "read_file", "view", "cat", "open_file", "notebookread", "readfile"})
_WRITERS = frozenset(
    {
        "write",
        "edit",
        "multiedit",
        "write_file",
        "edit_file",
        "replace",
        "str_replace_editor",
        "create",
        "notebookedit",
        "apply_patch",
    }
)
_LISTERS = frozenset({"grep", "find", "ls", "glob", "list_dir", "list_directory", "search", "search_file_content"})
_PATHS = ("path", "file_path", "filename", "file", "absolute_path", "notebook_path", "target_file")
_SPANS = ("offset", "limit", "start_line", "end_line", "view_range", "pages")


@dataclass(frozen=True, slots=True)
class Resource:
    """What a call is about. `key`: equal keys, same content unless something changed; `path`: the file that it shows or changes."""

    key: str
    path: str | None = None
    reads: bool = False
    writes: bool = False
    whole: bool = False
    """It reads all of the file."""


def resource_of(call: ToolCall) -> Resource:
    """Return what `call` is about."""
    name = call.name.lower().rpartition("__")[2]
    arguments = call.arguments or {}
    path = _path(arguments)
    if name in _READERS and path is not None:
        spans = {key: arguments[key] for key in _SPANS if arguments.get(key) is not None}
        return Resource(f"file:{path}#{_plain(spans)}", path, reads=True, whole=not spans)
    if name in _WRITERS and path is not None:
        return Resource(f"write:{call.id}", path, writes=True)
    if name in _LISTERS or name in _READERS:
        return Resource(f"call:{name}({_plain(arguments)})", None, reads=True)
    return Resource(f"call:{name}({_plain(arguments) if arguments else call.raw})")


def _path(arguments: Mapping[str, Any]) -> str | None:
    return next((value for key in _PATHS if isinstance(value := arguments.get(key), str) and value), None)


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
