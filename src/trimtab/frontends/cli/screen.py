"""Fitting text to a terminal: how wide it is, and words that wrap. In a pipe nothing is cut and nothing wraps."""

import os
import re
import textwrap
from typing import TextIO

import click

from trimtab.types.text import strip_terminal

_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")
"""What stands between columns."""
_FARTHEST = 32
"""The column behind which no other one is taken for the last: what goes on has to have room."""

_DEEP = 8
"""Blanks in front that are a column rather than an indent."""


def width_of(stream: TextIO) -> int | None:
    """Columns of the terminal behind `stream`; None when there is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None


def note(text: str) -> None:
    """Say something beside the output, on standard error."""
    click.echo(strip_terminal(f"note: {text}"), err=True)


def wrapped(text: str, width: int | None) -> str:
    """`text` with its lines broken between words, so that none is longer than `width`; what goes on is indented, and in a row of columns stays in the last one. A long word stays whole."""
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    lead = len(line) - len(line.lstrip())
    if lead > width // 2:  # a column for which this terminal has no room
        line, lead = f"    {line.lstrip()}", 4
    gaps = [gap.end() for gap in _GAP.finditer(line, lead, max(lead, min(width // 2, _FARTHEST)))]
    if not gaps:
        line = line[:lead] + _GAP.sub("  ", line[lead:])
    indent = " " * (gaps[-1] if gaps else lead if lead > _DEEP else lead + 2)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, tabsize=4
    )
