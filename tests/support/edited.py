"""A conversation with edits, told line by line; it gives the view, the archive and the path of entries at once."""

import json
from collections.abc import Mapping
from typing import Any

from trimtab.context.archive import Archive
from trimtab.context.window.fold import Fold
from trimtab.context.window.view import View
from trimtab.types.codec import Entry, entry_of
from trimtab.types.edits import Edit
from trimtab.types.entries import CustomEntry, EditEntry, KnownEntry, MessageEntry, RevertEntry
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, user


class Story:
    """Grows by `says`, `calls`, `edits`, `reverts` and `notes`; each returns the id of its entry."""

    def __init__(self) -> None:
        self.archive = Archive()
        self.entries: list[Entry] = []
        self._fold = Fold(lambda message: message)
        self._calls = 0

    @property
    def view(self) -> View:
        """What a model sees now."""
        return self._fold.view

    def says(self, text: str) -> str:
        """The user says something."""
        return self._add(MessageEntry, message=user(text))

    def answers(self, text: str) -> str:
        """The model answers without a call."""
        return self._add(MessageEntry, message=Assistant((Text(text),), "stop"))

    def calls(self, tool: str, arguments: Mapping[str, Any], body: str, *, is_error: bool = False) -> str:
        """The model calls a tool and gets `body`; returns the handle of the result (`r1`, `r2` …)."""
        self._calls += 1
        call_id, handle = f"call-{self._calls}", f"r{self._calls}"
        call = ToolCall(call_id, tool, dict(arguments), json.dumps(dict(arguments)))
        self._add(MessageEntry, message=Assistant((call,), "tool_use"))
        self._add(MessageEntry, message=ToolResult(call_id, tool, (Text(body),), is_error=is_error, handle=handle))
        return handle

    def edits(self, edit: Edit, *, author: str = "policy:rules", **facts: Any) -> str:
        """Somebody edits. Targets may be handles."""
        return self._add(EditEntry, edit=edit, author=author, **facts)

    def reverts(self, target: str) -> str:
        """Somebody takes an edit back."""
        return self._add(RevertEntry, target=target, author="user", reason="needed")

    def notes(self, **data: Any) -> str:
        """The engine writes a note."""
        return self._add(CustomEntry, kind="context", data=data)

    def take(self, value: KnownEntry) -> None:
        """Take in an entry that somebody else made."""
        entry = entry_of(value)
        self.entries.append(entry)
        self.archive.add(entry)
        self._fold.add(entry)

    def _add(self, make: Any, **fields: Any) -> str:
        entry_id = f"e{len(self.entries) + 1}"
        self.take(make(id=entry_id, parent=self.archive.leaf, time="2030-01-01T00:00:00.000Z", **fields))
        return entry_id


def count(message: Message) -> int:
    """A size that is easy to see: characters of text."""
    return sum(len(part.text) for part in message.parts if isinstance(part, Text))
