"""The `edit` tool: exact replacements in one file.

One edit: read the file and tell its encoding → find every old text, exactly once each (`replacements.py`) → encode as before and
save, unless the file changed in between. Bytes outside the replaced spans stay as they are: encoding, mark, line ends, final
newline, damage. There is no read-before-edit rule: a text that matches once is known well enough.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, SimpleTool, ToolOutput, ToolRun
from trimtab.coding.tools.arguments import text_argument
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.changes import change_details
from trimtab.coding.tools.disk import open_regular, save, writable
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.coding.tools.paths import Workspace, identities
from trimtab.coding.tools.replacements import Replacement, replace_all
from trimtab.coding.tools.text_files import TextEncoding, decode, encode, sniff
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

# Only `path` is required here: the loop checks arguments against this schema, and what `coerce_edit` mends must get past it.
SPEC = ToolSpec(
    "edit",
    "Replace exact texts in a file: each old by its new. Each old must occur once in the file as it is; all edits are made or none.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"old": {"type": "string"}, "new": {"type": "string"}},
                },
            },
        },
        "required": ["path"],
    },
)
_OLD = ("old", "oldText", "old_text", "old_string")
_NEW = ("new", "newText", "new_text", "new_string")


def edit_tool(workspace: Workspace, *, caps: Caps) -> SimpleTool:
    """Return the tool."""

    async def handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        arguments = coerce_edit(arguments)
        path = text_argument(arguments, "path")
        replacements = _replacements(arguments["edits"])
        return await anyio.to_thread.run_sync(lambda: _edit(workspace, workspace.locate(path), replacements, caps))

    return SimpleTool(
        SPEC,
        answering(handle),
        snippet="change parts of a file",
        guidelines=("Prefer edit to write for files that exist; put all changes of one file into one edit.",),
        accesses=lambda arguments: Access(writes=identities(workspace.locate, arguments.get("path"))),
    )


def coerce_edit(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments in the one shape `{path, edits: [{old, new}]}`.

    Models also send `edits` as JSON text, as a single object, or as one top-level pair (`oldText`, `newText` and the like); each is
    turned into the shape once, here. Raises `ToolFailure` for anything else.
    """
    edits = arguments.get("edits")
    if edits is None and any(name in arguments for name in _OLD):
        edits = [arguments]
    if isinstance(edits, str):
        try:
            edits = json.loads(edits)
        except (ValueError, RecursionError) as error:
            raise ToolFailure(f"edits must be a list of {{old, new}}; its text isn't JSON: {error}") from None
    if isinstance(edits, Mapping):
        edits = [edits]
    if not isinstance(edits, Sequence) or isinstance(edits, str):
        raise ToolFailure("edits must be a list of {old, new}")
    return {"path": arguments.get("path"), "edits": [_pair(edit) for edit in edits]}


def _pair(edit: object) -> dict[str, Any]:
    if not isinstance(edit, Mapping):
        raise ToolFailure("edits must be a list of {old, new}")
    return {"old": _first(edit, _OLD), "new": _first(edit, _NEW)}


def _first(edit: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((edit[name] for name in names if name in edit), None)


def _replacements(edits: Sequence[Mapping[str, Any]]) -> list[Replacement]:
    return [Replacement(text_argument(edit, "old"), text_argument(edit, "new")) for edit in edits]


def _edit(workspace: Workspace, path: Path, replacements: Sequence[Replacement], caps: Caps) -> ToolOutput:
    shown = workspace.shown(path)
    with open_regular(path, shown) as (file, status):
        if status.st_size > caps.edit_file_bytes:
            limit = caps.edit_file_bytes
            raise ToolFailure(
                f"{shown}: {status.st_size:,} bytes; edit takes files up to {limit:,}. Use sed or a script"
            )
        data = file.readall()
    writable(path, shown)
    encoding = sniff(data)
    if encoding is None:
        raise ToolFailure(f"{shown}: binary, {len(data):,} bytes; edit changes text only")
    text = decode(data, encoding)
    try:
        edited = replace_all(text, replacements)
    except ToolFailure as failure:
        raise ToolFailure(f"{shown} is unchanged: {failure}") from None
    save(path, _encoded(edited.text, encoding, shown), shown=shown, before=status)
    places = ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in edited.lines)
    count = f"{len(edited.lines)} replacements" if len(edited.lines) > 1 else "1 replacement"
    words = f"edited {shown}: {count}, line{'' if places.isdigit() else 's'} {places}"
    note = f" ({encoding.note} kept)" if encoding.note else ""
    return ToolOutput.text(words + note, details=change_details(path, "edited", text, edited.text, caps))


def _encoded(text: str, encoding: TextEncoding, shown: str) -> bytes:
    try:
        return encode(text, encoding)
    except UnicodeEncodeError as error:
        missing = scrub(text[error.start : error.start + 1])
        raise ToolFailure(f"{shown}: {encoding.note}; it can't hold {missing!r}. Nothing was changed") from None
