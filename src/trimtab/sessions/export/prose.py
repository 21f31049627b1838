"""Text as HTML: escaped, harmless, with blocks of code, `code` and **words** set apart. Nothing in it leads anywhere."""

import html
import re

from trimtab.sessions.export.words import bounded
from trimtab.types.text import strip_terminal

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^\n`]*)\n(.*?)(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.M | re.S)
_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")
_BLANKS = re.compile(r"\n[ \t]*\n\s*")
_DIFF = ("diff", "patch")


def escaped(text: str) -> str:
    """`text` for anywhere in a page: no tag, no quote, no control character, no turning of directions."""
    return html.escape(strip_terminal(text).replace("\u2028", "\n").replace("\u2029", "\n"))


def prose(text: str) -> str:
    """What somebody wrote, in paragraphs and blocks of code."""
    text = strip_terminal(bounded(text))
    out: list[str] = []
    at = 0
    for block in _FENCE.finditer(text):
        out += _paragraphs(text[at : block.start()])
        language = block[2].strip().lower()
        out.append(diff(block[3]) if language in _DIFF else code(block[3]))
        at = block.end()
    return "\n".join([*out, *_paragraphs(text[at:])])


def code(text: str) -> str:
    """A block of code, or of what a program printed."""
    return f'<pre dir="ltr"><code>{escaped(bounded(text).rstrip())}</code></pre>'


def diff(text: str) -> str:
    """A unified diff, a line each."""
    lines = "".join(_diff_line(line) for line in bounded(text).rstrip("\n").split("\n"))
    return f'<pre class="diff" dir="ltr"><code>{lines}</code></pre>'


def _diff_line(line: str) -> str:
    head = line.startswith(("+++", "---", "@@"))
    kind = "at" if head else {"+": "add", "-": "del"}.get(line[:1], "")
    return f'<span class="{kind}">{escaped(line) or " "}</span>' if kind else f"<span>{escaped(line) or ' '}</span>"


def _paragraphs(text: str) -> list[str]:
    return [f'<p dir="auto">{_inline(piece.strip(chr(10)))}</p>' for piece in _BLANKS.split(text) if piece.strip()]


def _inline(text: str) -> str:
    out: list[str] = []
    at = 0
    for found in _INLINE.finditer(text):
        out.append(escaped(text[at : found.start()]))
        code, strong = found.groups()
        out.append(f"<code>{escaped(code)}</code>" if code else f"<strong>{escaped(strong)}</strong>")
        at = found.end()
    return "".join([*out, escaped(text[at:])])
