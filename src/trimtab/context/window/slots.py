"""Slots: the places of a conversation, and how edits show on them.

A slot holds one message as it was recorded and, in order, what edits laid over it. What the model sees of it is computed:

    base message + effect of the overlays whose edits hold ──render──▶ shown: no message, one, or a summary in front of one

Overlays are never removed (`layers`). So taking one edit back leaves all others as they were, whatever came later; where two edits speak about
the same bytes the later one wins.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import assert_never

from msgspec.structs import replace

from trimtab.context.window.layers import NONE, Effect, Layers, Overlay, State
from trimtab.types.messages import Assistant, Message, Opaque, Part, Text, ToolCall, ToolResult, User
from trimtab.types.stream import parse_arguments


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of the conversation. Make changed ones with `with_overlays`, `switched` or `rendered`.

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
    layers: Layers = NONE
    shown: tuple[Message, ...] = ()
    state: State = "full"
    lead: str | None = None
    pinned: bool = False
    expires: str | None = None

    @property
    def overlays(self) -> tuple[Overlay, ...]:
        """What edits laid over it, the oldest first, reverted ones included."""
        return tuple(self.layers)

    @property
    def edits(self) -> tuple[str, ...]:
        """Ids of the edits that touch it, reverted ones included."""
        return tuple(dict.fromkeys(overlay.edit for overlay in self.layers))

    @property
    def recorded(self) -> "Slot":
        """The slot as if no edit had touched it."""
        return self._under(NONE, ())

    def rendered(self, reverted: Collection[str]) -> "Slot":
        """Return the slot with what is shown computed anew. `reverted` matters to a slot that an edit made (`note`)."""
        return self._under(self.layers, reverted)

    def with_overlays(self, overlays: tuple[Overlay, ...], reverted: Collection[str]) -> "Slot":
        """Return the slot with more overlays on top."""
        return self._under(self.layers.with_overlays(overlays), reverted)

    def switched(self, start: int, edit_id: str, reverted: Collection[str]) -> "Slot":
        """Return the slot once that edit, whose overlays begin at `start`, was taken back, or holds again, as `reverted` says."""
        return self._under(self.layers.switched(start, edit_id, holds=edit_id not in reverted), reverted)

    def without(self, edits: Collection[str], reverted: Collection[str]) -> "Slot":
        """Return the slot as it would be if those edits (their ids) didn't hold."""
        unsaid = {self.note} if self.note in edits or self.note in reverted else ()
        return self._under(self.layers.without(edits), unsaid)

    def _under(self, layers: Layers, reverted: Collection[str]) -> "Slot":
        look = layers.effect
        summary = look.summary
        body = None if look.hidden or (self.note and self.note in reverted) else _shown(self.base, look)
        lead = () if summary is None else (User((Text(summary[1]),), origin="summary"),)
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
            layers,
            lead if body is None else (*lead, body),
            "gone" if body is None else look.state,
            None if summary is None else summary[0],
            bool(look.pinned),
            look.expires or None,
        )


def _shown(base: Message, look: Effect) -> Message | None:
    text, texts, raws, left_out = look.text, look.texts, look.raws, look.left_out
    if text is None and not texts and not raws and not left_out:
        return headed(base) if isinstance(base, ToolResult) else base
    match base:
        case User():
            return replace(base, parts=_texts(base.parts, text, texts))
        case ToolResult():
            if text is not None:
                return replace(base, parts=(Text(text),), cut=None)
            return headed(replace(base, parts=_texts(base.parts, text, texts)))
        case Assistant():
            return _answer(base, text, texts, raws, left_out)
        case _:
            assert_never(base)


def _texts(parts: tuple[Part, ...], text: str | None, texts: dict[int, str]) -> tuple[Part, ...]:
    if text is not None:
        return (Text(text),)
    return tuple(Text(texts[n]) if n in texts else part for n, part in enumerate(parts))


def _answer(
    base: Assistant, text: str | None, texts: dict[int, str], raws: dict[int, str], left_out: set[int]
) -> Assistant | None:
    """An answer with another text keeps its calls; its thoughts and provider's items go with the words they led to."""
    parts: list[Part] = [] if text is None else [Text(text)]
    for n, part in enumerate(base.parts):
        if n in left_out:
            continue
        if isinstance(part, ToolCall):
            raw = raws.get(n)
            parts.append(part if raw is None else replace(part, raw=raw, arguments=parse_arguments(raw)))
        elif text is None:
            parts.append(Text(texts[n]) if n in texts else part)
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
