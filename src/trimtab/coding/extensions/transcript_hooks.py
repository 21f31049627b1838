"""The hooks around requests and compactions, as the transcript asks them.

before a request ──▶ notes ──▶ recorded behind what was said last: the part that a cache holds stays as it was
before a compaction ──▶ not now │ by no model │ this text │ with these wishes ──▶ the engine does so
an edit that takes the place of a part of the conversation was recorded ──▶ told
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trimtab.coding.extensions.chain import HookPoints
from trimtab.coding.extensions.points import AfterCompaction, BeforeCompaction, BeforeRequest
from trimtab.context.asks import Consent, Consented
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Message, Text, ToolResult, User, user
from trimtab.types.models import ModelRequest

_TOLD = 20_000
"""Characters of what was said last, or gives way, that hooks are told."""
_EACH = 1_000
"""Characters of one message among those that give way."""


@dataclass(slots=True)
class TranscriptHooks:
    """Asks the hooks of one session."""

    points: HookPoints
    where: Mapping[str, Any]
    """The session and its folder, as every hook is told them."""

    async def before_request(self, request: ModelRequest, said: Callable[[], tuple[Message, ...]]) -> tuple[User, ...]:
        """What is to be recorded before the request: what hooks want the model to read now."""
        if not self.points.has("before_request"):
            return ()
        messages = said()
        last = messages[-1] if messages else None
        text = _said(last) if last else ""
        role = "tool" if isinstance(last, ToolResult) else "user" if isinstance(last, User) else "assistant"
        told = BeforeRequest(model=request.model.ref, last_role=role, last_text=text[:_TOLD], **self.where)
        notes = await self.points.notes(told)
        return (user("\n".join(notes), origin="note"),) if notes else ()

    @property
    def hears_compactions(self) -> bool:
        """Whether a hook is to be asked before one."""
        return self.points.has("before_compaction")

    async def before_compaction(self, model: str, ask: Consent) -> Consented:
        """What hooks have against a compaction, or want of it."""
        told = BeforeCompaction(
            model=model,
            trigger="manual" if ask.author == "user" else "auto",
            by_model=ask.by_model,
            tokens_before=ask.used,
            room=ask.room,
            replaces_tokens=ask.tokens,
            text=as_text(ask.messages),
            instructions=ask.wishes,
            ahead=ask.ahead,
            **self.where,
        )
        return await self.points.compaction(told)

    async def edited(self, entry_id: str, entry: EditEntry) -> None:
        """An edit was recorded."""
        if not self.points.has("after_compaction") or entry.edit.__struct_config__.tag != "compact":
            return
        told = AfterCompaction(
            entry_id=entry_id,
            reason=entry.reason,
            author=entry.author,
            before_tokens=entry.before_tokens or 0,
            after_tokens=entry.after_tokens or 0,
            **self.where,
        )
        await self.points.say(told)


def as_text(messages: Sequence[Message]) -> str:
    """A conversation as hooks are told it: who said what, each thing shortened, and all of it too."""
    lines: list[str] = []
    room = _TOLD
    for message in messages:
        calls = message.tool_calls if isinstance(message, Assistant) else ()
        said = [_said(message)[:_EACH], *(f"calls {call.name} {call.raw}"[:_EACH] for call in calls)]
        line = f"{message.__struct_config__.tag}: " + "\n".join(filter(None, said))
        if len(line) > room:
            lines.append("…")
            break
        room -= len(line) + 1
        lines.append(line)
    return "\n".join(lines)


def _said(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, Text))
