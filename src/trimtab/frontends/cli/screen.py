"""Fitting text to a terminal: how wide it is, and words that wrap. In a pipe nothing is cut and nothing wraps."""

import os
import textwrap
from typing import TextIO

import click

from trimtab.types.text import strip_terminal


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
    """`text` with its lines broken between words, so that none is longer than `width`; what goes on is indented. A long word stays whole."""
    if width is None:
        return text
    return "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    lead = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line, width, subsequent_indent=lead + "  ", break_long_words=False, break_on_hyphens=False, tabsize=4
    )
