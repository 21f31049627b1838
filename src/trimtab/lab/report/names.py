"""Short names of arms: a page has no room for the path of a file of weights, or for eight parameters, so such an arm is called after its run, or by its first parameters, and the page says what stands behind the name.

learned(weights="lab/runs/rl-3/weights.json") ──▶ learned(rl-3)        rules(act=0.9, left=0.65, names=0, fresh=3, recent=8) ──▶ rules(act=0.9, left=0.65, …)
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
_LONGEST = 36
"""Characters of a name on a page; parameters beyond them are left out."""
_PARAMETERS = re.compile(r"([\w-]+\()([^()]*)\)")


def short_names(arms: Sequence[str], *, longest: int | None = None) -> dict[str, str]:
    """Return a name for each arm that names a file, or has more than `longest` characters. One that would be taken already keeps its whole name."""
    found: dict[str, str] = {}
    taken = set(arms)
    for arm in arms:
        named = _FILE.sub(lambda match: _called(match[1]), arm)
        short = named if longest is None else _cut(named, longest)
        if short not in taken:
            taken.add(short)
            found[arm] = short
    return found


def _cut(name: str, longest: int) -> str:
    """The first parameters of a name that is long; at least one."""
    parts = _PARAMETERS.fullmatch(name)
    if parts is None or len(name) <= longest:
        return name
    first, *rest = parts[2].split(", ")
    kept = parts[1] + first
    for one in rest:
        if len(f"{kept}, {one}, …)") > longest:
            return f"{kept}, …)"
        kept = f"{kept}, {one}"
    return name


def _called(file: str) -> str:
    path = PurePosixPath(file.replace("\\", "/"))
    return path.parent.name if path.stem in _PLAIN and path.parent.name else path.stem


def shortened(found: Found) -> tuple[Found, dict[str, str]]:
    """Return what was read with short names, told in its notes, and those names."""
    names = short_names(tuple(dict.fromkeys(row.arm for row in found.rows)), longest=_LONGEST)
    rows = tuple(structs.replace(row, arm=names.get(row.arm, row.arm)) for row in found.rows)
    opened = tuple(structs.replace(one, candidate=names.get(one.candidate, one.candidate)) for one in found.opened)
    notes = tuple(f"{short} stands for {arm}." for arm, short in names.items())
    return replace(found, rows=rows, opened=opened, notes=(*found.notes, *notes)), names
