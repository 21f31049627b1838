"""The hooks around requests and compactions, as the transcript asks them.

before a request ──▶ notes ──▶ recorded behind what was said last: the part that a cache holds stays as it was
before a summary ──▶ why not ──▶ the engine does without one, as when no model can write it
an edit that takes the place of a part of the conversation was recorded ──▶ told
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from trimtab.coding.extensions.chain import HookPoints
from trimtab.coding.extensions.points import AfterCompaction, BeforeCompaction, BeforeRequest
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Message, Text, ToolResult, User, user
from trimtab.types.models import ModelRequest

_TOLD = 20_000
"""Characters of what was said last that hooks are told."""


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
        text = "\n".join(p.text for p in last.parts if isinstance(p, Text)) if last else ""
        role = "tool" if isinstance(last, ToolResult) else "user" if isinstance(last, User) else "assistant"
        told = BeforeRequest(model=request.model.ref, last_role=role, last_text=text[:_TOLD], **self.where)
        notes = await self.points.notes(told)
        return (user("\n".join(notes), origin="note"),) if notes else ()

    async def before_summary(self, model: str) -> str:
        """Why no model is to be asked for a summary; empty when one may be."""
        if not self.points.has("before_compaction"):
            return ""
        return await self.points.refusal(BeforeCompaction(model=model, **self.where))

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
