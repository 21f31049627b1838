"""The texts of a session that a search looks through.

    entries, of all branches ──▶ what was said, thought, called and answered ──without secrets, at most so long──▶ rows

The one rule: a row depends on the file up to its own line and on nothing else, so what was added later adds rows and changes none.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, assert_never

from trimtab.context.archive import Archive
from trimtab.context.stores.bodies import BodyStore, inflate
from trimtab.context.stores.scan import Scan
from trimtab.context.summary.redact import redact
from trimtab.types.codec import Entry
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Image, Message, Opaque, Part, Text, Thinking, ToolCall

TITLE_LINE = -1
"""Where the title stands: on no line, for it changes."""
_HEAD, _TAIL = 16_000, 4_000
"""Characters of the beginning and of the end of a text that are looked through."""


@dataclass(frozen=True, slots=True)
class Row:
    """A text, the line and entry that it comes from (none: it is the title), and who said it when (`user`, `assistant`, `tool`, `title`)."""

    line: int
    entry: str
    role: str
    time: str
    text: str


def rows_of(found: Scan, bodies: BodyStore, *, after: int = 0) -> Iterator[Row]:
    """The rows of a session that come from lines behind line `after`, in order, and its title."""
    archive = Archive()
    for line, entry in found.numbered():
        if archive.add(entry, line=line) is None or line <= after or entry.type != "message":
            continue
        if row := _row(entry, line, bodies):
            yield row
    if archive.title:
        yield Row(TITLE_LINE, "", "title", "", _bounded(archive.title))


def _row(entry: Entry, line: int, bodies: BodyStore) -> Row | None:
    if not isinstance(value := entry.value, MessageEntry):
        return None
    text = _bounded(text_of(inflate(value.message, bodies)))
    role = str(value.message.__struct_config__.tag)
    return Row(line, entry.id, role, entry.time, text) if text else None


def text_of(message: Message) -> str:
    """All that a message says, as text."""
    return "\n".join(filter(None, map(_part, message.parts)))


def _part(part: Part) -> str:
    match part:
        case Text() | Thinking():
            return part.text
        case ToolCall(arguments=None):
            return f"{part.name} {part.raw}"
        case ToolCall():
            return " ".join((part.name, *_strings(part.arguments)))
        case Image():
            return part.name or ""
        case Opaque():
            return ""
        case _:
            assert_never(part)


def _strings(value: Any) -> Iterable[str]:
    """The strings in a JSON value, in order, and its numbers; without names of fields, which every call of a tool repeats."""
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _strings(one)
        case list() | tuple():
            for one in value:
                yield from _strings(one)
        case bool() | None:
            pass
        case _:
            yield str(value)


def _bounded(text: str) -> str:
    """`text` without secrets and NUL, and without its middle where it is long. Secrets go first: a cut could leave half of one."""
    if len(text) > 8 * _HEAD:
        text = f"{text[: 4 * _HEAD]}\n…\n{text[-4 * _HEAD :]}"
    text = redact(text).replace("\0", " ").strip()
    return text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n…\n{text[-_TAIL:]}"
