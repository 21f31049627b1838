"""The system prompt as sections, each with the place it comes from."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the system prompt. `name` is what `/system` calls it, `source` where it comes from: a file, a setting, Trimtab itself."""

    name: str
    source: str
    text: str


def joined(sections: Iterable[Section]) -> str:
    """The system prompt: the sections that say something, a blank line between two. One alone stands as it is."""
    said = [section.text for section in sections if section.text.strip("\n")]
    if len(said) == 1:
        return said[0]
    texts = [text.strip("\n") for text in said]
    return "\n\n".join(texts) + "\n" if texts else ""
