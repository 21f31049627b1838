"""The answer of the Responses API, event by event.

An answer is a list of output items. Each item is a `_Slot` here: announced (`output_item.added`), streamed (deltas), completed
(`output_item.done`), and listed once more in the final event. Servers leave out or reorder any of the four, change ids between them, or
number every item 0; so a slot is found by id and index, then by either, then as an open one of its type, and is made where none fits.
What a done item says replaces what its deltas said; what it doesn't say, they said. The list in the final event is matched type by type
and in order, because by then ids and indexes may have changed once more, and an item taken for a new one would run a call twice.

    message         a part per content entry: output_text → Text; refusal → Text, and the answer is refused
    reasoning       Thinking: summaries joined, else the raw reasoning; the whole item in `wire["item"]`
    function_call   ToolCall
    anything else   Opaque, verbatim

The answer is over with `response.completed`, `.incomplete` or `.failed`, whatever the connection does then: `Ended` comes at once.
Without one of these it was cut.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec

from trimtab.providers.classify import classify
from trimtab.providers.lenient import compact, count, cut_stream, decode, text_of
from trimtab.providers.wire import WireFailure
from trimtab.types.ids import new_call_id
from trimtab.types.messages import Opaque, StopReason, Text, Thinking
from trimtab.types.stream import DeltaKind, Ended, PartDelta, PartEnded, PartStarted, StreamEvent, make_call
from trimtab.types.text import scrub
from trimtab.types.usage import Usage

_anything = msgspec.json.Decoder()
_BETWEEN_SUMMARIES = "\n\n"
_KINDS: dict[str, DeltaKind] = {"message": "text", "reasoning": "thinking", "function_call": "tool_arguments"}
_TERMINAL = {
    "response.completed": "completed",
    "response.done": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}
_DELTAS = {
    "response.output_text.delta": "message",
    "response.refusal.delta": "message",
    "response.reasoning_summary_text.delta": "reasoning",
    "response.reasoning_text.delta": "reasoning",
    "response.function_call_arguments.delta": "function_call",
}


class _Slot:
    """One output item.

    `parts` and `chunks` are the part numbers and deltas of its content entries (all but messages have only entry 0). `early` are argument
    deltas of a call that wasn't announced, so can't be shown yet; `arguments` is what `function_call_arguments.done` said.
    """

    __slots__ = (
        "arguments", "call_id", "chunks", "done", "early", "index", "key", "name", "parts", "phase", "section", "type",
    )  # fmt: skip

    def __init__(self, item_type: str, *, key: str, index: int | None, part: int) -> None:
        self.type = item_type
        self.key = key
        self.index = index
        self.parts: dict[int, int] = {0: part}
        self.chunks: dict[int, list[str]] = {}
        self.section = 0
        self.done = False
        self.call_id = ""
        self.name = ""
        self.phase = ""
        self.arguments = ""
        self.early: list[str] = []

    def streamed(self, entry: int) -> str:
        """What the deltas of an entry said."""
        return "".join(self.chunks.get(entry, self.early))


class _Slots:
    """The items of one answer in the order they began, and the search among them."""

    def __init__(self) -> None:
        self.all: list[_Slot] = []
        self._numbers = 0
        self._last: _Slot | None = None

    def number(self) -> int:
        """A new part number."""
        self._numbers += 1
        return self._numbers - 1

    def open(self, item_type: str, key: str, index: int | None) -> _Slot:
        """A new item."""
        slot = _Slot(item_type, key=key, index=index, part=self.number())
        self.all.append(slot)
        return slot

    def announced(self, item_type: str, key: str, index: int | None) -> _Slot:
        """The item of an announcement: a new one, unless it comes twice or late (without an index a used id is a new item's)."""
        for slot in self.all:
            if (
                key
                and (index is not None or not slot.done)
                and (slot.type, slot.key, slot.index) == (item_type, key, index)
            ):
                return slot
        return self.open(item_type, key, index)

    def streaming(self, item_type: str, key: str, index: int | None) -> _Slot:
        """The item of a delta; a done one when the delta comes late."""
        last = self._last
        if last is None or last.done or (last.type, last.key, last.index) != (item_type, key, index):
            alike = [s for s in reversed(self.all) if s.type == item_type]
            last = self._find([s for s in alike if not s.done] + [s for s in alike if s.done], key, index)
            last = last or self.open(item_type, key, index)
            self._last = last
        return last

    def finished(self, item_type: str, key: str, index: int | None) -> _Slot:
        """The item that is complete now; a done one when the server says so twice."""
        alike = [s for s in self.all if s.type == item_type]
        for slot in alike:
            if slot.done and key and (slot.key, slot.index) == (key, index):
                return slot
        return self._find([s for s in alike if not s.done], key, index) or self.open(item_type, key, index)

    def nth(self, item_type: str, n: int) -> _Slot:
        """The n-th item of its type (from 0), new when there are fewer."""
        alike = sorted((s for s in self.all if s.type == item_type), key=lambda s: s.index or 0)
        return alike[n] if n < len(alike) else self.open(item_type, "", None)

    @staticmethod
    def _find(slots: list[_Slot], key: str, index: int | None) -> _Slot | None:
        same_key = [s for s in slots if key and s.key == key]
        same_index = [s for s in slots if index is not None and s.index == index]
        both = [s for s in same_key if index is None or s.index in (None, index)]
        unnamed = [s for s in slots if not s.done and (index is None or s.index is None)]
        return next(chain(both, same_index, same_key, unnamed), None)


class ResponsesDecoder:
    """Turns the events of one answer into stream events. Used once."""

    def __init__(self, *, provider: str, max_output: int | None = None, window: int | None = None) -> None:
        """`max_output` is the limit that the request set, `window` what the model holds, both in tokens."""
        self._provider = provider
        self._max_output = max_output
        self._window = window
        self._slots = _Slots()
        self._call_ids: set[str] = set()
        self._refused = False
        self._over = False

    def feed(self, event: str, data: bytes) -> Iterator[StreamEvent]:
        """Take one event. Raises `WireFailure` for an error object, a failed answer, or data that isn't JSON."""
        data = data.strip()
        if self._over or not data or data == b"[DONE]":
            return
        body = decode(data, _anything)
        if not isinstance(body, dict):
            return
        kind = text_of(body.get("type")) or event
        if kind in _DELTAS:
            yield from self._delta(kind, _DELTAS[kind], body)
        elif kind == "response.output_item.added":
            yield from self._announce(_dict(body.get("item")), _index(body))
        elif kind == "response.output_item.done":
            item = _dict(body.get("item"))
            yield from self._complete(self._slots.finished(text_of(item.get("type")), _key(item), _index(body)), item)
        elif kind == "response.function_call_arguments.done":
            slot = self._slots.streaming("function_call", text_of(body.get("item_id")), _index(body))
            slot.arguments = _raw(body.get("arguments"))
        elif kind in _TERMINAL:
            yield from self._terminate(_dict(body.get("response")), _TERMINAL[kind])
        elif kind == "error" or body.get("error"):
            raise WireFailure(classify(None, compact(body.get("error") or body)))
        elif body.get("object") == "response" or "output" in body:
            yield from self._terminate(body, "completed")

    def finish(self) -> Iterator[StreamEvent]:
        """The body is over. `Ended` came with the final event; raises `WireFailure` when there was none."""
        if not self._over:
            raise cut_stream()
        return iter(())

    def _delta(self, kind: str, item_type: str, body: dict[str, Any]) -> Iterator[StreamEvent]:
        text = _raw(body.get("delta"))
        if not text:
            return
        slot = self._slots.streaming(item_type, text_of(body.get("item_id")), _index(body))
        if slot.done:
            return
        if item_type == "function_call" and not slot.call_id:
            slot.early.append(text)
            return
        entry = count(body.get("content_index")) if item_type == "message" else 0
        if kind == "response.refusal.delta":
            self._refused = True
        elif kind == "response.reasoning_summary_text.delta":
            section = count(body.get("summary_index"))
            if section != slot.section and slot.chunks.get(0):
                text = _BETWEEN_SUMMARIES + text
            slot.section = section
        yield from self._start(slot, entry)
        slot.chunks[entry].append(text)
        yield PartDelta(slot.parts[entry], _KINDS[item_type], text)

    def _announce(self, item: dict[str, Any], index: int | None) -> Iterator[StreamEvent]:
        slot = self._slots.announced(text_of(item.get("type")), _key(item), index)
        if slot.done:
            return
        self._describe(slot, item)
        if slot.type in ("reasoning", "function_call"):
            yield from self._start(slot, 0)
        if slot.early:
            text, slot.early = "".join(slot.early), []
            slot.chunks[0].append(text)
            yield PartDelta(slot.parts[0], "tool_arguments", text)

    def _start(self, slot: _Slot, entry: int) -> Iterator[StreamEvent]:
        if entry in slot.chunks:
            return
        slot.chunks[entry] = []
        yield PartStarted(self._part(slot, entry), _KINDS[slot.type], slot.call_id, slot.name)

    def _part(self, slot: _Slot, entry: int) -> int:
        if entry not in slot.parts:
            slot.parts[entry] = self._slots.number()
        return slot.parts[entry]

    def _describe(self, slot: _Slot, item: dict[str, Any]) -> None:
        """Note what an item says of itself. A call gets its id at the first chance, unique in the answer."""
        slot.phase = text_of(item.get("phase")) or slot.phase
        slot.name = text_of(item.get("name")) or slot.name
        if slot.type == "function_call" and not slot.call_id:
            call_id = text_of(item.get("call_id")) or text_of(item.get("id")) or slot.key
            slot.call_id = call_id if call_id and call_id not in self._call_ids else new_call_id()
            self._call_ids.add(slot.call_id)

    def _complete(self, slot: _Slot, item: dict[str, Any]) -> Iterator[StreamEvent]:
        """Close an item with what it says of itself (nothing, when only its deltas came)."""
        if slot.done:
            return
        slot.done = True
        self._describe(slot, item)
        if slot.type == "message":
            yield from self._complete_message(slot, item)
        elif slot.type == "reasoning":
            yield PartEnded(slot.parts[0], _thinking(item, slot.streamed(0)))
        elif slot.type == "function_call":
            raw = _raw(item.get("arguments")) or slot.arguments or slot.streamed(0)
            yield PartEnded(slot.parts[0], make_call(slot.call_id, slot.name, raw))
        elif slot.type and item:
            yield PartEnded(slot.parts[0], Opaque(self._provider, item))

    def _complete_message(self, slot: _Slot, item: dict[str, Any]) -> Iterator[StreamEvent]:
        content = item.get("content")
        entries = [{"text": content}] if isinstance(content, str) else [_dict(c) for c in _list(content)]
        for entry in sorted({*range(len(entries)), *slot.chunks}):
            said = entries[entry] if entry < len(entries) else {}
            self._refused |= "refusal" in said
            text = text_of(said.get("text")) or text_of(said.get("refusal")) or slot.streamed(entry)
            if text or entry in slot.chunks:
                wire = {"phase": slot.phase} if slot.phase and text else None
                yield PartEnded(self._part(slot, entry), Text(scrub(text), wire=wire))

    def _terminate(self, response: dict[str, Any], ending: str) -> Iterator[StreamEvent]:
        status = text_of(response.get("status"))
        status = status if status in ("incomplete", "failed", "cancelled") else ending
        if status in ("failed", "cancelled"):
            unnamed = {"code": "server_error", "message": f"the provider ended the answer as {status!r}"}
            raise WireFailure(classify(None, compact(response.get("error") or unnamed)))
        seen: dict[str, int] = {}
        for item in map(_dict, _list(response.get("output"))):
            item_type = text_of(item.get("type"))
            yield from self._complete(self._slots.nth(item_type, seen.get(item_type, 0)), item)
            seen[item_type] = seen.get(item_type, 0) + 1
        for slot in self._slots.all:
            yield from self._complete(slot, {})
        reason = text_of(_dict(response.get("incomplete_details")).get("reason"))
        self._over = True
        usage = _usage(response.get("usage"))
        if status == "completed" and usage and self._at_a_limit(usage):
            status = "incomplete"  # llama.cpp calls an answer complete that it cut
        yield Ended(self._stop_reason(status, reason), usage)

    def _at_a_limit(self, usage: Usage) -> bool:
        """Whether the answer is as long as the request allowed, or ends with the last token of the window."""
        filled = usage.prompt + usage.output == self._window
        return filled or (self._max_output is not None and usage.output >= self._max_output)

    def _stop_reason(self, status: str, reason: str) -> StopReason:
        if status == "incomplete":
            return "refused" if reason == "content_filter" else "length"
        if any(s.type == "function_call" for s in self._slots.all):
            return "tool_use"
        return "refused" if self._refused else "stop"


def _thinking(item: dict[str, Any], streamed: str) -> Thinking:
    summary = _BETWEEN_SUMMARIES.join(filter(None, (text_of(_dict(s).get("text")) for s in _list(item.get("summary")))))
    content = "".join(text_of(_dict(c).get("text")) for c in _list(item.get("content")))
    return Thinking(scrub(summary or content or streamed), wire={"item": item} if item else None)


def _usage(value: Any) -> Usage | None:
    """Our counts don't overlap; the API's cached tokens are inside its input tokens, its reasoning tokens inside its output tokens."""
    usage = _dict(value)
    if not usage:
        return None
    details = _dict(usage.get("input_tokens_details"))
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return Usage(
        input=max(count(usage.get("input_tokens")) - read - written, 0),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=count(_dict(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )


def _key(item: dict[str, Any]) -> str:
    """What names an item: its id, or for servers that give calls none, the call id."""
    return text_of(item.get("id")) or text_of(item.get("call_id"))


def _index(body: dict[str, Any]) -> int | None:
    index = body.get("output_index")
    return index if type(index) is int else None


def _raw(value: Any) -> str:
    """Argument text; some servers send the object itself."""
    if isinstance(value, dict):
        return compact(value)
    return text_of(value)


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
