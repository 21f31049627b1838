"""A session as Markdown: prose as it was written, calls and results in blocks of code.

Prose keeps its marks, but fetches nothing and holds no HTML: what could be either is written so that it shows as text.
"""

import re
from collections.abc import Iterator, Sequence

from trimtab.sessions.export.facts import Facts, edit_line, moment
from trimtab.sessions.export.story import Edited, Noted, Said, Step
from trimtab.sessions.export.words import arguments, bounded, diff_of, in_words, speaker
from trimtab.types.messages import Assistant, Part, Text, Thinking, ToolCall, ToolResult
from trimtab.types.text import strip_terminal

_CODE = re.compile(r"(^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\2[`~]*[ \t]*$|\Z)|`[^`\n]+`)", re.M | re.S)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINK = re.compile(r"\]\(\s*(?=(?:javascript|data|vbscript|file):)", re.I)


def markdown(facts: Facts, steps: Sequence[Step]) -> Iterator[str]:
    """Yield the document in pieces."""
    yield f"# {_line(facts.title)}\n\n"
    yield "".join(f"- {name}: {_line(value)}\n" for name, value in facts.rows)
    for step in steps:
        yield f"\n{_step(step)}\n"


def _step(step: Step) -> str:
    match step:
        case Said(message=message, time=time, label=label):
            head = f"{'##' if not isinstance(message, ToolResult) else '####'} {_line(speaker(message))}"
            head += " (failed)" if isinstance(message, ToolResult) and message.is_error else ""
            head += f" · {_line(label)}" if label else ""
            when = f" · {moment(time)}" if time else ""
            return "\n\n".join([f"{head}{when}", *_body(message)])
        case Edited():
            text = f"\n>\n{_quoted(_prose(bounded(step.text)))}" if step.text else ""
            return f"> **Context:** {_line(edit_line(step))}{text}"
        case Noted():
            return f"> {_line(step.text)}"


def _body(message: object) -> Iterator[str]:
    if isinstance(message, ToolResult):
        if diff := diff_of(message):
            yield fenced(diff, "diff")
        text = "\n".join(in_words(part) for part in message.parts)
        if text.strip():
            yield fenced(text)
        return
    parts: Sequence[Part] = getattr(message, "parts", ())
    for part in parts:
        match part:
            case Text(text=text) if text.strip():
                yield _prose(bounded(text))
            case Thinking(text=text) if text.strip():
                yield f"> *Thinking*\n>\n{_quoted(_prose(bounded(text)))}"
            case ToolCall():
                yield f"**{_line(part.name)}**\n\n{fenced(arguments(part))}"
            case Text() | Thinking():
                continue
            case _:
                yield _line(in_words(part))
    if isinstance(message, Assistant) and message.error is not None:
        yield f"> **Error:** {_line(message.error.message)}"


def fenced(text: str, language: str = "") -> str:
    """`text` as a block of code that nothing in it ends."""
    text = strip_terminal(bounded(text)).rstrip("\n")
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _prose(text: str) -> str:
    """Prose without HTML, pictures from elsewhere and links that run something; code in it stays as it is, and a block that isn't closed is."""
    pieces = _CODE.split(strip_terminal(text).strip("\n"))
    out = []
    for at in range(0, len(pieces), 3):
        plain = _TAG.sub("&lt;", pieces[at]).replace("![", r"!\[")
        out.append(_LINK.sub(r"]\\(", plain))
        if at + 1 < len(pieces):
            out.append(pieces[at + 1])
    closed = "".join(out)
    fences = re.findall(r"^ {0,3}(`{3,}|~{3,})", closed, re.M)
    return f"{closed}\n{fences[-1]}" if len(fences) % 2 else closed


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _line(text: str) -> str:
    """One line of plain text."""
    text = " ".join(strip_terminal(text).split())
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", text)
