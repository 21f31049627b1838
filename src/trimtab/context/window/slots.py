"""Slots: the places of a conversation, and how edits show on them.

A slot holds one message as it was recorded and, in order, what edits laid over it. What the model sees of it is computed:

    base message + overlays (those of reverted edits left out) ──render──▶ shown: no message, one, or a summary in front of one

Overlays are never removed. So taking one edit back leaves all others as they were, whatever came later; where two edits speak about
the same bytes the later one wins.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, assert_never

from msgspec.structs import replace

from trimtab.types.messages import Assistant, Message, Opaque, Part, Text, ToolCall, ToolResult, User
from trimtab.types.stream import parse_arguments

State: TypeAlias = Literal["full", "folded", "summary", "stub", "gone"]
Act: TypeAlias = Literal[
    "body", "whole", "hide", "unhide", "lead", "unlead", "arguments", "uncall", "pin", "unpin", "expire"
]


class Overlay(NamedTuple):
    """What one edit does to one slot.

    `body` puts `text` in place of the body (of part `part`), `state` says what kind of text that is. `whole` brings the recorded body back.
    `hide` takes the message out, `unhide` lets it and all its calls stand again as it was. `lead` puts a summary in front, `unlead` takes the one of edit `text` away. `arguments` shows `text`
    as the arguments of call `part`, `uncall` leaves that call out.
    """

    edit: str
    act: Act
    text: str = ""
    part: int | None = None
    state: State = "full"


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the conversation. Make changed ones with `with_overlay` or `rendered`.

    `id` is the address: the entry's id, or the call's for an answer that isn't there. `group` is the index of the assistant slot
    whose call this answers. `step` counts model requests, `turn` prompts. `answered` is False for a result that stands in for a real one;
    `stored` says that the stand-in is in the log. `end` (assistant slots) is the index behind its results.
    """

    id: str
    base: Message
    step: int = 0
    turn: int = 0
    group: int | None = None
    end: int = 0
    answered: bool = True
    stored: bool = True
    note: str = ""
    overlays: tuple[Overlay, ...] = ()
    shown: tuple[Message, ...] = ()
    state: State = "full"
    lead: str | None = None
    pinned: bool = False
    expires: str | None = None

    @property
    def edits(self) -> tuple[str, ...]:
        """Ids of the edits that touch it, reverted ones included."""
        return tuple(dict.fromkeys(overlay.edit for overlay in self.overlays))

    def rendered(self, reverted: Collection[str]) -> "Slot":
        """Return the slot with what is shown computed anew."""
        return self.with_overlays((), reverted)

    def with_overlays(self, overlays: tuple[Overlay, ...], reverted: Collection[str]) -> "Slot":
        """Return the slot with more overlays on top."""
        laid = (*self.overlays, *overlays)
        look = _Look()
        for overlay in laid:
            if overlay.edit not in reverted:
                look.take(overlay)
        body = None if look.hidden or self.note in reverted else look.show(self.base)
        lead = () if look.lead is None else (User((Text(look.lead[1]),), origin="summary"),)
        # Field by field: a summary lays something on every slot that it covers, and a general copy takes several times as long.
        return Slot(
            self.id,
            self.base,
            self.step,
            self.turn,
            self.group,
            self.end,
            self.answered,
            self.stored,
            self.note,
            laid,
            lead if body is None else (*lead, body),
            "gone" if body is None else look.state,
            None if look.lead is None else look.lead[0],
            look.pinned,
            look.expires,
        )


@dataclass(slots=True)
class _Look:
    """What the overlays of a slot come to."""

    body: str | None = None
    state: State = "full"
    parts: dict[int, str] = field(default_factory=dict)
    arguments: dict[int, str] = field(default_factory=dict)
    uncalled: set[int] = field(default_factory=set)
    hidden: bool = False
    lead: tuple[str, str] | None = None
    pinned: bool = False
    expires: str | None = None

    def take(self, overlay: Overlay) -> None:
        match overlay.act:
            case "body":
                self._set_body(overlay)
            case "whole":
                self._restore(overlay.part)
            case "hide":
                self.hidden = True
            case "unhide":
                self.hidden = False
                self.uncalled.clear()
            case "lead":
                self.lead = (overlay.edit, overlay.text)
            case "unlead":
                if self.lead is not None and self.lead[0] == overlay.text:
                    self.lead = None
            case "arguments":
                self.arguments[overlay.part or 0] = overlay.text
            case "uncall":
                self.uncalled.add(overlay.part or 0)
            case "pin" | "unpin":
                self.pinned = overlay.act == "pin"
            case "expire":
                self.expires = overlay.edit
            case _:
                assert_never(overlay.act)

    def _set_body(self, overlay: Overlay) -> None:
        self.expires = None
        if overlay.part is None:
            self.body, self.state = overlay.text, overlay.state
            self.parts.clear()
        else:
            self.parts[overlay.part] = overlay.text
            self.state = overlay.state if self.body is None else self.state

    def _restore(self, part: int | None) -> None:
        self.hidden = False
        self.expires = None
        if part is None:
            self.body, self.state = None, "full"
            self.parts.clear()
            self.arguments.clear()
            self.uncalled.clear()
        else:
            self.parts.pop(part, None)
            self.arguments.pop(part, None)
            self.uncalled.discard(part)
            if self.body is None and not self.parts:
                self.state = "full"

    def show(self, base: Message) -> Message | None:
        match base:
            case User():
                return base if self._untouched else replace(base, parts=self._texts(base.parts))
            case ToolResult():
                if self._untouched:
                    return headed(base)
                if self.body is not None:
                    return replace(base, parts=(Text(self.body),), cut=None)
                return headed(replace(base, parts=self._texts(base.parts)))
            case Assistant():
                return base if self._untouched else self._answer(base)
            case _:
                assert_never(base)

    @property
    def _untouched(self) -> bool:
        return self.body is None and not self.parts and not self.arguments and not self.uncalled

    def _texts(self, parts: tuple[Part, ...]) -> tuple[Part, ...]:
        if self.body is not None:
            return (Text(self.body),)
        return tuple(Text(self.parts[n]) if n in self.parts else part for n, part in enumerate(parts))

    def _answer(self, base: Assistant) -> Assistant | None:
        """An answer with another text keeps its calls; its thoughts and provider's items go with the words they led to."""
        parts: list[Part] = [] if self.body is None else [Text(self.body)]
        for n, part in enumerate(base.parts):
            if n in self.uncalled:
                continue
            if isinstance(part, ToolCall):
                raw = self.arguments.get(n)
                parts.append(part if raw is None else replace(part, raw=raw, arguments=parse_arguments(raw)))
            elif self.body is None:
                parts.append(Text(self.parts[n]) if n in self.parts else part)
        if not any(isinstance(part, Text | ToolCall | Opaque) for part in parts):
            return None
        # What was reported for the whole answer is no measure of what is left of it.
        return replace(base, parts=tuple(parts), usage=None)


def headed(result: ToolResult) -> ToolResult:
    """A result that has a handle shows it at its head, so that the model can name it; once shown it is text, and no second view adds another."""
    if result.handle is None:
        return result
    head = f"[{result.handle}]"
    first = result.parts[0] if result.parts else None
    if isinstance(first, Text):
        parts = (replace(first, text=f"{head}\n{first.text}"), *result.parts[1:])
    else:
        parts = (Text(head), *result.parts)
    return replace(result, parts=parts, handle=None)
