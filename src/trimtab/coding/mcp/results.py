"""The result of a call as other tools give theirs: text within the caps, the whole in a file, pictures that can be decoded.

    content: text │ embedded text │ link │ structured ──▶ one text ──Capture──▶ head and tail, and a file that holds the whole
             image ──examined──▶ a picture, where the model takes one     audio, other bytes ──▶ a file, named in the text

Shapes: `CallToolResult`, `ReadResourceResult` and `GetPromptResult` of the protocol, as plain JSON. Nothing raises for what a server sends.
"""

import base64
import binascii
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from trimtab.agent.ports import ToolOutput
from trimtab.coding.telling.hidden import invisible_text
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import Capture, PrivateFolder
from trimtab.coding.tools.fitting import NoFit, fitted
from trimtab.coding.tools.images import BadImage, examine
from trimtab.types.messages import Image, Part, Text
from trimtab.types.text import scrub, scrub_deep

_PICTURES = 10
_SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "audio/wav": ".wav",
    "audio/mpeg": ".mp3",
    "application/pdf": ".pdf",
    "image/svg+xml": ".svg",
}


@dataclass(slots=True)
class Reader:
    """Reads results of servers. `outputs` takes what is too long or no text; `images`: whether the model takes pictures."""

    outputs: PrivateFolder
    caps: Caps = field(default_factory=Caps)
    images: bool = False

    def call(self, result: Mapping[str, Any]) -> ToolOutput:
        """What `tools/call` gave. Touches the disk."""
        gathered = _Gathered(self)
        gathered.take(result.get("content"))
        structured = result.get("structuredContent")
        if structured is not None and not gathered.texts:
            gathered.texts.append(json.dumps(scrub_deep(structured), ensure_ascii=False, indent=1))
        return gathered.output(is_error=result.get("isError") is True)

    def resource(self, result: Mapping[str, Any]) -> ToolOutput:
        """What `resources/read` gave. Touches the disk."""
        gathered = _Gathered(self)
        gathered.take({"type": "resource", "resource": one} for one in _list(result.get("contents")))
        return gathered.output(is_error=False)

    def prompt(self, result: Mapping[str, Any]) -> tuple[Part, ...]:
        """What `prompts/get` gave: a server's prompt is said by the person, whoever it is written for. None where it holds nothing. Touches the disk."""
        gathered = _Gathered(self)
        for message in _list(result.get("messages")):
            if not isinstance(message, Mapping):
                continue
            content, known = message.get("content"), len(gathered.texts)
            gathered.take(content if isinstance(content, list) else [content])
            if message.get("role") == "assistant":
                gathered.texts[known:] = [f"(assistant) {text}" for text in gathered.texts[known:]]
        if not gathered.pictures and not any(text.strip() for text in gathered.texts):
            return ()
        return gathered.output(is_error=False, between="\n\n").parts

    def text(self, text: str) -> ToolOutput:
        """Text of ours about servers, within the caps. Touches the disk."""
        gathered = _Gathered(self)
        gathered.texts.append(text)
        return gathered.output(is_error=False)


@dataclass(slots=True)
class _Gathered:
    reader: Reader
    texts: list[str] = field(default_factory=list)
    pictures: list[Image] = field(default_factory=list)

    def take(self, content: Any) -> None:
        for block in content if isinstance(content, Iterable) else ():
            if isinstance(block, Mapping):
                self._block(block)

    def output(self, *, is_error: bool, between: str = "\n") -> ToolOutput:
        text = between.join(self.texts)
        hidden = invisible_text(text) if len(text) < 1_000_000 else ()
        caps = self.reader.caps
        capture = Capture(self.reader.outputs, caps.bash_head_bytes, caps.bash_tail_bytes)
        data = scrub(text).encode("utf-8", "replace")
        for at in range(0, len(data), 1 << 20):
            capture.feed(data[at : at + (1 << 20)])
        captured = capture.finish()
        note = f"\n[hidden in it: {'; '.join(hidden[:3])}]" if hidden else ""
        said = captured.text + note or ("" if self.pictures else "(the tool returned nothing)")
        parts: tuple[Part, ...] = ((Text(said),) if said else ()) + tuple(self.pictures)
        return ToolOutput(parts, is_error=is_error, cut=captured.cut)

    def _block(self, block: Mapping[str, Any]) -> None:
        match block.get("type"):
            case "text":
                self.texts.append(str(block.get("text", "")))
            case "image":
                self._bytes(block.get("data"), block.get("mimeType"), "a picture")
            case "audio":
                self._bytes(block.get("data"), block.get("mimeType"), "a sound")
            case "resource":
                self._resource(block.get("resource"))
            case "resource_link":
                name = one_line(str(block.get("title") or block.get("name") or ""))
                self.texts.append(f"[resource {one_line(str(block.get('uri', '')))}: {name}]")
            case other:
                self.texts.append(f"[a part of type {one_line(str(other))[:40]!r}, which isn't known]")

    def _resource(self, resource: Any) -> None:
        if not isinstance(resource, Mapping):
            return
        uri = shortened(one_line(str(resource.get("uri", ""))), 500)
        if isinstance(text := resource.get("text"), str):
            self.texts.append(f"[resource {uri}]\n{text}")
        elif "blob" in resource:
            self.texts.append(f"[resource {uri}]")
            self._bytes(resource.get("blob"), resource.get("mimeType"), "bytes")

    def _bytes(self, data: Any, media_type: Any, what: str) -> None:
        kind = shortened(one_line(str(media_type or "of no type")), 60)
        try:
            raw = base64.b64decode(data, validate=False) if isinstance(data, str) else b""
        except (binascii.Error, ValueError):
            raw = b""
        if not raw:
            self.texts.append(f"[{what} ({kind}) that can't be decoded]")
            return
        caps, why = self.reader.caps, ""
        try:
            if self.reader.images and len(self.pictures) < _PICTURES:
                shown = fitted(raw, caps)
                code, info = base64.b64encode(shown.data).decode(), shown.info
                self.pictures.append(Image(info.media_type, code, width=info.width, height=info.height))
                self.texts += [f"[{what} {shown.note}]"] if shown.note else []
                return
            info = examine(raw)
            why = f", {info.width} × {info.height}"
        except NoFit as e:
            why = f", {e}"
        except BadImage:
            pass
        self.texts.append(f"[{what} ({kind}{why}, {len(raw):,} bytes): {self._kept(raw, kind)}]")

    def _kept(self, raw: bytes, kind: str) -> str:
        try:
            fd, name = self.reader.outputs.create("mcp-", _SUFFIXES.get(kind, ".bin"))
            with os.fdopen(fd, "wb") as out:
                out.write(raw)
        except OSError as e:
            return f"it could not be kept: {e.strerror or e}"
        return f"kept in {name}"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
