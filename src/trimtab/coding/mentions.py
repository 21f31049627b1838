r"""Words of a person that may name a file: `@path`, and with blanks in it `@"a b.txt"`, `@'a b.txt'` or `@a\ b.txt`.

    "see @a.txt, thanks @alice" ──▶ a.txt, · alice ──names──▶ "a.txt,", "a.txt" · "alice"      the first of which there is a file is meant

The one rule: nothing here looks at a disk, and a word that names no file is a word.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MENTION = re.compile(
    r"""(?<![^\s(\[{])@(?: "(?P<double>[^"\n]+)" | '(?P<single>[^'\n]+)' | (?P<plain>(?:\\[ \t]|[^\s"'])(?:\\[ \t]|\S)*) )""",
    re.VERBOSE,
)
_OPEN = re.compile(
    r"""(?<![^\s(\[{])@(?: "(?P<double>[^"\n]*) | '(?P<single>[^'\n]*) | (?P<plain>(?:\\[ \t]|[^\s"'])(?:\\[ \t]|\S)*)? )\Z""",
    re.VERBOSE,
)
_BEHIND = ".,;:!?)]}>\"'`*"
"""What ends a sentence or closes a bracket, and so may stand behind a name without being of it."""
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}\Z")


@dataclass(frozen=True, slots=True)
class Mention:
    """What stands behind an `@`. `quoted`: its end was marked."""

    name: str
    quoted: bool = False

    def names(self) -> Iterator[str]:
        """The names that may be meant: the whole of it, then without what may be the sentence's."""
        name = self.name
        yield name
        while not self.quoted and len(name) > 1 and name[-1] in _BEHIND:
            name = name[:-1]
            yield name

    @property
    def core(self) -> str:
        """The shortest of its names."""
        return list(self.names())[-1]

    @property
    def like_a_path(self) -> bool:
        """Whether it looks as if a file was meant."""
        return self.quoted or "/" in self.core or self.like_a_file

    @property
    def like_a_file(self) -> bool:
        """Whether it ends as names of files do."""
        return bool(_ENDING.search(self.core))


def mentions(text: str) -> Iterator[Mention]:
    """The mentions in a text, each once, in its order."""
    yield from dict.fromkeys(map(_mention, _MENTION.finditer(text)))


def being_typed(text: str) -> tuple[str, str, str] | None:
    """The mention at the end of a text that is being typed: what stands before its name, the name so far, and the quote that is open ("" for none)."""
    found = _OPEN.search(text)
    if found is None:
        return None
    quote = '"' if found["double"] is not None else "'" if found["single"] is not None else ""
    mention = _mention(found)
    return text[: found.start() + 1] + quote, mention.name, quote


def written(name: str, quote: str) -> str | None:
    """A name as it is typed behind `@` and the open quote; None for one that can't be."""
    if not quote:
        return None if name[:1] in "\"'" else re.sub(r"([ \t])", r"\\\1", name)
    if quote in name:
        return None
    return name if name.endswith("/") else name + quote


def _mention(found: re.Match[str]) -> Mention:
    quoted = found["double"] if found["double"] is not None else found["single"]
    if quoted is not None:
        return Mention(quoted, quoted=True)
    return Mention(re.sub(r"\\([ \t])", r"\1", found["plain"] or ""))
