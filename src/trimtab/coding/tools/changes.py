"""What a tool that changed a file leaves in `details`: which file, how, and the diff for a person's eyes.

`changed` lists real absolute paths; programs (changed files of a turn, checkpoints) read it and never the words of the result.
"""

from pathlib import Path
from typing import Any, Literal

from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.diffs import unified
from trimtab.coding.tools.paths import identity, shown_name
from trimtab.types.text import scrub

_DIFFED = 32_000_000
"""Characters of both texts together beyond which no diff is tried."""


def change_details(
    path: Path, kind: Literal["created", "overwritten", "edited"], old: str | None, new: str, caps: Caps
) -> dict[str, Any]:
    """Return the details. `old` is None when the file held no text; the diff is None when it would be too large."""
    details: dict[str, Any] = {"changed": [shown_name(identity(path))], "kind": kind}
    small = old is not None and len(old) + len(new) <= _DIFFED
    diff = unified(old, new, size=caps.diff_bytes) if old is not None and small else None
    details["diff"] = None if diff is None else scrub(diff)
    if old is not None and diff is None:
        details["diff_note"] = "diff too large"
    return details
