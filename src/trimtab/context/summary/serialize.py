"""A conversation as data that another model can read without taking part in it.

    <message role="user" id="m1">
    Fix the parser. Never touch the schema.
    </message>
    <message role="assistant" id="m2">
    I'll look.
    <call id="c1" tool="read">{"path": "parse.py"}</call>
    </message>
    <message role="tool" id="r7" tool="read" call="c1" error="true" untrusted="true">
    parse.py: no such file
    </message>

Content can't end or begin an element: whatever could be read as one of our tags has its bracket replaced, look-alike brackets included.
Thinking is left out: it is the model's own draft. Images are notes. Secrets are redacted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from trimtab.context.summary.blocks import compress_source
from trimtab.context.summary.compose import Piece, Slot, compose
from trimtab.context.summary.fit import Count
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import Source, sources_of
from trimtab.types.messages import Assistant, Message, ToolCall, ToolResult, User

TAGS = ("message", "call", "omitted", "conversation", "previous-summary", "user-words", "analysis", "summary")
_INVISIBLE = r"[\s\u00ad\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\x00-\x1f]*+"
_OPENING = re.compile(
    rf"[<＜﹤‹〈⟨](?={_INVISIBLE}[/／⁄∕\\]?{_INVISIBLE}(?:{'|'.join('[-‐‑–_]?'.join(t.split('-')) for t in TAGS)}))",
    re.I,
)

_MOST_STRUCTURED = 1_000_000
"""Characters up to which a result is shortened along its structure; a longer one keeps its ends."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A serialised conversation. `shortened` and `omitted` count messages; `sources` are the ids that it speaks of."""

    text: str
    shortened: int = 0
    omitted: int = 0
    sources: tuple[str, ...] = ()

    @property
    def cut(self) -> bool:
        """Whether it holds less than the messages."""
        return bool(self.shortened or self.omitted)


def escape(text: str) -> str:
    """Return `text` with the bracket of everything that looks like one of our tags replaced by `&lt;`."""
    return _OPENING.sub("&lt;", text)


def serialize(
    messages: Sequence[Message],
    *,
    ids: Sequence[str] | None = None,
    max_tokens: int | None = None,
    per_message: int | None = None,
    count: Count = len,
) -> str:
    """Return `messages` as `<message>` elements; see `transcribe`."""
    return transcribe(messages, ids=ids, max_tokens=max_tokens, per_message=per_message, count=count).text


def transcribe(
    messages: Sequence[Message],
    *,
    ids: Sequence[str] | None = None,
    max_tokens: int | None = None,
    per_message: int | None = None,
    count: Count = len,
) -> Transcript:
    """Return `messages` as `<message>` elements, cut the same way every time when they have more than `max_tokens`.

    First long results are shortened along their structure and other bodies lose their middle (`per_message` tokens at most, the user's words three times that), then the oldest messages give
    way to a note, those of the user last and the first of them at the very end.
    """
    sources = sources_of(messages, ids)
    first = next((n for n, source in enumerate(sources) if source.by_user), -1)
    pieces = [_piece(source, count, first=n == first) for n, source in enumerate(sources)]
    composed = compose(pieces, count=count, gap=_gap, max_tokens=max_tokens, per_piece=per_message)
    return Transcript(composed.text, composed.shortened, composed.omitted, tuple(source.id for source in sources))


def _piece(source: Source, count: Count, *, first: bool) -> Piece:
    rank = 2 if first else 1 if source.by_user else 0
    return Piece(partial(_slots, source, count), source.letters, weight=3 if source.by_user else 1, rank=rank)


def _slots(source: Source, count: Count) -> tuple[Slot, ...]:
    attributes = "".join(f' {name}="{_attribute(value)}"' for name, value in _attributes(source))
    text = escape(redact(source.text))
    calls = [_call(call) for call in source.calls]
    return (
        Slot(
            f"<message{attributes}>\n",
            text,
            "\n" if text or not calls else "",
            shorten=partial(_along_structure, count) if source.untrusted and len(text) <= _MOST_STRUCTURED else None,
        ),
        *calls,
        Slot("", "", "</message>"),
    )


def _along_structure(count: Count, text: str, max_tokens: int) -> str:
    """A long result with its failures and rows rather than its ends. Reading JSON can undo what was escaped, so that is done again."""
    return escape(redact(compress_source(text, max_tokens=max_tokens, count=count).text))


def _attributes(source: Source) -> list[tuple[str, str]]:
    message = source.message
    found = [("role", "summary" if source.earlier_summary else _role(message)), ("id", source.id)]
    if isinstance(message, ToolResult):
        found += [("tool", message.tool_name), ("call", message.call_id)]
        found += [("error", "true")] if message.is_error else []
    elif isinstance(message, Assistant):
        found += [("ended", message.stop_reason)] if message.stop_reason not in ("stop", "tool_use") else []
    elif message.origin not in ("prompt", "summary"):
        found.append(("origin", message.origin))
    return [*found, ("untrusted", "true")] if source.untrusted else found


def _role(message: Message) -> str:
    return "user" if isinstance(message, User) else "tool" if isinstance(message, ToolResult) else "assistant"


def _call(call: ToolCall) -> Slot:
    head = f'<call id="{_attribute(call.id)}" tool="{_attribute(call.name)}">'
    return Slot(head, escape(redact(call.raw)), "</call>\n")


def _attribute(value: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in redact(value))
    plain = plain.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    return escape(plain)


def _gap(first: int, last: int) -> str:
    return f'<omitted messages="{last - first}"/>'
