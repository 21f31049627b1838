"""Reading the files of published benchmarks: JSON, or JSON lines, packed or not. A line that can't be read is left out."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def text_of(path: Path) -> str:
    """Return the text of a file, unpacked where its name ends in `.gz`."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    for line in text_of(path).splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def folded(text: str) -> str:
    """Return a text with every run of whitespace as one blank: evidence is often quoted with other line ends than its source has."""
    return " ".join(text.split())
