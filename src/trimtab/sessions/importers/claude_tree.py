"""The tree of a Claude Code file, and the chain in it that the model went on from.

    line ──uuid, parentUuid──▶ tree ──from the last leaf to the root──▶ chain ──▶ lines in the order of the file

A rewind forks the tree, and the abandoned branch is no part of the chain. Parallel calls fork it too: each result hangs on its own
call, and the chain passes through one of them; so lines of a message that is on the chain belong to it, and so do the results of its
calls. A parent that is missing (stripped lines, cut files), or that an answer or a result says it hasn't, is the line before.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from trimtab.sessions.importers.values import list_of, mapping_of, text_of

_BRANCHES = frozenset({"user", "assistant", "system", "attachment", "progress", "tool_use", "tool_result"})


class Line(msgspec.Struct, rename="camel"):
    """The fields of a line that matter. What the file calls `toolUseResult` repeats the result and is skipped unread."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = msgspec.UNSET
    logical_parent_uuid: Any = None
    is_sidechain: Any = False
    is_meta: Any = False
    is_compact_summary: Any = False
    is_api_error_message: Any = False
    is_visible_in_transcript_only: Any = False
    timestamp: Any = None
    cwd: Any = None
    session_id: Any = None
    subtype: Any = None
    compact_metadata: Any = None
    attachment: Any = None
    content: Any = None
    message: Any = None
    name: Any = None
    input: Any = None
    output: Any = None


class Tree:
    """Lines that hang on each other: those of the session, or of its subagents (`sidechain`)."""

    def __init__(self, *, sidechain: bool = False) -> None:
        self.lines: list[Line] = []
        self.others = 0
        """Lines that belong to the other kind."""
        self.unknown = 0
        """Lines that hold something, and nobody knows what."""
        self.repeated = 0
        self._sidechain = sidechain
        self._parents: list[int | None] = []
        """Of each line, the one that it hangs on: always an earlier one, so no damage makes a ring."""
        self._places: dict[str, int] = {}
        self._linked = False
        """Whether any line names a parent. Where none does, the file is a list."""

    def add(self, line: Line) -> None:
        """Take in the next line of the file. One whose uuid and words stood there before is a copy that a resumed file repeats."""
        if not isinstance(line.type, str):
            line.type = mapping_of(line.message).get("role")
        if text_of(line.type) not in _BRANCHES:
            self.unknown += bool(line.message)
            return
        if (line.is_sidechain is True) != self._sidechain:
            self.others += 1
            return
        uuid = text_of(line.uuid)
        if uuid in self._places and _said(self.lines[self._places[uuid]]) == _said(line):
            self.repeated += 1
            return
        self._parents.append(self._parent(line))
        self.lines.append(line)
        if uuid:
            self._places[uuid] = len(self.lines) - 1

    def chain(self) -> list[Line]:
        """Return the live chain in file order."""
        if not self._linked:
            return list(self.lines)
        on_path: set[int] = set()
        at = self._last()
        while at is not None:
            on_path.add(at)
            at = self._parents[at]
        answers = {message_id(self.lines[at]) for at in on_path} - {""}
        alive = {at for at, line in enumerate(self.lines) if at in on_path or message_id(line) in answers}
        calls = {call for at in alive for call in _asked(self.lines[at])}
        return [line for at, line in enumerate(self.lines) if at in alive or calls.intersection(_answered(line))]

    @staticmethod
    def spoken(lines: Iterable[Line]) -> int:
        """Count the lines that hold what somebody said."""
        return sum(line.type in ("user", "assistant") for line in lines)

    def _last(self) -> int | None:
        return len(self.lines) - 1 if self.lines else None

    def _parent(self, line: Line) -> int | None:
        named = [text_of(line.parent_uuid), text_of(line.logical_parent_uuid)]
        known = next((self._places[parent] for parent in named if parent in self._places), None)
        self._linked = self._linked or any(named)
        answers = line.type == "assistant" or bool(_answered(line))
        is_root = line.parent_uuid is None and not named[1] and line.subtype != "compact_boundary" and not answers
        return known if known is not None or is_root else self._last()


def _said(line: Line) -> tuple[Any, ...]:
    return line.type, line.subtype, line.message, line.content, line.attachment, line.name, line.input, line.output


def message_id(line: Line) -> str:
    """The id of the API message that a line is a piece of; empty where it is none or says none."""
    return text_of(mapping_of(line.message).get("id")) if line.type == "assistant" else ""


def _asked(line: Line) -> Iterable[str]:
    return _ids(line, "assistant", "tool_use", "id")


def _answered(line: Line) -> Iterable[str]:
    return _ids(line, "user", "tool_result", "tool_use_id")


def _ids(line: Line, kind: str, block: str, key: str) -> list[str]:
    if line.type != kind:
        return []
    found = map(mapping_of, list_of(mapping_of(line.message).get("content")))
    return [text_of(b.get(key)) for b in found if b.get("type") == block and text_of(b.get(key))]
