"""A page as text: its characters decoded, HTML as Markdown without what browsers don't show.

    bytes, content type ──charset──▶ text ──HTML?──▶ Markdown (extra `fetch`), else the text as it came

What a page hides from people (`hidden`, comments, scripts) is left out: a model shouldn't read what the person who allowed the page can't see.
"""

import codecs
import re
from contextlib import suppress

from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.terminal import plain
from trimtab.types.extras import install_command

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_NAMED = re.compile(r"""charset\s*=\s*["']?([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_SNIFFED = 4_096
_MARKS_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_TEXTS = (
    "json",
    "xml",
    "javascript",
    "ecmascript",
    "yaml",
    "toml",
    "x-ndjson",
    "x-sh",
    "x-www-form-urlencoded",
    "graphql",
)
_DEEPEST = 200
_BLANK_LINES = re.compile(r"\n{3,}")


def text_of(body: bytes, content_type: str) -> tuple[str, str]:
    """Return the text, and in a word or two what it is. Raises `ToolFailure` for a body that is no text."""
    kind = content_type.partition(";")[0].strip().lower()
    if not _is_text(kind, body):
        raise ToolFailure(f"it is {kind or 'binary'}, {len(body):,} bytes, and no text; a command can download it")
    text = _decoded(body, content_type)
    if kind in ("text/html", "application/xhtml+xml") or (not kind and _looks_like_html(text)):
        return _markdown(text)
    return plain(text), kind or "text"


def _is_text(kind: str, body: bytes) -> bool:
    if kind and not kind.startswith("text/"):
        return any(word in kind.partition("/")[2] for word in _TEXTS)
    return body.startswith(_MARKS_16) or b"\x00" not in body[:_SNIFFED]


def _decoded(body: bytes, content_type: str) -> str:
    """A mark at the start says what the characters are, then the server, then the page; UTF-8 if all are silent."""
    if body.startswith(_MARKS_16):
        return body.decode("utf-16", "replace")
    named = _NAMED.search(content_type)
    meta = _CHARSET.search(body[:_SNIFFED])
    for name in (named and named[1], meta and meta[1].decode("ascii")):
        with suppress(LookupError, UnicodeError, ValueError):  # no encoding of text, or one that fails on this
            if name:
                return body.decode(name, "replace")
    return body.decode("utf-8-sig", "replace")


def _looks_like_html(text: str) -> bool:
    return text[:_SNIFFED].lstrip().lower().startswith(("<!doctype html", "<html"))


def _markdown(html: str) -> tuple[str, str]:
    try:
        import html_to_markdown as h  # noqa: PLC0415 - an extra
    except ImportError:
        return plain(html), f"HTML as it came: a person makes text of it possible with `{install_command('fetch')}`"
    options = h.ConversionOptions(
        extract_metadata=False,
        preprocessing=h.PreprocessingOptions(enabled=True, remove_navigation=True, remove_forms=False),
        skip_images=True,
        inline_data_media=h.InlineDataMedia.DROP_ELEMENT,
        hidden_content=h.HiddenContent.DROP,
        max_depth=_DEEPEST,
    )
    try:
        made = h.convert(html, options).content or ""
    except h.ConversionError as error:
        return plain(html), f"HTML as it came, since no text could be made of it: {str(error)[:100]}"
    return _BLANK_LINES.sub("\n\n", plain(made)).strip(), "HTML, as Markdown"
