"""Caps: how much of a result the model gets.

Text is cut on code points; sizes are bytes of UTF-8. A tool that cuts says so in a `Cut` and in words of its own.
"""

from dataclasses import dataclass

from trimtab.config.settings import ToolSettings

_SET = ToolSettings()


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of all tools; those of `[tools.*]` have its defaults. Bytes unless the name says otherwise."""

    read_lines: int = _SET.read.max_lines
    read_bytes: int = _SET.read.max_bytes
    image_bytes: int = 3_900_000
    """The strictest provider takes 5 MiB of base64 (Anthropic Messages, Vision), which is 3.9 MB of picture."""
    image_pixels_a_side: int = 8_000
    edit_file_bytes: int = 64 * 1024 * 1024
    diff_bytes: int = 16 * 1024
    list_rows: int = _SET.ls.max_rows
    search_rows: int = _SET.grep.max_rows
    search_row_chars: int = 500
    bash_head_bytes: int = _SET.bash.head_bytes
    bash_tail_bytes: int = _SET.bash.tail_bytes


def head_bytes(text: str, size: int) -> str:
    """Return the longest start of `text` of at most `size` bytes in UTF-8. Never splits a code point."""
    if len(text) * 4 <= size:
        return text
    return text[: max(size, 0)].encode("utf-8", "replace")[: max(size, 0)].decode("utf-8", "ignore")


def line_count(text: str) -> int:
    """Return the number of lines; an unfinished last line counts, an empty text has none."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)
