"""The digest: a summary that no model makes.

    user m1: Fix the parser. Never touch the schema.
    assistant m2: I'll look.
    → read: path=parse.py
    read r7 (error): parse.py: no such file
    [… 2 calls, 2 results]

Always the same for the same messages, and of at most `max_tokens`. What was said outlives what was printed: first the output of tools shrinks to its
first, last and most telling lines and gives way, then calls, failures, remarks between calls, answers, and at the very end what the user asked
for; of each kind the oldest go first. What stays of a message are whole sentences and lines (`extract`).
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from trimtab.context.summary.call_words import call_in_words
from trimtab.context.summary.compose import Piece, Slot, compose
from trimtab.context.summary.extract import GAP, extract_printed, extract_said
from trimtab.context.summary.facts import rules_in
from trimtab.context.summary.fit import Count, both_ends, fit
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import Source, sources_of
from trimtab.types.messages import Message, ToolResult, User

PER_MESSAGE = 160
"""Tokens of one message, unless the caller says otherwise."""
_MOST_READ = 20_000
"""Characters of one body that are read, from both ends: a result of 10 MB must not take seconds."""
_SET_IN = "  "


class _Kind(IntEnum):
    """What a piece is; a higher one gives way later."""

    OUTPUT = 0
    CALLS = 1
    FAILURE = 2
    REMARK = 3
    ANSWER = 4
    ASKED = 5
    TASK = 6


_WEIGHTS = {_Kind.OUTPUT: 1, _Kind.CALLS: 1, _Kind.FAILURE: 1, _Kind.REMARK: 2}
_SPOKEN_WEIGHT = 3
_LEAST = {_Kind.OUTPUT: 32, _Kind.CALLS: 48, _Kind.FAILURE: 48, _Kind.REMARK: 48}
_SPOKEN_LEAST = 80
"""Tokens of an answer or a request that are kept if anything is."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A source's words, or its calls."""

    source: Source
    kind: _Kind

    @property
    def counted(self) -> tuple[str, int]:
        """What it is called where it is left out, and how many it is."""
        if self.kind is _Kind.CALLS:
            return "call", len(self.source.calls)
        return "result" if isinstance(self.source.message, ToolResult) else f"{_role(self.source)} message", 1


def digest(
    messages: Sequence[Message],
    *,
    count: Count,
    max_tokens: int | None = None,
    per_message: int = PER_MESSAGE,
    ids: Sequence[str] | None = None,
) -> str:
    """Return a digest of `messages` with at most `per_message` tokens of each: twice that of a remark, three times of an answer and of what the user said."""
    parts = _parts(sources_of(messages, ids))
    pieces = [_piece(part, per_message, count) for part in parts]
    return compose(pieces, count=count, gap=partial(_gap, parts), max_tokens=max_tokens, per_piece=per_message).text


def _parts(sources: Sequence[Source]) -> list[_Part]:
    first = next((n for n, source in enumerate(sources) if source.by_user), -1)
    parts: list[_Part] = []
    for n, source in enumerate(sources):
        if not source.calls or source.text.strip():
            parts.append(_Part(source, _Kind.TASK if n == first else _kind(source)))
        if source.calls:
            parts.append(_Part(source, _Kind.CALLS))
    return parts


def _kind(source: Source) -> _Kind:
    message = source.message
    if isinstance(message, ToolResult):
        return _Kind.FAILURE if message.is_error else _Kind.OUTPUT
    if isinstance(message, User):
        return _Kind.OUTPUT if source.untrusted else _Kind.ASKED
    return _Kind.REMARK if source.calls else _Kind.ANSWER


def _piece(part: _Part, per_message: int, count: Count) -> Piece:
    kind = part.kind
    weight, least = _WEIGHTS.get(kind, _SPOKEN_WEIGHT), _LEAST.get(kind, _SPOKEN_LEAST)
    make = partial(_calls if kind is _Kind.CALLS else _words, part.source, count=count)
    return Piece(make, part.source.letters, weight, kind, least)


def _calls(source: Source, *, count: Count) -> tuple[Slot, ...]:
    shorten = partial(_dotted, count)
    written = [(call.name, redact(call_in_words(call))) for call in source.calls]
    return tuple(Slot(("\n" if n else "") + f"→ {name}: ", said, "", shorten) for n, (name, said) in enumerate(written))


def _dotted(count: Count, text: str, max_tokens: int) -> str:
    return fit(text, max_tokens=max_tokens, count=count, mark=lambda _left_out: GAP).text


def _words(source: Source, *, count: Count) -> tuple[Slot, ...]:
    message = source.message
    if isinstance(message, ToolResult):
        tool = " ".join(message.tool_name.split())
        head = f"{tool} {source.id}{' (error)' if message.is_error else ''}: "
    else:
        head = f"{_role(source)} {source.id}: "
    text = redact(both_ends(source.text, _MOST_READ)).strip().removeprefix(f"[{source.id}]\n")
    if source.by_user:
        return (Slot(head, text, shorten=partial(_shorter, source, count)),)
    return (Slot(head, _set_in(text), shorten=partial(_shorter_set_in, source, count)),)


def _set_in(text: str) -> str:
    """The text with every line but the first set in: only a head begins a line, so nothing that a tool printed can pass for the user's words."""
    return f"\n{_SET_IN}".join(line.strip() if n == 0 else line for n, line in enumerate(text.splitlines()))


def _shorter_set_in(source: Source, count: Count, text: str, max_tokens: int) -> str:
    bare = text.replace(f"\n{_SET_IN}", "\n")
    room = max_tokens
    while room > 0:
        shorter = _set_in(_shorter(source, count, bare, room))
        if (size := count(shorter)) <= max_tokens:
            return shorter
        room = min(room - 1, room * max_tokens // size)
    return ""


def _role(source: Source) -> str:
    if source.earlier_summary:
        return "earlier summary"
    if source.untrusted:
        return "report"
    return "user" if isinstance(source.message, User) else "assistant"


def _shorter(source: Source, count: Count, text: str, max_tokens: int) -> str:
    """Whole sentences or lines of a text, the user's rules among them wherever they stand."""
    if source.untrusted:
        return extract_printed(text, max_tokens=max_tokens, count=count)
    rules = rules_in(text) if source.by_user else ()
    room = max_tokens // 3 if rules else 0
    demanded = _dotted(count, "\n".join(rules), room)
    said = extract_said(text, max_tokens=max_tokens - (count(demanded) + 1 if demanded else 0), count=count)
    return "\n".join((said, *(line for line in demanded.split("\n") if line and line not in said)))


def _gap(parts: Sequence[_Part], first: int, last: int) -> str:
    """What is missing, by kind: `[… 1 user message, 12 calls, 12 results]`. That a call had results needs no words."""
    numbers: Counter[str] = Counter()
    for part in parts[first:last]:
        what, number = part.counted
        numbers[what] += number
    if first and parts[first - 1].kind is _Kind.CALLS and numbers.keys() == {"result"}:
        return ""
    said = (f"{number} {what}" + "s" * (number > 1) for what, number in numbers.items())
    return f"[… {', '.join(said)}]"
