"""`/memory`: what the project's sessions keep for later ones."""

from trimtab.coding.commands.kept import Held, Shelf, kept_command
from trimtab.coding.session import Session
from trimtab.context.stores.memory_log import Memorize

_LISTS = ("entities", "episodes", "relations", "source")
_OFF = (
    "the model doesn't see memories: its tool `memory` is off. `trimtab config set context.tools pilot` turns it on, "
    "with other tools for its context; /reload then does in this talk"
)
_SOON = "the model reads its key and first line with your next words, and the rest by its tool `memory`"
_LATER = (
    "the model read what was kept when this session began: of this one it reads when another session begins, "
    "after /reload, or when it looks by its tool `memory`"
)


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
    seen = (_LATER if session.context.recollected else _SOON) if on else ""
    return Shelf(held, text, add, memories.delete, "" if on else _OFF, seen)


COMMAND = kept_command("memory", "what is kept for later sessions of this project", _shelf)
