"""What a terminal program printed, as plain text: what a person would have seen, without the power over a terminal.

Escape sequences (colours, cursor moves, titles, clipboard writes) are removed, a line that was redrawn with carriage
returns shows its last state, and any other control character is shown as `\\x1b` and the like. Pure; works on whole
texts. `settled` tells how much of a growing text can be cleaned without cutting a sequence in two.
"""

import re

from trimtab.types.text import scrub, without_escapes

_BACKSPACES = re.compile(r"[^\n\x08]\x08")
_REDRAWN = re.compile(r"[^\n]*\r(?=[^\n])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNFINISHED = re.compile(r"(?:\x1b[PX^_\]][^\x07\x1b\x9c]*\x1b?|(?:\x1b\[|\x9b)[0-?]*[ -/]*|\x1b[ -/]*|\r)\Z")
_HELD_BACK = 4096


def plain(text: str) -> str:
    """Return `text` without escape sequences, redrawn lines collapsed, other controls shown as `\\xNN`."""
    text = without_escapes(text.replace("\r\n", "\n"))
    if "\x08" in text:
        text = _BACKSPACES.sub("", _BACKSPACES.sub("", text))
    if "\r" in text:
        text = _REDRAWN.sub("", text.replace("\r\n", "\n")).replace("\r", "")
    return scrub(_CONTROLS.sub(lambda m: f"\\x{ord(m[0]):02x}", text))


def settled(text: str) -> int:
    """Return how many characters of a growing `text` end before an escape sequence that may still go on."""
    unfinished = _UNFINISHED.search(text, max(0, len(text) - _HELD_BACK))
    return unfinished.start() if unfinished else len(text)
