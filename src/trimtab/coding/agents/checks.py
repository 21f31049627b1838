"""What the doctor says of agents: files that are left out, and what in the others means nothing here."""

from trimtab.coding.check import Check
from trimtab.coding.instructions.instructions import Instructions
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line


def agent_checks(project: Project) -> tuple[Check, ...]:
    """One check for each. Touches the disk."""
    instructions = Instructions(project)
    instructions.refresh()
    found = instructions.found
    told = [*found.left_out("agents"), *(note for agent in found.agents.values() for note in agent.notes)]
    return tuple(
        Check("note", "agent", one_line(text), "docs/agents.md says what such a file may hold.") for text in told
    )
