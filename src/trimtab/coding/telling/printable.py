"""Text from outside in our own lines: a name, a reason or a file name stays where it was put, and no terminal obeys it.

one_path    the path of a file; bytes in it that are no text are shown as U+FFFD
one_line    a field of a row: a line break in it is shown as \\n, so it can't begin a row of its own
indented    a message of several lines: those that go on stand behind two spaces, where no row of ours begins
set_in      a body of any text below a line of ours: all of it stands behind two spaces
json_text   a value as JSON; what terminals obey is written as an escape, which JSON reads as the same text
"""

import os
import re

import msgspec

from trimtab.types.text import scrub, strip_terminal

_BREAKS = re.compile("[\n\u2028\u2029]")
_BREAKS_AND_SPACES = re.compile("[\n\u2028\u2029] *")
_OBEYED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def one_line(text: str) -> str:
    """Return `text` as it may stand within a line."""
    return _BREAKS.sub(r"\\n", strip_terminal(text)).replace("\t", " ")


def one_path(path: str | os.PathLike[str]) -> str:
    """Return `path` as it may stand within a line."""
    return scrub(one_line(os.fspath(path)))


def indented(text: str) -> str:
    """Return `text` as it may stand behind the first word of a line of ours."""
    return _BREAKS_AND_SPACES.sub("\n  ", strip_terminal(text).rstrip("\n"))


def set_in(text: str) -> str:
    """Return `text` as it may stand below a line of ours, which begins at the margin: each line that isn't empty behind two spaces, and a line break at the end."""
    lines = _BREAKS.split(strip_terminal(text).rstrip("\n"))
    return "".join(f"  {line}\n" if line else "\n" for line in lines)


def json_text(value: object) -> str:
    """Return `value` as indented JSON."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
