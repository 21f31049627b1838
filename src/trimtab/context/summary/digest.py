"""The digest: a summary that no model makes.

    user m1: Fix the parser. Never touch the schema.
    assistant m2: I'll look.
      read {"path": "parse.py"}
    read r7 (error): parse.py: no such file

Always the same for the same messages, and of at most `max_tokens`. Each message keeps its role, tool and error state, its first and last
lines, and of what stands between them the facts; what the user said keeps most, and the first and the newest give way last.
"""

from collections.abc import Sequence

from trimtab.context.summary.facts import facts_in, rules_in
from trimtab.context.summary.fit import Count, Piece, Slot, both_ends, compose, fit
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import Source, sources_of
from trimtab.types.messages import Message, ToolResult

PER_MESSAGE = 160
"""Tokens of one message, unless the caller says otherwise."""
_MOST_FACTS = 12
_MOST_READ = 20_000
"""Characters of one body that are read, from both ends: a result of 10 MB must not take seconds."""
_ENDS = 3
"""Lines that are kept at each end."""


def digest(
    messages: Sequence[Message],
    *,
    count: Count,
    max_tokens: int | None = None,
    per_message: int = PER_MESSAGE,
    ids: Sequence[str] | None = None,
) -> str:
    """Return a digest of `messages` with at most `per_message` tokens of each (the user's: three times that)."""
    sources = sources_of(messages, ids)
    first = next((n for n, source in enumerate(sources) if source.by_user), -1)
    pieces = [_piece(source, per_message, count, first=n == first) for n, source in enumerate(sources)]
    return compose(pieces, count=count, gap=_gap, max_tokens=max_tokens, per_piece=per_message).text


def _piece(source: Source, per_message: int, count: Count, *, first: bool) -> Piece:
    message = source.message
    if isinstance(message, ToolResult):
        head = f"{message.tool_name} {source.id}{' (error)' if message.is_error else ''}: "
    else:
        head = f"{'earlier summary' if source.earlier_summary else message.__struct_config__.tag} {source.id}: "
    weight = 3 if source.by_user or source.earlier_summary else 1
    text = redact(both_ends(source.text, _MOST_READ))
    body = text if count(text) <= per_message * weight else _shorter(source, text, per_message * weight, count)
    slots = [Slot(head, body.strip())]
    slots += [Slot(f"\n  {call.name} ", " ".join(redact(call.raw[:_MOST_READ]).split())) for call in source.calls]
    return Piece(tuple(slots), weight, 2 if first else 1 if source.by_user else 0)


def _shorter(source: Source, text: str, max_tokens: int, count: Count) -> str:
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    head, tail = lines[:_ENDS], lines[max(_ENDS, len(lines) - _ENDS) :]
    between = "\n".join(lines[_ENDS : len(lines) - _ENDS])
    shown = "\n".join((*head, *tail))
    rules = [rule for rule in rules_in(between) if rule not in shown] if source.by_user else []
    facts = [fact for _, fact in facts_in(between) if fact not in shown][:_MOST_FACTS]
    ends = fit("\n".join(head), max_tokens=max_tokens // 3, count=count).text
    last = fit("\n".join(tail), max_tokens=max_tokens // 3, count=count).text
    said = f"[{', '.join(facts)}]" if facts else ""
    middle = fit("\n".join((*rules, said)).strip(), max_tokens=max_tokens // 4, count=count).text
    return "\n".join(part for part in (ends, "…", middle, last) if part)


def _gap(number: int) -> str:
    return f"[{number} messages left out]"
