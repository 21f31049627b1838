"""Families of assignments by name."""

from collections.abc import Callable, Mapping

from trimtab.lab.live.assignment import Assignment
from trimtab.lab.live.families import chain, fault_code, renamed_api, settings_value, superseded, totals
from trimtab.lab.live.noise import USUAL, Size
from trimtab.types.errors import UsageError

FAMILIES: Mapping[str, Callable[[int, Size], Assignment]] = {
    module.NAME: module.make for module in (settings_value, renamed_api, fault_code, chain, superseded, totals)
}


def make_assignment(family: str, number: int, size: Size = USUAL) -> Assignment:
    """Return an assignment, always the same for the same number and size. Raises `UsageError` for a family that there is not."""
    if family not in FAMILIES:
        raise UsageError(f"there is no family {family!r} of repositories", hint=f"Families: {', '.join(FAMILIES)}.")
    return FAMILIES[family](number, size)
