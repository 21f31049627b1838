"""The digest: a summary that no model makes.

    user m1: Fix the parser. Never touch the schema.
    assistant m2: I'll look.
    → read {"path": "parse.py"}
    read r7 (error): parse.py: no such file
    [… 2 calls, 2 results]

Always the same for the same messages, and of at most `max_tokens`. What was said outlives what was printed: first the output of tools shrinks to its
first and last words and gives way, then calls, failures, remarks between calls, answers, and at the very end what the user asked for; of each
kind the oldest go first. Long output keeps its ends and, of what stands between them, the facts.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from trimtab.context.summary.compose import Piece, Slot, compose
from trimtab.context.summary.facts import FactKind, facts_in, rules_in
from trimtab.context.summary.fit import Count, both_ends, fit
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import Source, sources_of
from trimtab.types.messages import Message, ToolResult, User

PER_MESSAGE = 160
"""Tokens of one message, unless the caller says otherwise."""
_MOST_FACTS = 12
_MOST_READ = 20_000
"""Characters of one body that are read, from both ends: a result of 10 MB must not take seconds."""
_ENDS = 3
"""Lines that are kept at each end."""
_FEW = 48
"""Tokens below which a body is nothing but its first and last words."""


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
_LEAST = {_Kind.OUTPUT: 12, _Kind.CALLS: 12, _Kind.FAILURE: 24, _Kind.REMARK: 32}
_SPOKEN_LEAST = 64
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
    make = _calls if kind is _Kind.CALLS else partial(_words, count=count)
    return Piece(partial(make, part.source), part.source.letters, weight, kind, least)


def _calls(source: Source) -> tuple[Slot, ...]:
    written = [(call.name, " ".join(redact(call.raw[:_MOST_READ]).split())) for call in source.calls]
    return tuple(Slot(("\n" if n else "") + f"→ {name} ", raw) for n, (name, raw) in enumerate(written))


def _words(source: Source, *, count: Count) -> tuple[Slot, ...]:
    message = source.message
    if isinstance(message, ToolResult):
        head = f"{message.tool_name} {source.id}{' (error)' if message.is_error else ''}: "
    else:
        head = f"{_role(source)} {source.id}: "
    text = redact(both_ends(source.text, _MOST_READ)).strip()
    return (Slot(head, text, shorten=partial(_shorter, source, count)),)


def _role(source: Source) -> str:
    if source.earlier_summary:
        return "earlier summary"
    return "user" if isinstance(source.message, User) else "assistant"


def _shorter(source: Source, count: Count, text: str, max_tokens: int) -> str:
    """The ends of a text; of what stands between them, where there is room, the user's rules or the facts in what a tool printed."""
    ends = partial(fit, count=count, mark=_dots)
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if max_tokens < _FEW or not (source.by_user or source.untrusted) or len(lines) <= 2 * _ENDS:
        return ends("\n".join(lines), max_tokens=max_tokens).text
    head, tail = lines[:_ENDS], lines[-_ENDS:]
    between = "\n".join(lines[_ENDS:-_ENDS])
    shown = "\n".join((*head, *tail))
    rules = [rule for rule in rules_in(between) if rule not in shown] if source.by_user else []
    facts = [(kind, fact) for kind, fact in facts_in(between) if fact not in shown]
    room = max_tokens // 4
    middle = ends("\n".join(rules), max_tokens=room).text or _facts_line(facts, count, room)
    first, last = (ends("\n".join(part), max_tokens=max_tokens // 3).text for part in (head, tail))
    return "\n".join(part for part in (first, "…", middle, last) if part)


def _facts_line(facts: Sequence[tuple[FactKind, str]], count: Count, room: int) -> str:
    """As many facts as fit, whole ones: figures last, for a listing is full of them."""
    chosen: list[str] = []
    for _, fact in sorted(facts, key=lambda found: found[0] == "number"):
        if len(chosen) == _MOST_FACTS or count(f"[{', '.join((*chosen, fact))}]") > room:
            break
        chosen.append(fact)
    return f"[{', '.join(chosen)}]" if chosen else ""


def _dots(_left_out: int) -> str:
    return "…"


def _gap(parts: Sequence[_Part], first: int, last: int) -> str:
    """What is missing, by kind: `[… 1 user message, 12 calls, 12 results]`."""
    numbers: Counter[str] = Counter()
    for part in parts[first:last]:
        what, number = part.counted
        numbers[what] += number
    said = (f"{number} {what}" + "s" * (number > 1) for what, number in numbers.items())
    return f"[… {', '.join(said)}]"
