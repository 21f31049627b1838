"""Chat Completions messages written from a conversation; `openai.py` reads them.

    messages ──pair──▶ walk ──_Writer──▶ dicts; the parts of an answer ──_Answer──▶ fields of one dict

The one rule: a result stands right behind its call and holds only text; pictures of a batch follow it in one user message.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never

from trimtab.context.vendor.images import in_words, to_data_url
from trimtab.context.vendor.plain import copied, without
from trimtab.context.vendor.turns import Known, fields_of, nothing_known, walk, wire_of
from trimtab.context.window.pairs import pair
from trimtab.types.ids import portable_call_id
from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User

NAME = "openai"
"""The format."""
PROVIDER = "openai-chat"
"""Not "openai": the opaque parts of that provider are items of another API."""
SYSTEM_ROLES = ("system", "developer")
"""Roles of instructions."""
THOUGHT_FIELDS = ("reasoning_content", "reasoning")
"""Fields in which servers show thinking; a thought's `wire["field"]` is one of them."""
REFUSAL = "message_refusal"
"""Type of a text that is the message's `refusal`, not a block of its content."""
AUDIO = "message_audio"
"""Type of an opaque part that is the message's `audio`."""
LEGACY_CALL = "function_call"
"""Type of a call in the older form, which has no id and is answered by role `function`."""


_LEGAL_ID = re.compile(r"(?s).{1,40}")
"""OpenAI takes no longer one; servers with longer ids read ours back just as well. Letters are no matter: some have `functions.read:0`."""


def sent_id(call_id: str) -> str:
    """Return the id of a call or result as a request has it."""
    return portable_call_id(call_id, legal=_LEGAL_ID)


def encode(messages: Sequence[Message], known: Known = nothing_known) -> list[dict[str, Any]]:
    """Return the conversation as Chat Completions messages."""
    writer = _Writer()
    for message, given in walk(pair(messages)[0], known):
        writer.add(message, given)
    out: list[dict[str, Any]] = copied(writer.done())
    return out


@dataclass(slots=True)
class _Writer:
    """Writes a paired conversation. `shown` waits for the end of the batch whose results it belongs to."""

    out: list[dict[str, Any]] = field(default_factory=list)
    shown: list[dict[str, Any]] = field(default_factory=list)
    legacy: dict[str, str] = field(default_factory=dict)

    def add(self, message: Message, given: dict[str, Any] | None) -> None:
        """Write the next message; `given` is the dict that it came in."""
        if not isinstance(message, ToolResult):
            self._close()
        if isinstance(message, Assistant):
            mine = message.provider == PROVIDER
            legacy = (c for c in message.tool_calls if wire_of(c, mine=mine).get("type") == LEGACY_CALL)
            self.legacy = {c.id: c.name for c in legacy}
        if given is not None:
            self.out.append(given)
            return
        match message:
            case ToolResult():
                self._result(message)
            case User():
                self._user(message)
            case Assistant():
                self._answer(message)
            case _:
                assert_never(message)

    def done(self) -> list[dict[str, Any]]:
        """Return what was written."""
        self._close()
        return self.out

    def _close(self) -> None:
        if self.shown:
            self.out.append({"role": "user", "content": self.shown})
            self.shown = []

    def _user(self, message: User) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        blocks = _blocks(message.parts, mine=fields is not None)
        role = (fields or {}).get("role", "user")
        if role in SYSTEM_ROLES:  # instructions hold only text
            blocks = [b for b in blocks if b["type"] == "text"]
        if blocks:
            self.out.append({"role": role, "content": _short(blocks), **(without(fields or {}, "role") or {})})

    def _result(self, message: ToolResult) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        blocks = _blocks(message.parts, mine=fields is not None)
        texts = [b for b in blocks if b["type"] == "text"]
        others = [b for b in blocks if b["type"] != "text"]
        if others:
            head = f"From the result of {message.tool_name or 'the call'} ({message.call_id}):"
            self.shown += [{"type": "text", "text": head}, *others]
            texts = texts or [{"type": "text", "text": "(shown below)"}]
        extra = without(fields or {}, "role") or {}
        legacy = self.legacy.get(message.call_id)
        if legacy is not None:
            text = "\n".join(b["text"] for b in texts)
            self.out.append({"role": "function", "name": legacy, "content": text, **extra})
        else:
            content = _short(texts) if texts else ""
            self.out.append({"role": "tool", "tool_call_id": sent_id(message.call_id), "content": content, **extra})

    def _answer(self, message: Assistant) -> None:
        fields = fields_of(message, NAME, PROVIDER)
        mine = fields is not None
        written = _Answer(mine=mine)
        for part in message.parts:
            written.add(part)
        if any(k not in ("role", "content") or v for k, v in written.fields().items()):
            self.out.append({**written.fields(), **(fields or {})})


@dataclass(slots=True)
class _Answer:
    """The fields of one assistant message, while its parts are written."""

    mine: bool
    named: dict[str, Any] = field(default_factory=dict)
    content: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Write the next part."""
        match part:
            case Text():
                self._text(part)
            case Image():
                self.content.append({"type": "text", "text": in_words(part)})
            case Thinking():
                name = (part.wire or {}).get("field")
                if self.mine and name in THOUGHT_FIELDS:
                    self.named[name] = self.named.get(name, "") + part.text
            case ToolCall():
                self._call(part)
            case Opaque():
                self._opaque(part)
            case _:
                assert_never(part)

    def fields(self) -> dict[str, Any]:
        """Return the message so far; `content` is null only where another field says something."""
        content = _short(self.content) if self.content else None
        spoken = self.calls or any(f not in THOUGHT_FIELDS for f in self.named)
        out = {"role": "assistant", "content": content if self.content or spoken else "", **self.named}
        return {**out, "tool_calls": self.calls} if self.calls else out

    def _text(self, part: Text) -> None:
        wire = wire_of(part, mine=self.mine)
        if wire.get("type") == REFUSAL:
            self.named["refusal"] = part.text
        elif wire.get("type") == "refusal":
            self.content.append({"type": "refusal", "refusal": part.text, **(without(wire, "type") or {})})
        elif part.text or wire:
            self.content.append({"type": "text", "text": part.text, **wire})

    def _opaque(self, part: Opaque) -> None:
        if part.provider != PROVIDER:
            return
        if part.data.get("type") == AUDIO:
            self.named["audio"] = part.data.get("audio")
        else:
            self.content.append(part.data)

    def _call(self, call: ToolCall) -> None:
        wire = dict(wire_of(call, mine=self.mine))
        if wire.get("type") == LEGACY_CALL:
            extra = without(wire, "type") or {}
            self.named["function_call"] = {"name": call.name, "arguments": call.raw, **extra}
        elif wire.get("type") == "custom":
            custom = {"name": call.name, "input": call.raw, **wire.pop("custom", {})}
            self.calls.append(
                {"id": sent_id(call.id), "type": "custom", "custom": custom, **(without(wire, "type") or {})}
            )
        else:
            function = {"name": call.name, "arguments": call.raw, **wire.pop("function", {})}
            self.calls.append({"id": sent_id(call.id), "type": "function", "function": function, **wire})


def _blocks(parts: Iterable[Part], *, mine: bool) -> list[dict[str, Any]]:
    """The blocks of a user message or a result."""
    out: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Text):
            out.append({"type": "text", "text": part.text, **wire_of(part, mine=mine)})
        elif isinstance(part, Image) and not part.data:
            out.append({"type": "text", "text": in_words(part)})
        elif isinstance(part, Image):
            wire = wire_of(part, mine=mine)
            link = {"url": to_data_url(part), **wire.get("image_url", {})}
            out.append({"type": "image_url", "image_url": link, **(without(wire, "image_url") or {})})
        elif isinstance(part, Opaque) and part.provider == PROVIDER:
            out.append(part.data)
    return out


def _short(blocks: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """One plain text is written as a string, which every server takes."""
    only = blocks[0] if len(blocks) == 1 else {}
    return str(only["text"]) if only.keys() == {"type", "text"} else blocks
