"""The notebook: what the reader keeps outside of its context, memories with structure and plain notes, and the list that shows their keys.

    memorize, updateMemory ─▶ Memories (the engine's, in this process alone)   ─┐
    note, updateNote       ─▶ MemoDict (the engine's)                          ─┴▶ list: a line each, key and summary

The stores ask for the time; here it is a count of what was written, so the same calls give the same notebook.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from trimtab.context.recall.related import related
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.memory_log import Append, Facts, Memory, Update
from trimtab.context.stores.memory_log import Memorize as Kept
from trimtab.context.stores.notes import MemoDict, clean_key
from trimtab.context.tools.host import ToolReply
from trimtab.lab.docqa.calls import LoadMemory, Memorize, Note, ReadNote, UpdateMemory, UpdateNote

_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
_LISTS = ("entities", "episodes", "relations", "source")
HEAD = "[kept outside of the context; readNote and loadMemory show what stands behind a key]"
"""The first line of the list."""


class Notebook:
    """Memories and notes of one reader."""

    def __init__(self) -> None:
        self._writes = 0
        self.notes = MemoDict(now=self._now)
        self.memories = Memories(None, now=self._now, redact=lambda text: text)

    def _now(self) -> datetime:
        self._writes += 1
        return _BEGINNING + timedelta(seconds=self._writes)

    @property
    def listed(self) -> str:
        """The list of keys with their summaries; empty when nothing is kept."""
        rows = [f"memory {memory.key}: {memory.summary}" for memory in self.memories.all()]
        rows += [f"note {info.key}: {info.summary}" for info in self.notes.infos()]
        return "\n".join((HEAD, *rows)) if rows else ""

    def memorize(self, call: Memorize) -> ToolReply:
        """Keep a memory; one of the same key is replaced."""
        if problem := _lacking(key=clean_key(call.key), summary=call.summary, content=call.content):
            return problem
        source = (*(f"chunk {n}" for n in call.source.chunk_ids), *(f"m{n}" for n in call.source.msg_ids))
        facts = Kept(
            key=call.key,
            summary=_line(call.summary),
            content=call.content,
            entities=call.entities,
            episodes=call.episodes,
            relations=call.relations,
            source=source,
        )
        return _kept("memory", self.memories.keep(facts))

    def update_memory(self, call: UpdateMemory) -> ToolReply:
        """Change or forget a memory."""
        known = self.memories.get(call.key)
        if known is None:
            return self._unknown("memory", call.key)
        if call.mode == "delete":
            self.memories.delete(call.key)
            return ToolReply(f"memory {known.key} is forgotten")
        kind: type[Facts] = Append if call.mode == "append" else Update
        facts = kind(
            key=call.key,
            summary=None if call.new_summary is None else _line(call.new_summary),
            content=call.new_content,
            entities=call.new_entities,
            episodes=call.new_episodes,
            relations=call.new_relations,
        )
        return _kept("memory", self.memories.keep(facts))

    def load_memory(self, call: LoadMemory) -> ToolReply:
        """Show a memory, and those that have to do with it."""
        memory = self.memories.get(call.key)
        if memory is None:
            return self._unknown("memory", call.key)
        others = related(memory, self.memories.all(), call.max_related)
        return ToolReply("\n\n".join(_shown(one) for one in (memory, *others)))

    def note(self, call: Note) -> ToolReply:
        """Keep a note; one of the same key is replaced."""
        if problem := _lacking(key=clean_key(call.key), summary=call.summary, content=call.content):
            return problem
        info = self.notes.write(call.key, call.content, summary=_line(call.summary))
        return ToolReply(f"kept note {info.key}: {len(call.content):,} characters")

    def update_note(self, call: UpdateNote) -> ToolReply:
        """Change a note or throw it away."""
        known = self.notes.read(call.key)
        if known is None:
            return self._unknown("note", call.key)
        if call.mode == "delete":
            self.notes.delete(call.key)
            return ToolReply(f"note {known.info.key} is gone")
        text = call.new_content or ""
        content = f"{known.content}\n{text}" if call.mode == "append" and text else text or known.content
        summary = known.info.summary if call.new_summary is None else _line(call.new_summary)
        info = self.notes.write(call.key, content, summary=summary)
        return ToolReply(f"kept note {info.key}: {len(content):,} characters")

    def read_note(self, call: ReadNote) -> ToolReply:
        """Show a note."""
        known = self.notes.read(call.key)
        return self._unknown("note", call.key) if known is None else ToolReply(known.content)

    def _unknown(self, what: str, key: str) -> ToolReply:
        keys = [memory.key for memory in self.memories.all()] if what == "memory" else []
        keys += [info.key for info in self.notes.infos()] if what == "note" else []
        there = f"there are: {', '.join(keys)}" if keys else "none is kept yet"
        return ToolReply(f"no {what} has the key {clean_key(key)!r}; {there}", is_error=True)


def _lacking(**fields: str) -> ToolReply | None:
    empty = [name for name, text in fields.items() if not text.strip()]
    return ToolReply(f"{' and '.join(empty)} may not be empty; nothing was kept", is_error=True) if empty else None


def _line(text: str) -> str:
    return " ".join(text.split())


def _kept(what: str, memory: Memory) -> ToolReply:
    return ToolReply(f"kept {what} {memory.key}: {len(memory.content):,} characters")


def _shown(memory: Memory) -> str:
    return "\n".join(_rows(memory))


def _rows(memory: Memory) -> Iterator[str]:
    yield f"memory {memory.key}: {memory.summary}"
    if memory.content:
        yield memory.content
    for name in _LISTS:
        if values := getattr(memory, name):
            yield f"{name}: {'; '.join(values)}"
