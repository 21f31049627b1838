"""Text on disk: which bytes are text, in which encoding, with which line ends, and back without a byte changed.

`sniff` decides by content: a byte-order mark, UTF-8, mostly-UTF-8 with damage, else a single-byte Western encoding; a NUL or many
control characters make it binary. The one rule: `encode(decode(data, e), e) == data` for the encoding that `sniff` names, so an edit
touches only what it was asked to touch.
"""

import codecs
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.types.text import scrub

LineEnd: TypeAlias = Literal["\n", "\r\n", "mixed", ""]
"""How lines end; "" is a text of one line."""

_MARKS = (  # the longer first: the mark of UTF-32-LE starts with that of UTF-16-LE
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_ODD_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\b\x1b")) + b"\x7f"
_ODD_SHARE = 0.02
"""A single-byte text with more odd control characters than this is taken for binary."""


@dataclass(frozen=True, slots=True)
class TextEncoding:
    """An encoding as one file uses it. `errors` is the codec's error handler that makes the way back exact."""

    name: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"

    @property
    def note(self) -> str:
        """What is unusual about it, in words; "" for plain UTF-8."""
        if self.errors == "surrogateescape":
            return "UTF-8 with invalid bytes"
        name = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}.get(self.name, self.name.upper())
        if self.mark:
            return f"{name} with BOM"
        return "" if self.name == "utf-8" else f"{name}, not UTF-8"


UTF8 = TextEncoding()


def sniff(data: bytes, *, complete: bool = True) -> TextEncoding | None:
    """Return the encoding of `data`, or None when it is binary. `complete=False`: `data` is only the start of a file."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _marked(data, mark, name, complete=complete)
    if b"\0" in data:
        return None
    bad = _invalid_utf8(data, complete=complete)
    if bad == 0:
        return UTF8
    odd = len(data) - len(data.translate(None, _ODD_CONTROLS))
    if odd > len(data) * _ODD_SHARE:
        return None
    if _valid_multibyte(data) > bad:
        return TextEncoding("utf-8", errors="surrogateescape")
    return TextEncoding("cp1252" if _decodes(data, "cp1252") else "latin-1")


def decode(data: bytes, encoding: TextEncoding) -> str:
    """Return the text of `data` without its mark. Raises `UnicodeDecodeError` when `encoding` isn't its encoding."""
    return data[len(encoding.mark) :].decode(encoding.name, encoding.errors)


def encode(text: str, encoding: TextEncoding) -> bytes:
    """Return `text` as bytes with the mark. Raises `UnicodeEncodeError` for a character the encoding lacks."""
    return encoding.mark + text.encode(encoding.name, encoding.errors)


def visible(text: str) -> str:
    """Return decoded text as a model may see it: undecodable bytes and NULs become U+FFFD, CRLF becomes LF."""
    return scrub(text).replace("\r\n", "\n").replace("\0", "\ufffd")


def line_end(text: str) -> LineEnd:
    """Return how the lines of `text` end. A lone CR is no line end."""
    crlf = text.count("\r\n")
    lf = text.count("\n") - crlf
    if crlf and lf:
        return "mixed"
    return "\r\n" if crlf else "\n" if lf else ""


def with_line_end(text: str, end: str) -> str:
    """Return `text` with every line ended by `end` (LF or CRLF); never doubles a CR."""
    text = text.replace("\r\n", "\n")
    return text.replace("\n", "\r\n") if end == "\r\n" else text


def _marked(data: bytes, mark: bytes, name: str, *, complete: bool) -> TextEncoding | None:
    width = 4 if "32" in name else 2 if "16" in name else 1
    body = data[len(mark) :]
    if not complete:
        body = body[: len(body) // width * width]
    if name == "utf-8":
        strict = _invalid_utf8(body, complete=complete) == 0
        return TextEncoding(name, mark, "strict" if strict else "surrogateescape")
    errors = "surrogatepass" if name.startswith("utf-16") else "strict"
    try:
        text = codecs.getincrementaldecoder(name)(errors).decode(body, complete)
    except UnicodeDecodeError:
        return None
    odd = sum(text.count(chr(c)) for c in _ODD_CONTROLS)
    return None if odd > len(text) * _ODD_SHARE else TextEncoding(name, mark, errors)


def _invalid_utf8(data: bytes, *, complete: bool) -> int:
    """The number of places where `data` isn't UTF-8; a code point cut by the end counts only when `complete`."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, complete)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
        return len(text) - len(data.decode("utf-8", "ignore"))
    return 0


def _valid_multibyte(data: bytes) -> int:
    text = data.decode("utf-8", "ignore")
    return len(text) - len(text.encode("ascii", "ignore"))


def _decodes(data: bytes, name: str) -> bool:
    try:
        data.decode(name)
    except UnicodeDecodeError:
        return False
    return True
