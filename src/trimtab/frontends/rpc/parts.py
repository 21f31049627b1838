"""The parts of one answer while it streams, as pi's updates.

    delta of a new part ─▶ …_start, …_delta        delta of a known one ─▶ …_delta        the whole message ─▶ …_end with what each part came to

Calls of tools come whole, once the message has ended: their ids are settled only then. Deltas may have been lost on the way to a slow client, so an ending always says all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from trimtab.agent.events import MessageDelta
from trimtab.frontends.rpc.values import Json, call_of
from trimtab.types.messages import Assistant, Text, Thinking, ToolCall


@dataclass(slots=True)
class Parts:
    """Which parts were begun: the number of each in the stream, and its place in the message."""

    _begun: dict[int, tuple[str, int]] = field(default_factory=dict)

    def take(self, event: MessageDelta) -> Iterator[Json]:
        """The updates of a delta."""
        if event.kind == "tool_arguments" or not event.text:
            return
        if event.part not in self._begun:
            self._begun[event.part] = (event.kind, len(self._begun))
            yield {"type": f"{event.kind}_start", "contentIndex": self._begun[event.part][1]}
        yield {"type": f"{event.kind}_delta", "contentIndex": self._begun[event.part][1], "delta": event.text}

    def finish(self, message: Assistant) -> Iterator[Json]:
        """The endings: of what was begun, of what came whole, and of the calls."""
        texts = iter([part.text for part in message.parts if isinstance(part, Text) and part.text])
        thoughts = iter([part.text for part in message.parts if isinstance(part, Thinking) and part.text])
        for kind, index in self._begun.values():
            content = next(texts if kind == "text" else thoughts, "")
            yield {"type": f"{kind}_end", "contentIndex": index, "content": content}
        index = len(self._begun)
        for kind, rest in (("thinking", thoughts), ("text", texts)):
            for content in rest:
                yield {"type": f"{kind}_start", "contentIndex": index}
                yield {"type": f"{kind}_delta", "contentIndex": index, "delta": content}
                yield {"type": f"{kind}_end", "contentIndex": index, "content": content}
                index += 1
        for call in message.tool_calls:
            yield from _call(call, index)
            index += 1


def _call(call: ToolCall, index: int) -> Iterator[Json]:
    yield {"type": "toolcall_start", "contentIndex": index, "id": call.id, "toolName": call.name}
    if call.raw:
        yield {"type": "toolcall_delta", "contentIndex": index, "delta": call.raw}
    yield {"type": "toolcall_end", "contentIndex": index, "toolCall": call_of(call)}
