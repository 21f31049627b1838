"""Caps: how much of a result the model gets.

Text is cut on code points; sizes are bytes of UTF-8. A tool that cuts says so in a `Cut` and in words of its own.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of all tools: the settings of `[tools.*]`. Bytes unless the name says otherwise."""

    read_lines: int = 2_000
    read_bytes: int = 50 * 1024
    image_bytes: int = 3_900_000
    """The strictest provider takes 5 MiB of base64 (Anthropic Messages, Vision), which is 3.9 MB of picture."""
    image_pixels_a_side: int = 8_000
    edit_file_bytes: int = 64 * 1024 * 1024
    diff_bytes: int = 16 * 1024
    list_rows: int = 500
    search_rows: int = 200
    search_row_chars: int = 500
    bash_head_bytes: int = 30 * 1024
    bash_tail_bytes: int = 20 * 1024


def head_bytes(text: str, size: int) -> str:
    """Return the longest start of `text` of at most `size` bytes in UTF-8. Never splits a code point."""
    if len(text) * 4 <= size:
        return text
    return text[: max(size, 0)].encode("utf-8", "replace")[: max(size, 0)].decode("utf-8", "ignore")


def line_count(text: str) -> int:
    """Return the number of lines; an unfinished last line counts, an empty text has none."""
    return text.count("\n") + (not text.endswith("\n") if text else 0)
