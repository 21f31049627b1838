"""How the output of a call is laid out where its tool's renderer says what it is: lines of text, each with what it is in a difference.

output ──json: indented │ diff: line by line │ markdown: as it stands──▶ lines, the first and the last of many       text, none ──▶ nothing
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.coding.extensions.api import Body, Renderer
from trimtab.types.text import strip_terminal

Sort: TypeAlias = Literal["added", "removed", "same"]
MOST = 12
"""Lines of a body that are shown."""
_LONGEST = 100_000
"""Characters that are looked at."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line, without its end."""

    text: str
    sort: Sort = "same"


def body_of(renderers: Mapping[str, Renderer], tool: str) -> Body:
    """What the output of a tool is; text where nobody says."""
    renderer = renderers.get(tool)
    return renderer.body if renderer is not None else "text"


def body_lines(body: Body, output: str) -> tuple[Line, ...]:
    """The lines that stand below a call that went well; none for `text`, of which the call's own line says enough, and for `none`."""
    if body in ("text", "none"):
        return ()
    text = output[:_LONGEST]
    if body == "json" and len(output) <= _LONGEST:
        with suppress(ValueError, RecursionError):  # one that is no JSON is shown as it stands
            text = json.dumps(json.loads(output), indent=2, ensure_ascii=False)
    lines = strip_terminal(text).strip("\n").split("\n")
    if lines == [""]:
        return ()
    made = [Line(line, _sort(line) if body == "diff" else "same") for line in lines]
    left = len(made) - MOST
    return (*made,) if left <= 0 else (*made[: MOST - 2], Line(f"… {left + 1:,} more lines …"), made[-1])


def _sort(line: str) -> Sort:
    if line.startswith("+") and not line.startswith("+++"):
        return "added"
    return "removed" if line.startswith("-") and not line.startswith("---") else "same"
