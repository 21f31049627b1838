"""The `read` tool: a file as text, or as a picture.

One read: stat (pipes, devices and folders are refused before they are opened) → the first 64 KiB say what it is → a picture is
examined whole, a notebook becomes text, binary is named, and text is windowed by lines in constant memory. Text is shown as it
stands, without line numbers, so that it can be copied into an edit; whatever is not shown is said in a last line and in `cut`.
"""

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import anyio

from trimtab.agent.ports import Access, SimpleTool, ToolOutput, ToolRun
from trimtab.coding.tools.arguments import number_argument, text_argument
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.disk import open_regular
from trimtab.coding.tools.failures import ToolFailure, answering
from trimtab.coding.tools.fitting import MOST_BYTES, NoFit, fitted, may_fit
from trimtab.coding.tools.images import BadImage, ImageInfo, examine, foreign_image, image_kind
from trimtab.coding.tools.notebooks import notebook_text
from trimtab.coding.tools.paths import Workspace, identities, shown_name
from trimtab.coding.tools.text_files import UTF8, TextEncoding, decode, sniff, visible
from trimtab.coding.tools.windows import Window, blocks, window
from trimtab.types.messages import Image, Text
from trimtab.types.tools import Cut, ToolSpec

_SNIFFED = 1 << 16
_COUNTED = 32 << 20
"""A file up to this many bytes is read to its end to count its lines."""
_NOTEBOOK = 16 << 20
_MAGIC = (
    (b"\x7fELF", "ELF executable"),
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\x1f\x8b", "gzip"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\xca\xfe\xba\xbe", "Java class or Mach-O"),
    (b"\0asm", "WebAssembly"),
    (b"GGUF", "GGUF model"),
)

SPEC = ToolSpec(
    "read",
    "Read a text file, notebook or image. Long files come in parts: go on with offset.",
    {
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "offset": {"type": "integer", "description": "first line, from 1"},
            "limit": {"type": "integer", "description": "number of lines"},
        },
        "required": ["path"],
    },
)


@dataclass(frozen=True, slots=True)
class _Target:
    """The file of one call: its path, and that path as the model knows it."""

    path: Path
    shown: str
    offset: int
    limit: int


def read_tool(workspace: Workspace, *, caps: Caps, images: bool) -> SimpleTool:
    """Return the tool. `images` says whether the model in use takes pictures."""

    async def handle(arguments: Mapping[str, Any], _run: ToolRun) -> ToolOutput:
        path = text_argument(arguments, "path")
        offset = number_argument(arguments, "offset", 1, least=1)
        limit = number_argument(arguments, "limit", caps.read_lines, least=1)

        def work() -> ToolOutput:
            found = workspace.locate(path)
            return read_file(found, workspace.shown(found), caps=caps, images=images, offset=offset, limit=limit)

        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)

    return SimpleTool(
        SPEC,
        answering(handle),
        snippet="show a file or image",
        accesses=lambda arguments: Access(reads=identities(workspace.locate, arguments.get("path"))),
    )


def read_file(
    path: Path, shown: str, *, caps: Caps, images: bool, offset: int = 1, limit: int | None = None
) -> ToolOutput:
    """Return what `read` answers for the file `path`, called `shown`: `limit` lines from line `offset` (1-based) on, or a picture.

    Raises `ToolFailure` for what can't be shown. Blocks on the disk: call it in a thread.
    """
    return _read(_Target(path, shown, offset, limit or caps.read_lines), caps, images=images)


def _read(target: _Target, caps: Caps, *, images: bool) -> ToolOutput:
    with open_regular(target.path, target.shown) as (file, status):
        head = file.read(_SNIFFED)
        if may_fit(head[:16]):
            return _image(target, file, head, status.st_size, caps, images=images)
        if target.path.suffix == ".ipynb" and status.st_size <= _NOTEBOOK:
            text = notebook_text(head + file.readall())
            if text is not None:
                return _notebook(target, text, caps)
        encoding = sniff(head, complete=len(head) < _SNIFFED)
        if encoding is None:
            return _binary(target, head, max(status.st_size, len(head)))
        file.seek(0)
        found = _window(target, blocks(file, encoding), caps, count_all=status.st_size <= _COUNTED)
    return _text(target, found, encoding)


def _notebook(target: _Target, text: str, caps: Caps) -> ToolOutput:
    found = _window(target, iter((text.encode("utf-8", "replace"),)), caps, count_all=True)
    return _text(target, found, UTF8, "notebook as text; the file itself is JSON")


def _window(target: _Target, source: Iterator[bytes], caps: Caps, *, count_all: bool) -> Window:
    lines = min(target.limit, caps.read_lines)
    found = window(source, first=target.offset, lines=lines, size=caps.read_bytes, count_all=count_all)
    if not found.data and target.offset > 1:
        raise ToolFailure(f"{target.shown}: offset {target.offset} is past the end; it has {found.total or 0:,} lines")
    return found


def _text(target: _Target, shown: Window, encoding: TextEncoding, note: str = "") -> ToolOutput:
    text, encoding = _decoded(shown, encoding)
    notes = [n for n in (note, encoding.note, "CRLF line ends" if "\r\n" in text else "") if n]
    text = visible(text)
    cut = _cut(target, shown)
    if cut is not None:
        notes.append(_range_words(shown, cut))
    if not text:
        notes.insert(0, "empty file")
    if notes:
        text += f"{'' if text.endswith(chr(10)) or not text else chr(10)}[{'; '.join(notes)}]"
    details = {"path": target.shown, "lines": [shown.first, shown.last]}
    return ToolOutput.text(text, details=details, cut=cut)


def _decoded(shown: Window, encoding: TextEncoding) -> tuple[str, TextEncoding]:
    """The window's text, and the encoding that the window itself, not only the head of the file, turns out to have."""
    if encoding.name != "utf-8":
        return shown.data.decode("utf-8", "replace"), encoding
    here = sniff(shown.data)
    if here is None or here.mark or here == UTF8:
        here = encoding
    return decode(shown.data, TextEncoding(here.name, errors="replace")), here


def _cut(target: _Target, shown: Window) -> Cut | None:
    where = target.shown
    if shown.cut_inside:
        more = f"bash: sed -n {shown.first}p FILE | cut -c{len(shown.data) + 1}-"
        return Cut("bytes", ((1, len(shown.data)),), shown.line_bytes, where, more)
    if shown.first == 1 and shown.total == shown.last:
        return None
    ranges = ((shown.first, shown.last),) if shown.last >= shown.first else ()
    rest = None if shown.total == shown.last else f"offset={shown.last + 1}"
    return Cut("lines", ranges, shown.total, where, rest)


def _range_words(shown: Window, cut: Cut) -> str:
    if shown.cut_inside:
        length = f"of {shown.line_bytes:,} " if shown.line_bytes is not None else ""
        further = f"; next line: offset={shown.first + 1}" if shown.total != shown.first else ""
        return (
            f"line {shown.first:,} is very long: its first {len(shown.data):,} {length}bytes; rest: {cut.next}{further}"
        )
    total = f" of {shown.total:,}" if shown.total is not None else ""
    return f"lines {shown.first:,}-{shown.last:,}{total}" + (f"; go on with {cut.next}" if cut.next else "")


def _binary(target: _Target, head: bytes, size: int) -> ToolOutput:
    if name := foreign_image(head[:16]):
        raise ToolFailure(
            f"{target.shown}: {name} image, {size:,} bytes; models take PNG, JPEG, GIF or WebP: convert it first"
        )
    known = next((f" ({words})" for magic, words in _MAGIC if head.startswith(magic)), "")
    return ToolOutput.text(f"{target.shown}: binary, {size:,} bytes{known}", details={"path": target.shown})


def _image(target: _Target, file: FileIO, head: bytes, size: int, caps: Caps, *, images: bool) -> ToolOutput:
    """Examine a picture and hand it over, made smaller where it has to be, or say why not: what a provider would refuse never enters the history."""
    kind = image_kind(head[:16]) or f"{foreign_image(head[:16])} image"
    if size > MOST_BYTES:
        raise ToolFailure(f"{target.shown}: {kind}, {size:,} bytes; above {MOST_BYTES:,}: make it smaller first")
    data = head + file.readall()
    if not images:
        raise ToolFailure(f"{target.shown}: {_measured(data, kind, size)}; the model in use can't see images")
    try:
        shown = fitted(data, caps)
    except BadImage as problem:
        raise ToolFailure(f"{target.shown}: {kind}, {size:,} bytes, damaged: {problem}") from None
    except NoFit as problem:
        raise ToolFailure(f"{target.shown}: {_measured(data, kind, size)}; {problem}") from None
    words = shown.note or f"{kind}, {shown.info.width}x{shown.info.height}, {size:,} bytes"
    return _picture(target, shown.data, shown.info, words)


def _measured(data: bytes, kind: str, size: int) -> str:
    try:
        info = examine(data)
    except BadImage:
        return f"{kind}, {size:,} bytes"
    return f"{kind}, {info.width}x{info.height}, {size:,} bytes"


def _picture(target: _Target, data: bytes, info: ImageInfo, words: str) -> ToolOutput:
    encoded = base64.b64encode(data).decode("ascii")
    image = Image(info.media_type, encoded, name=shown_name(target.path.name), width=info.width, height=info.height)
    return ToolOutput((Text(f"{target.shown}: {words}"), image), details={"path": target.shown})
