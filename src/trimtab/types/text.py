"""Text hygiene: what may enter a message.

A lone surrogate can't be encoded as UTF-8, so one inside a message would break every later request and
every write of the log. It is replaced here, at the door, and nowhere else.
"""

import re
from typing import Any


def scrub(text: str) -> str:
    """Return `text` with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


_ESCAPES = re.compile(
    r"""
    \x1b[PX^_\]][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?   # OSC (titles, clipboard, links), DCS, SOS, PM, APC
  | (?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?                  # CSI: colours, cursor, erase
  | \x1b[ -/]*[0-~]                                    # two-character escapes
    """,
    re.X,
)
_TAGS = re.compile("(\U0001f3f4[\U000e0020-\U000e007e]{1,16}\U000e007f)|[\U000e0000-\U000e007f]+")
"""Tag characters, which nobody sees, and the flags that are spelt with them. Source: Unicode Technical Standard 51, emoji tag sequences."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def without_escapes(text: str) -> str:
    """Return `text` without terminal escape sequences. Source: ECMA-48, 5.4 and 5.6; an escape that nothing follows stays."""
    return _ESCAPES.sub("", text) if "\x1b" in text or "\x9b" in text else text


def strip_terminal(text: str) -> str:
    """Return `text` without terminal control: escape sequences, control characters but newline and tab, bidirectional overrides, tag characters outside of flags.

    For everything from outside that a person sees on a terminal: it can't move the cursor, set the title or reach the clipboard, and it hides no words.
    """
    text = _CONTROLS.sub("", without_escapes(text.replace("\r\n", "\n")))
    return text if text.isascii() else _TAGS.sub(lambda found: found[1] or "", text)


def scrub_deep(value: Any) -> Any:
    """Return a JSON value with every string in it, keys too, scrubbed."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub(k): scrub_deep(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [scrub_deep(v) for v in value]
    return value
