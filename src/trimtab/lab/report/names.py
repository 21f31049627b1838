"""Short names of arms: a page has no room for the path of a file of weights, so such an arm is called after its run, and the page says what stands behind the name.

learned(weights="lab/runs/rl-3/weights.json") ──▶ learned(rl-3)
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from msgspec import structs

from trimtab.lab.report.reading import Found

_FILE = re.compile(r"""(?:\w+=)?["']([^"']*[/\\.][^"']*)["']""")
_PLAIN = frozenset({"weights", "record", "model"})
"""Names of files that say nothing: the folder's is taken."""


def short_names(arms: Sequence[str]) -> dict[str, str]:
    """Return a name for each arm that names a file. One that would be taken already keeps its whole name."""
    found: dict[str, str] = {}
    taken = set(arms)
    for arm in arms:
        short = _FILE.sub(lambda match: _called(match[1]), arm)
        if short not in taken:
            taken.add(short)
            found[arm] = short
    return found


def _called(file: str) -> str:
    path = PurePosixPath(file.replace("\\", "/"))
    return path.parent.name if path.stem in _PLAIN and path.parent.name else path.stem


def shortened(found: Found) -> tuple[Found, dict[str, str]]:
    """Return what was read with short names, told in its notes, and those names."""
    names = short_names(tuple(dict.fromkeys(row.arm for row in found.rows)))
    rows = tuple(structs.replace(row, arm=names.get(row.arm, row.arm)) for row in found.rows)
    opened = tuple(structs.replace(one, candidate=names.get(one.candidate, one.candidate)) for one in found.opened)
    notes = tuple(f"{short} stands for {arm}." for arm, short in names.items())
    return replace(found, rows=rows, opened=opened, notes=(*found.notes, *notes)), names
