"""Hidden text: what stands in a file and is not seen by whoever looks at it, decoded and named.

    tag characters (U+E0000…), runs of variation selectors   text in disguise: shown as what they spell
    direction overrides, characters without width, terminal control   they make text look like another: counted
    HTML comments   seen by whoever edits the file, not by who reads the page: quoted

The one rule: a finding is one harmless line. What belongs to writing (the flags of emoji, joiners in scripts that join) is no finding.
"""

import re
from collections.abc import Callable, Iterator

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, shortened
from trimtab.types.text import strip_terminal, without_escapes

_MOST = 20
_QUOTED = 200
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_TURNS = re.compile("[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]")
_NO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\u00ad]|(?<=[!-~])[\u200c\u200d]|[\u200c\u200d](?=[!-~])")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)


def hidden_text(text: str) -> tuple[str, ...]:
    """What is hidden in `text`, a line for each finding."""
    found = [*invisible_text(text), *_comments(text)]
    more = len(found) - _MOST
    return (*found[:_MOST], f"and {more:,} more") if more > 0 else tuple(found)


def invisible_text(text: str) -> tuple[str, ...]:
    """Of `hidden_text`, what no editor shows: all but comments."""
    return tuple(_invisible(text))


def without_invisible(text: str) -> str:
    """`text` without what `invisible_text` finds; line ends become LF."""
    text = _outside_flags(text, lambda part: _TAGS.sub("", part))
    for pattern in (_SELECTORS, _NO_WIDTH, _TURNS):
        text = pattern.sub("", text)
    return strip_terminal(text)


def _invisible(text: str) -> Iterator[str]:
    tags = [run for part in _FLAG.split(text) for run in _TAGS.findall(part)]
    if tags:
        spelt = " ".join("".join(chr(ord(c) - 0xE0000) for c in run) for run in tags)
        yield f"invisible tag characters that read {_quoted(spelt)}"
    for run in _SELECTORS.findall(text):
        data = bytes(ord(c) - 0xFE00 if c <= "\ufe0f" else ord(c) - 0xE0100 + 16 for c in run)
        yield f"invisible variation selectors that read {_quoted(data.decode('utf-8', 'replace'))}"
    for pattern, what in ((_TURNS, "mark for the direction of writing"), (_NO_WIDTH, "mark without width")):
        if marks := pattern.findall(text):
            kinds = ", ".join(f"U+{ord(mark):04X}" for mark in sorted(set(marks)))
            yield f"{counted(len(marks), 'character')}: {what} ({kinds})"
    if without_escapes(text) != text:
        yield "terminal control sequences"
    elif controls := len(_CONTROL.findall(text)):
        yield counted(controls, "control character")


def _comments(text: str) -> Iterator[str]:
    for found in _COMMENT.finditer(text):
        if words := " ".join(found[1].split()):
            yield f"an HTML comment: {_quoted(words)}"


def _outside_flags(text: str, change: Callable[[str], str]) -> str:
    parts, end = [], 0
    for flag in _FLAG.finditer(text):
        parts += [change(text[end : flag.start()]), flag[0]]
        end = flag.end()
    return "".join([*parts, change(text[end:])])


def _quoted(text: str) -> str:
    return f"'{shortened(one_line(without_invisible(text)), _QUOTED)}'"
