"""The agents as a model learns of them: those of files in the system prompt; the ones that come with Trimtab stand in the tool's description."""

from collections.abc import Iterable

from trimtab.coding.agents.agent_file import Subagent
from trimtab.coding.instructions.section import Section
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened

_MOST = 4_096
"""Bytes of the list."""
_LENGTHS = (400, 120, 0)


def agent_section(agents: Iterable[Subagent]) -> Section | None:
    """The list of the agents that files define, descriptions shorter where there are many; None without any."""
    own = [agent for agent in agents if agent.whose != "built-in"]
    if not own:
        return None
    whose = " and ".join(sorted({agent.whose for agent in own}))
    text = ""
    for length in _LENGTHS:
        text = "\n".join(("Agents for the tool task, beside its own:", *(_row(agent, length) for agent in own)))
        if len(text.encode()) <= _MOST:
            break
    kept = text.encode()[:_MOST].decode("utf-8", "ignore")
    if len(kept) < len(text):
        kept = kept[: kept.rfind("\n") + 1] + "- and more; task names them all when it is given one that there is not"
    return Section("agents", f"agents of {whose}", kept)


def _row(agent: Subagent, length: int) -> str:
    return f"- {agent.name}" + (f": {shortened(one_line(agent.description), length)}" if length else "")
