"""`/memory`: what the project's sessions keep for later ones."""

from trimtab.coding.commands.kept import Held, Shelf, kept_command
from trimtab.coding.session import Session
from trimtab.context.stores.memory_log import Memorize

_LISTS = ("entities", "episodes", "relations", "source")
_NO_TOOL = 'the model isn\'t told of them: its tool `memory` is off (context.tools = "pilot" turns it on)'


def _shelf(session: Session) -> Shelf:
    memories = session.context.host.memories

    def held() -> list[Held]:
        return [Held(memory.key, memory.summary, len(memory.content)) for memory in memories.all()]

    def text(key: str) -> str | None:
        memory = memories.get(key)
        if memory is None:
            return None
        lists = (f"{name}: {'; '.join(values)}" for name in _LISTS if (values := getattr(memory, name)))
        return "\n".join([f"updated {memory.updated}", memory.summary, memory.content, *lists])

    def add(key: str, summary: str, text: str) -> object:
        return memories.keep(Memorize(key=key, summary=summary, content=text))

    on = any(tool.spec.name == "memory" for tool in session.agent.tools)
    return Shelf(held, text, add, memories.delete, "" if on else _NO_TOOL)


COMMAND = kept_command("memory", "what is kept for later sessions of this project", _shelf)
