"""Pairing: what a conversation looks like to a model that wants every call answered.

    assistant(a, b) · result b · user · result a      as it was recorded
    assistant(a, b) · result a · result b · user      as a model reads it

Each call owns a place right behind its message from the moment the message is seen, filled with a fixed text until the real answer
comes. So the list is valid at every instant, a reordering is an assignment, and adding a message costs the same at any length.
The log is never changed: orphans, second answers and superseded messages are missing from the view only.

A call that waits for a person (*parked*) is answered `pending`; once something else was said after it, its late answer
arrives as a user message that names the call, so that bytes already sent stay as they are.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import assert_never

from trimtab.types.messages import Assistant, Message, Part, Text, Thinking, ToolCall, ToolResult, User

INTERRUPTED = "interrupted"
PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Repairs:
    """What the view shows otherwise than the log: call ids, and a count of messages left out."""

    interrupted: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    orphans: tuple[str, ...] = ()
    duplicates: tuple[str, ...] = ()
    late: tuple[str, ...] = ()
    hidden: int = 0


@dataclass(slots=True)
class _Slot:
    """The place of one call's answer: index in the view, and the first index behind the whole group."""

    call: ToolCall
    index: int
    end: int
    answered: bool = False
    stored: bool = False
    """What stands in for the answer was in the log."""


@dataclass(slots=True)
class Pairing:
    """Pairs a conversation that arrives message by message."""

    parked: set[str] = field(default_factory=set)
    messages: list[Message] = field(default_factory=list)
    _slots: dict[str, list[_Slot]] = field(default_factory=dict)
    _open: dict[int, _Slot] = field(default_factory=dict)
    _orphans: list[str] = field(default_factory=list)
    _duplicates: list[str] = field(default_factory=list)
    _late: list[str] = field(default_factory=list)
    _hidden: int = 0

    def add(self, message: Message) -> None:
        """Take in the next message of the log."""
        match message:
            case User():
                self.messages.append(message)
            case Assistant():
                self._ask(message)
            case ToolResult():
                self._answer(message)
            case _:
                assert_never(message)

    def park(self, call_id: str) -> None:
        """Say that this call waits for a person."""
        self.parked.add(call_id)
        for slot in self._slots.get(call_id, ()):
            if slot.index in self._open:
                self.messages[slot.index] = _stand_in(slot.call, PENDING)

    @property
    def open_calls(self) -> tuple[str, ...]:
        """Ids of the calls without a real answer, in call order."""
        return tuple(slot.call.id for slot in self._open.values())

    @property
    def repairs(self) -> Repairs:
        """What was done so far."""
        open_calls = self.open_calls
        return Repairs(
            interrupted=tuple(i for i in open_calls if i not in self.parked),
            pending=tuple(i for i in open_calls if i in self.parked),
            orphans=tuple(self._orphans),
            duplicates=tuple(self._duplicates),
            late=tuple(self._late),
            hidden=self._hidden,
        )

    def _ask(self, message: Assistant) -> None:
        if message.superseded or not has_content(message):
            self._hidden += 1
            return
        self.messages.append(message)
        calls = message.tool_calls
        end = len(self.messages) + len(calls)
        fresh: dict[str, list[_Slot]] = {}
        for call in calls:
            slot = _Slot(call, len(self.messages), end)
            fresh.setdefault(call.id, []).append(slot)
            self._open[slot.index] = slot
            self.messages.append(_stand_in(call, PENDING if call.id in self.parked else INTERRUPTED))
        self._slots.update(fresh)

    def _answer(self, result: ToolResult) -> None:
        slots = self._slots.get(result.call_id)
        if slots is None:
            self._orphans.append(result.call_id)
            return
        stand_in = is_stand_in(result)
        slot = next((s for s in slots if not s.answered and not (stand_in and s.stored)), None)
        if slot is None:
            self._duplicates.append(result.call_id)
        elif stand_in:
            self._keep_stand_in(slot, result)
        elif result.call_id in self.parked and len(self.messages) > slot.end:
            slot.answered = True
            self._late.append(result.call_id)
            self.messages.append(late_answer(result))
        else:
            slot.answered = True
            self._open.pop(slot.index)
            self.messages[slot.index] = result

    def _keep_stand_in(self, slot: _Slot, result: ToolResult) -> None:
        """A stand-in that somebody stored shows as it is, and still gives way to a real answer."""
        slot.stored = True
        if result.call_id not in self.parked:
            self.messages[slot.index] = result


def pair(messages: Iterable[Message], *, parked: Collection[str] = ()) -> tuple[tuple[Message, ...], Repairs]:
    """Return the conversation with every call answered exactly once, right behind its message and in call order.

    `parked` are ids of calls that wait for a person. The result is prefix-stable: more messages only add to its end, or
    put a real answer where a stand-in was. Pairing twice changes nothing.
    """
    pairing = Pairing(parked=set(parked))
    for message in messages:
        pairing.add(message)
    return tuple(pairing.messages), pairing.repairs


def has_content(message: Assistant) -> bool:
    """Say whether a model would find anything in `message`. Thoughts of an answer that failed don't count."""
    failed = message.stop_reason in ("error", "cancelled")
    return any(_is_content(part, failed=failed) for part in message.parts)


def is_stand_in(result: ToolResult) -> bool:
    """Say whether `result` is one of the fixed texts that stand in for a missing answer."""
    return result.is_error and len(result.parts) == 1 and result.text in (INTERRUPTED, PENDING)


def late_answer(result: ToolResult) -> User:
    """Return the user message in which an answer arrives whose call was closed as pending."""
    state = "failed" if result.is_error else "was answered"
    head = Text(f"The pending call {result.call_id} ({result.tool_name}) {state}:")
    return User((head, *result.parts), origin="answer")


def _is_content(part: Part, *, failed: bool) -> bool:
    if isinstance(part, Text):
        return bool(part.text.strip())
    return not (failed and isinstance(part, Thinking))


def _stand_in(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call.id, call.name, (Text(text),), is_error=True)
