"""The `memory` tool: what outlives the session, with what it is about and how it hangs together."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from trimtab.context.recall.pages import page
from trimtab.context.stores.memory_log import Append, Facts, Memorize, Memory, Update
from trimtab.context.stores.notes import clean_key
from trimtab.context.tools.arguments import TEXT, TEXTS, missing, one_of, read, spec
from trimtab.context.tools.host import ContextTool, ContextToolHost, Refuse, ToolReply
from trimtab.types.errors import StoreError
from trimtab.types.tools import ToolSpec

_LISTS = ("entities", "episodes", "relations", "source")
_CLOSE = 8
"""Keys that are offered for one that isn't there."""


class MemoryArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A call of `memory`."""

    action: Literal["memorize", "load", "update", "append", "delete"]
    key: str
    summary: str | None = None
    content: str | None = None
    entities: tuple[str, ...] | None = None
    episodes: tuple[str, ...] | None = None
    relations: tuple[str, ...] | None = None
    source: tuple[str, ...] | None = None


def memory_spec() -> ToolSpec:
    """Return the tool as a model sees it."""
    properties = {
        "action": one_of("memorize", "load", "update", "append", "delete"),
        "key": TEXT,
        "summary": TEXT,
        "content": TEXT,
        **dict.fromkeys(_LISTS, TEXTS),
    }
    return spec("memory", properties, "action", "key")


def memory_tool(host: ContextToolHost, *, refuse: Refuse) -> ContextTool:
    """Return the tool. `refuse` looks at what is about to be written."""
    actions: dict[str, Callable[[MemoryArguments], ToolReply]] = {
        "load": lambda call: _load(host, call),
        "delete": lambda call: _delete(host, call),
    }

    def handle(arguments: Mapping[str, Any]) -> ToolReply:
        call = read(MemoryArguments, arguments, lists=_LISTS)
        if isinstance(call, ToolReply):
            return call
        if not clean_key(call.key):
            return missing("key", call.action)
        try:
            act = actions.get(call.action)
            return act(call) if act else _change(host, call, refuse)
        except StoreError as problem:
            return ToolReply(f"{problem.message}; {problem.hint}", is_error=True)

    return ContextTool(memory_spec(), handle)


def _change(host: ContextToolHost, call: MemoryArguments, refuse: Refuse) -> ToolReply:
    if call.action == "memorize" and not (call.summary or "").strip():
        return missing("summary", "memorize")
    if call.action != "memorize" and host.memories.get(call.key) is None:
        return _unknown(host, call.key)
    if reason := refuse(msgspec.to_builtins(call)):
        return ToolReply(reason, is_error=True)
    kinds: dict[str, type[Facts]] = {"memorize": Memorize, "update": Update, "append": Append}
    fields = {name: getattr(call, name) for name in ("content", *_LISTS)}
    summary = None if call.summary is None else " ".join(call.summary.split())
    memory = host.memories.keep(kinds[call.action](key=call.key, summary=summary, **fields))
    return ToolReply(f"kept memory {memory.key!r}: {len(memory.content):,} characters")


def _load(host: ContextToolHost, call: MemoryArguments) -> ToolReply:
    memory = host.memories.get(call.key)
    if memory is None:
        return _unknown(host, call.key)
    from trimtab.context.recall.related import related  # noqa: PLC0415 - loaded with the first memory that is read

    others = related(memory, host.memories.all())
    changed = host.memories.changed(memory)
    stale = [f"written since: {'; '.join(changed)}; look there before you rely on this"] if changed else []
    text = "\n".join((_shown(memory), *stale, *(f"related {other.key}: {other.summary}" for other in others)))
    return ToolReply(page(text, 1, host.page_tokens, host.count).text)


def _shown(memory: Memory) -> str:
    rows = [f"memory {memory.key} (updated {memory.updated}): {memory.summary}", memory.content]
    rows += [f"{name}: {'; '.join(values)}" for name in _LISTS if (values := getattr(memory, name))]
    return "\n".join(row for row in rows if row)


def _delete(host: ContextToolHost, call: MemoryArguments) -> ToolReply:
    if not host.memories.delete(call.key):
        return _unknown(host, call.key)
    return ToolReply(f"memory {clean_key(call.key)!r} is forgotten; its records stay in the file")


def _unknown(host: ContextToolHost, key: str) -> ToolReply:
    """An answer that offers the keys that may have been meant."""
    from trimtab.context.recall.index import Document, Index  # noqa: PLC0415 - as above

    memories = Index(fts=False)
    for memory in host.memories.all():
        memories.add(Document(memory.key, "memory", "", f"{memory.key}\n{memory.summary}"))
    keys = ", ".join(repr(hit.id) for hit in memories.search(key, _CLOSE))
    offer = f"close to it: {keys}" if keys else "memorize makes one"
    return ToolReply(f"no memory {clean_key(key)!r}; {offer}", is_error=True)
