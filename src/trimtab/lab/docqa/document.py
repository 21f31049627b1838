"""The document: a text cut into chunks that end where something ends.

    text ─▶ sentences with their tokens ─▶ chunks of at most `size`; up to `back` tokens are given back so that a paragraph stays whole

A chunk's tokens are the sum of its sentences'. All chunks joined are the text, character for character, and the same text, sizes and counter give the
same chunks. Sizes and the way back are those of ContextPilot's harness: 4,000 and 400 tokens.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_END = re.compile(r"\n[ \t]*\n\s*|\n|(?<=[.!?…])[ \t]+|(?<=[。！？])")
_HEADING = re.compile(
    r"^(?:#{1,6}[ \t]+\S.*|(?:chapter|section|part|appendix)\b.{0,80})$", re.IGNORECASE | re.MULTILINE
)
_HINT = 80
"""Characters of a heading that are shown."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk, numbered from 1. `section`: the heading under which it begins, empty where there is none."""

    number: int
    text: str
    tokens: int
    section: str = ""


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    tokens: int
    whole: bool
    """A paragraph ends with it."""


def chunks_of(text: str, count: Callable[[str], int], *, size: int = 4_000, back: int = 400) -> tuple[Chunk, ...]:
    """Return the chunks of a text; none of an empty one. `count` gives the tokens of a text, `size` and `back` are tokens."""
    made: list[list[_Sentence]] = []
    open_: list[_Sentence] = []
    held = 0
    for sentence in _sentences(text, count, size):
        if open_ and held + sentence.tokens > size:
            end = _break(open_, back)
            made.append(open_[:end])
            open_ = open_[end:]
            held = sum(kept.tokens for kept in open_)
            if open_ and held + sentence.tokens > size:  # what was given back and this one don't fit together
                made.append(open_)
                open_, held = [], 0
        open_.append(sentence)
        held += sentence.tokens
    if open_:
        made.append(open_)
    return tuple(_numbered(made))


def _break(sentences: list[_Sentence], back: int) -> int:
    """Behind which sentence a chunk ends: the last end of a paragraph for which at most `back` tokens are given back, else all of them."""
    given = 0
    for place in range(len(sentences), 0, -1):
        if sentences[place - 1].whole:
            return place
        given += sentences[place - 1].tokens
        if given > back:
            break
    return len(sentences)


def section_at(chunk: Chunk, at: int) -> str:
    """Return the heading above a place in a chunk."""
    above = [_heading(found) for found in _HEADING.finditer(chunk.text) if found.start() <= at]
    return above[-1] if above else chunk.section


def _heading(found: re.Match[str]) -> str:
    return found.group().strip("# \t")[:_HINT]


def _numbered(made: list[list[_Sentence]]) -> Iterator[Chunk]:
    section = ""
    for number, sentences in enumerate(made, 1):
        text = "".join(sentence.text for sentence in sentences)
        headings = list(_HEADING.finditer(text))
        begins = bool(headings) and not text[: headings[0].start()].strip()
        yield Chunk(number, text, sum(s.tokens for s in sentences), _heading(headings[0]) if begins else section)
        section = _heading(headings[-1]) if headings else section


def _sentences(text: str, count: Callable[[str], int], size: int) -> Iterator[_Sentence]:
    start = 0
    for found in _END.finditer(text):
        if found.end() > start:
            yield from _fitting(text[start : found.end()], count, size, whole=found.group().count("\n") > 1)
            start = found.end()
    if start < len(text):
        yield from _fitting(text[start:], count, size, whole=True)


def _fitting(text: str, count: Callable[[str], int], size: int, *, whole: bool) -> Iterator[_Sentence]:
    """A sentence, in halves and halves of halves as far as it is larger than a chunk."""
    tokens = count(text)
    if tokens <= size or len(text) < 2:
        yield _Sentence(text, tokens, whole)
        return
    middle = len(text) // 2
    blank = text.rfind(" ", 1, middle + 1)
    cut = blank + 1 if blank > 0 else middle
    yield from _fitting(text[:cut], count, size, whole=False)
    yield from _fitting(text[cut:], count, size, whole=whole)
