"""The families of generated tasks by name."""

from trimtab.lab.tasks.families import (
    continuation,
    dependency,
    document_qa,
    exact_numbers,
    misleading_turn,
    restock,
    root_cause,
    sales,
    sql_charts,
    superseded,
    tool_chain,
)
from trimtab.lab.tasks.task import Family, Level, Task

FAMILIES: dict[str, Family] = {
    document_qa.NAME: document_qa.make,
    tool_chain.NAME: tool_chain.make,
    misleading_turn.NAME: misleading_turn.make,
    root_cause.name_of("first"): root_cause.first,
    root_cause.name_of("middle"): root_cause.middle,
    root_cause.name_of("last"): root_cause.last,
    dependency.NAME: dependency.make,
    superseded.NAME: superseded.make,
    exact_numbers.NAME: exact_numbers.make,
    restock.NAME: restock.make,
    sql_charts.NAME: sql_charts.make,
    sales.NAME: sales.make,
    continuation.NAME: continuation.make,
}
"""What a family is called → what makes a task of it."""


def make_task(name: str, seed: int, level: Level) -> Task:
    """Make the task of a family, a seed and a level. Raises `ValueError` for a family that isn't there."""
    family = FAMILIES.get(name)
    if family is None:
        raise ValueError(f"no family {name!r}; there are {', '.join(FAMILIES)}")
    return family(seed, level)
