"""Jupyter notebooks as text: the cells with their outputs, without the JSON around them (nbformat 4)."""

import json
from collections.abc import Iterator
from typing import Any

from trimtab.coding.tools.caps import head_bytes

_OUTPUT = 4_000
"""Bytes of one output that are shown."""


def notebook_text(data: bytes) -> str | None:
    """Return the notebook in `data` as text, a cell under a `# %%` line each; None when it is none."""
    try:
        book = json.loads(data)
    except (ValueError, RecursionError):
        return None
    cells = book.get("cells") if isinstance(book, dict) else None
    if not isinstance(cells, list):
        return None
    return "\n\n".join("\n".join(_cell(n, c)) for n, c in enumerate(cells) if isinstance(c, dict)) + "\n"


def _cell(number: int, cell: dict[str, Any]) -> Iterator[str]:
    yield f"# %% [{cell.get('cell_type', 'cell')}] {number}"
    yield _joined(cell.get("source")).rstrip("\n")
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        text = _output(output) if isinstance(output, dict) else ""
        if text:
            kept = head_bytes(text, _OUTPUT)
            yield "# output:"
            yield kept if kept == text else f"{kept}\n[… {len(text) - len(kept):,} more characters of output]"


def _output(output: dict[str, Any]) -> str:
    if "text" in output:
        return _joined(output["text"]).rstrip("\n")
    if output.get("output_type") == "error":
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    if not isinstance(data, dict):
        return ""
    if "text/plain" in data:
        others = [kind for kind in data if kind.startswith("image/")]
        return _joined(data["text/plain"]).rstrip("\n") + "".join(f" [{kind}]" for kind in others)
    return " ".join(f"[{kind}]" for kind in data)


def _joined(source: object) -> str:
    return "".join(str(line) for line in source) if isinstance(source, list) else str(source or "")
