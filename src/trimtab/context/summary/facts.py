"""Facts in a conversation, found by rules alone: what a summary must not lose.

    number      with a unit, a currency or a name before it (`port 4711`); in the user's own words any of two digits or more
    path        of files and folders                    error   codes, exception names, signals, exit codes
    identifier  of code, tickets, commits               url     addresses
    quote       what the user put in quotation marks    rule    a sentence of the user that forbids or demands, verbatim

Each fact names the source that it was first seen in, or the message in which the user stated it. It was *used* when a call made after that names it. Only a person can make a rule
or be quoted: an order inside what a tool printed is text like any other. Secrets are no facts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trimtab.context.strings import Kept, arguments_text
from trimtab.context.summary.fit import both_ends
from trimtab.context.summary.redact import redact
from trimtab.context.summary.sources import sources_of
from trimtab.types.messages import Message

FactKind = Literal["rule", "quote", "number", "path", "identifier", "error", "url"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact: its text as it stood, the id of its source, who stated it, and the place (from 1) of the last call that used it; 0: none."""

    kind: FactKind
    text: str
    source: str
    by_user: bool = False
    last_use: int = 0

    @property
    def used(self) -> bool:
        """Whether a call that was made after it named it."""
        return self.last_use > 0


_UNITS = (
    r"%|‰|°C|°F|[kKMGT]i?B(?:/s)?|bytes?|bits?|[nµmu]?s|ms|sec(?:onds?)?|min(?:utes?)?|h|hours?|days?|weeks?|months?|years?|Hz|[kMG]Hz"
    r"|px|pt|em|[cmk]?m|kg|g|mg|[KMB]|tokens?|lines?|rows?|files?|items?|units?|pieces?|requests?|steps?|USD|EUR|GBP|JPY|€|円|元|個|件|人|日|分|秒|年|月"
)
_NUMBER = r"\d{1,24}(?:[.,:]\d{1,9}){0,6}"
_NAMED = r"(?:port|version|line|pid|issue|pull|pr|build|release|rev|revision|row|page|step|limit|timeout|size|id|status|ポート|番号)"
_SHAPES: tuple[tuple[FactKind, str, str, re.RegexFlag], ...] = (
    (
        "url",
        r"[hfsgwpr]",
        r"\b(?:https?|ftp|ssh|git|file|wss?|postgres(?:ql)?|redis|s3)://[^\s\"'<>`|\\]{3,300}",
        re.NOFLAG,
    ),
    (
        "error",
        r"[A-Z0es]",
        r"\b(?:[A-Z][A-Za-z0-9]{1,60}(?:Error|Exception|Warning|Fault)|E[A-Z]{3,15}|ERR_[A-Z0-9_]{2,60}|SIG[A-Z]{2,8}"
        r"|[A-Z]{1,4}\d{3,5}|HTTP[ /]?\d{3}|(?:exit|status|error)[ -](?:code|status)?[ :=]{0,3}\d{1,5}|0x[0-9A-Fa-f]{4,16})\b",
        re.NOFLAG,
    ),
    (
        "path",
        r"(?<![\w/])(?:[\w.@+-]{0,80}[/\\.:]|~)",
        r"(?<![\w/])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+-]{1,80}){2,12}/?"
        r"|(?<![\w/.])(?:[\w.@+-]{1,80}/){1,12}[\w@+-]{0,80}\.\w{1,8}\b|(?<![\w/.])[\w-]{1,80}(?:\.[\w-]{1,40})?"
        r"\.(?:py|pyi|ts|tsx|js|jsx|go|rs|c|h|cc|cpp|java|rb|php|cs|swift|kt|sh|sql|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|lock|html|css|csv|tsv|xml|log|env|proto|ipynb|pdf|png)\b",
        re.NOFLAG,
    ),
    (
        "identifier",
        r"[A-Za-z0-9-]",
        r"\b(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?=[0-9a-f]{0,39}\d)(?=[0-9]{0,39}[a-f])[0-9a-f]{7,40}"
        r"|[A-Z][A-Z0-9]{1,9}-\d{1,7}|[A-Za-z]\w{0,60}_\w{1,60}|[a-z]{2,30}[0-9]*(?:[A-Z][a-z0-9]{1,30}){1,6}|[A-Z][a-z0-9]{1,30}(?:[A-Z][a-z0-9]{1,30}){1,6}"
        r"|v\d+(?:\.\d+){1,3}|[A-Za-z]{1,12}\d{2,12})\b|(?<=\s)--[a-z][a-z0-9-]{1,40}",
        re.NOFLAG,
    ),
    (
        "number",
        r"[$€£¥\dpvlibrstポ番]",
        rf"[$€£¥]\s?{_NUMBER}[KMBkm]?|{_NAMED}[ \t]?(?:number|no\.?|nr\.?)?[ #:=]{{0,3}}{_NUMBER}|(?<![\w.]){_NUMBER}[ \t]?(?:{_UNITS})(?![A-Za-z])",
        re.I,
    ),
)
"""What each kind looks like, and before that what it begins with: most places of a text are passed over by that alone."""
_PATTERNS: tuple[tuple[FactKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(f"(?={begins})(?:{shape})", flags)) for kind, begins, shape, flags in _SHAPES
)
_ESCAPES = re.compile(r"(?:\\[abfnrtv0])+")
_EVERYWHERE = frozenset({"/dev/null", "/bin/sh", "/bin/bash", "/usr/bin/env", "/tmp"})
"""Paths that every machine has: nobody forgets them."""
_BARE_NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,24}(?:[.,]\d{1,9}){0,6}(?![\w/-])")
_QUOTED = re.compile(
    r"\"([^\"\n]{3,200})\"|“([^”\n]{3,200})”|„([^“”\n]{3,200})[“”]|«([^»\n]{3,200})»|「([^」\n]{2,200})」|`([^`\n]{3,200})`"
)
_RULE = re.compile(
    r"\b(?:never|always|must(?:n't)?|do(?:n't| not)|don’t|only (?:use|touch|change|edit|run|write|read|work|do)|(?:use|touch|change|edit|run) only|under no circumstances|at all costs|make sure|ask (?:me )?(?:before|first)|without asking"
    r"|required|forbidden|not allowed|niemals|nie|immer|muss|müssen|darf|dürfen|nicht ohne|nur|keinesfalls|bitte kein\w*|nunca|siempre|jamais|toujours|debes?|doit"
    r"|mai|sempre|nooit|altijd|moet)\b|никогда|всегда|нельзя|обязательно|必ず|絶対|禁止|しないで|てはいけ|てはなら|ないでくださ|のみ|必须|不要|不得|务必|总是|반드시|절대|하지 마|항상",
    re.I,
)
_SENTENCE = re.compile(r"[^\n.!?。！？]*(?:[.!?](?!\s|$)[^\n.!?。！？]*)*[.!?。！？]?")
_LONGEST_RULE = 400
_MOST_READ = 1_000_000
"""Characters of one message that are searched, from both ends."""
_known: Kept[tuple[tuple[FactKind, str], ...]] = Kept(8_000_000)
"""Each summary reads what stands behind it, too, so most texts are asked about several times."""
_known_rules: Kept[tuple[str, ...]] = Kept(2_000_000)
"""The same of what a person said."""


def facts_in(text: str) -> tuple[tuple[FactKind, str], ...]:
    """Return the facts that anybody's text can hold, each once, in the order of the kinds."""
    known = _known.get(text)
    if known is None:
        facts: dict[str, FactKind] = {}
        for kind, pattern in _PATTERNS:
            for match in pattern.finditer(text):
                found = match[0].rstrip(".,;:!?)]}'\"")
                if len(found) > 1 and not _ESCAPES.fullmatch(found):
                    facts.setdefault(found, kind)
        known = tuple((kind, found) for found, kind in facts.items())
        _known.put(text, known)
    return known


def rules_in(text: str) -> tuple[str, ...]:
    """Return the sentences of a person's `text` that forbid or demand something, as they stand. Questions and pasted output are none."""
    known = _known_rules.get(text)
    if known is None:
        known = tuple(_demanded(text))
        _known_rules.put(text, known)
    return known


def _demanded(text: str) -> Iterator[str]:
    if _RULE.search(text) is None:  # most texts demand nothing, and that is told without cutting them up
        return
    for match in _SENTENCE.finditer(text):
        sentence = match[0].strip().lstrip("-*•> \t")
        asks = sentence.endswith(("?", "？"))
        if 4 <= len(sentence) <= _LONGEST_RULE and sentence[0].isalpha() and not asks and _RULE.search(sentence):
            yield sentence


def facts_of(
    messages: Sequence[Message], *, ids: Sequence[str] | None = None, later: Sequence[Message] = ()
) -> tuple[Fact, ...]:
    """Return the facts in `messages`, each once, with its first source, in order of appearance.

    `later` are messages behind them: their calls count as uses. Earlier summaries are read too, but nobody speaks in them.
    """
    found: dict[tuple[FactKind, str], Fact] = {}
    by_text: dict[str, list[tuple[FactKind, str]]] = {}
    calls = 0
    for source in sources_of(messages, ids):
        for call in source.calls:
            calls += 1
            _mark_used(arguments_text(call), calls, found, by_text)
        text = redact(both_ends(source.text, _MOST_READ))
        for kind, fact in (*_spoken(text), *facts_in(text)) if source.by_user else facts_in(text):
            if "[secret:" in fact or fact in _EVERYWHERE:
                continue
            known = found.get((kind, fact))
            if known is None:
                found[kind, fact] = Fact(kind, fact, source.id, by_user=source.by_user)
                by_text.setdefault(fact, []).append((kind, fact))
            elif source.by_user and not known.by_user:
                found[kind, fact] = replace(known, by_user=True, source=source.id)
    for source in sources_of(later):
        for call in source.calls:
            calls += 1
            _mark_used(arguments_text(call), calls, found, by_text)
    return tuple(found.values())


def _spoken(text: str) -> Iterator[tuple[FactKind, str]]:
    for rule in rules_in(text):
        yield "rule", rule
    for match in _QUOTED.finditer(text):
        yield "quote", next(group for group in match.groups() if group)
    for match in _BARE_NUMBER.finditer(text):
        yield "number", match[0]


def _mark_used(
    arguments: str, place: int, found: dict[tuple[FactKind, str], Fact], by_text: dict[str, list[tuple[FactKind, str]]]
) -> None:
    for _, text in facts_in(arguments):
        for key in by_text.get(text, ()):
            found[key] = replace(found[key], last_use=place)
