"""Signed thinking: which of it must stay, which may go, and what may not be touched beside it.

    user · answer(think, call) · result · answer(think) │ user · answer(think, call) · result
    └──────────────── closed loop ──────────────────────┘      └─── the loop that is going on ───┘

A provider that signs thinking checks it while the loop in which it was made goes on, and only there. So in a closed loop it stays byte
for byte or goes, all of it; in the current one it stays, and by default so does everything else of a signed answer. The rule of this
file: in doubt a loop is longer. Only a message that asks for something new closes one; what the harness or a person slips in does not.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from msgspec.structs import replace

from trimtab.context.validate.problems import ProblemKind
from trimtab.context.validate.rules import ThinkingRules, WireRules
from trimtab.types.messages import Assistant, Message, Opaque, Part, Text, Thinking, ToolCall, User

Original: TypeAlias = Callable[[int], Message | None]
"""The message of the log that the message of that index shows; None when it shows none."""

OPENING = frozenset({"prompt", "follow_up", "command", "verify"})
"""Origins of messages that ask for something new."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with the thinking of one message."""

    kind: ProblemKind
    message: int
    text: str


def current_loop_start(messages: Sequence[Message]) -> int:
    """Return the index behind the newest message that asked for something: what stands from there on is the loop that is going on."""
    return next((i + 1 for i in range(len(messages) - 1, -1, -1) if opens_loop(messages[i])), 0)


def droppable_thinking(messages: Sequence[Message], rules: WireRules) -> tuple[tuple[int, int], ...]:
    """Return (message, part) of all thinking that may be left out: that of a closed loop, and any that nobody demands.

    Of one closed loop, leave out all or nothing.
    """
    start = current_loop_start(messages)
    return tuple(
        (i, n)
        for i, message in enumerate(messages)
        if isinstance(message, Assistant)
        for n, part in enumerate(message.parts)
        if is_thinking(part)
        and (i < start or rules.thinking.mandatory == "none" or not _demanded(message, part, rules))
    )


def frozen_answers(messages: Sequence[Message], rules: WireRules) -> tuple[int, ...]:
    """Return the indices of signed answers of which nothing may change now: no text, no argument. Their results may."""
    if rules.thinking.frozen == "none":
        return ()
    start = 0 if rules.thinking.frozen == "all" else current_loop_start(messages)
    return tuple(
        i
        for i, message in enumerate(messages[start:], start)
        if isinstance(message, Assistant) and _made_here(message, rules) and _proofs(message, rules.thinking)
    )


def is_thinking(part: Part) -> bool:
    """Say whether `part` is thought, in our words or as a provider's own item."""
    return isinstance(part, Thinking) or (isinstance(part, Opaque) and part.data.get("type") == "reasoning")


def thinking_findings(messages: Sequence[Message], rules: WireRules, original: Original | None) -> Iterator[Finding]:
    """Yield what a provider would refuse. Without `original` only what shows without knowing the log."""
    start = current_loop_start(messages)
    loop: list[tuple[int, bool, bool]] = []
    for i, message in enumerate(messages):
        if i and opens_loop(messages[i - 1]):
            yield from _partial(loop)
            loop = []
        if not isinstance(message, Assistant) or not _made_here(message, rules):
            continue
        if rules.thinking.followers and message.parts and _dangles(message.parts[-1]):
            yield Finding("reasoning_follower", i, "a reasoning item stands last, without what it led to")
        recorded = original(i) if original is not None else None
        if not isinstance(recorded, Assistant):
            continue
        if message is recorded and i >= start:
            continue
        message, recorded = _settled(message, rules.thinking), _settled(recorded, rules.thinking)
        found = list(_compare(i, message, recorded, rules.thinking, current=i >= start))
        yield from found
        if not found and i < start:
            had, has = _thoughts(recorded, rules.thinking), _thoughts(message, rules.thinking)
            loop.append((i, bool(has), bool(had) and not has))
    yield from _partial(loop)


def opens_loop(message: Message) -> bool:
    """Say whether `message` asks for something new, and so closes the loop before it."""
    return isinstance(message, User) and message.origin in OPENING


def has_proofs(message: Message) -> bool:
    """Say whether a message carries anything that some provider may check."""
    if not isinstance(message, Assistant):
        return False
    return any(is_thinking(p) or (isinstance(p, Text | ToolCall) and p.wire is not None) for p in message.parts)


def _made_here(message: Assistant, rules: WireRules) -> bool:
    return not rules.provider or not message.provider or message.provider == rules.provider


def _demanded(message: Assistant, part: Part, rules: WireRules) -> bool:
    return _made_here(message, rules) and _proof(part, rules.thinking) is not None


def _proof(part: Part, rules: ThinkingRules) -> object:
    """What the provider checks of `part`; None: nothing."""
    if isinstance(part, Thinking):
        return part if part.signature or part.wire or part.redacted or rules.unsigned else None
    if isinstance(part, Opaque):
        return part if is_thinking(part) else None
    if isinstance(part, Text | ToolCall) and part.wire:
        return {k: v for k, v in part.wire.items() if k in rules.proofs} or None
    return None


def _proofs(message: Assistant, rules: ThinkingRules) -> list[object]:
    return [proof for part in message.parts if (proof := _proof(part, rules)) is not None]


def _thoughts(message: Assistant, rules: ThinkingRules) -> list[Part]:
    return [part for part in message.parts if is_thinking(part) and _proof(part, rules) is not None]


def _compare(
    i: int, message: Assistant, recorded: Assistant, rules: ThinkingRules, *, current: bool
) -> Iterator[Finding]:
    if message == recorded:
        return
    had, has = _proofs(recorded, rules), _proofs(message, rules)
    if not _is_subsequence(has, had):
        yield Finding("thinking_changed", i, "signed thinking is not what was recorded")
    elif len(has) < len(had) and current and rules.mandatory != "none":
        yield Finding("thinking_missing", i, "signed thinking of the tool loop that is going on is missing")
    elif 0 < len(_thoughts(message, rules)) < len(_thoughts(recorded, rules)):
        yield Finding("thinking_partial", i, "a part of an answer's thinking is missing; it stays or goes as a whole")
    elif had and rules.frozen != "none" and (current or rules.frozen == "all") and _rest(message) != _rest(recorded):
        yield Finding("signed_step_changed", i, "an answer with signed thinking was changed while its loop goes on")
    elif rules.followers and (lost := _lost_follower(message, recorded)):
        yield Finding("reasoning_follower", i, lost)


def _is_subsequence(short: list[object], long: list[object]) -> bool:
    rest = iter(long)
    return all(any(item == other for other in rest) for item in short)


def _lost_follower(message: Assistant, recorded: Assistant) -> str:
    for part in message.parts:
        if not is_thinking(part) or part not in recorded.parts:
            continue
        before, now = _follower(recorded, part), _follower(message, part)
        if before is None:
            continue
        same = type(before) is type(now) and (
            not isinstance(before, ToolCall) or (isinstance(now, ToolCall) and before.name == now.name)
        )
        if not same:
            return "a reasoning item lost the message or call that came behind it"
    return ""


def _follower(message: Assistant, thought: Part) -> Part | None:
    behind = message.parts[message.parts.index(thought) + 1 :]
    return next((p for p in behind if not is_thinking(p) and not (isinstance(p, Text) and not p.text.strip())), None)


def without_dangling(message: Assistant) -> Assistant:
    """Return the answer without reasoning items at its end, which led to nothing. A wire of ours leaves out only those it made itself."""
    parts = message.parts
    while parts and _dangles(parts[-1]):
        parts = parts[:-1]
    return replace(message, parts=parts)


def without_thinking(message: Assistant, rules: ThinkingRules) -> Assistant:
    """Return the answer without thinking, and without the signatures of its texts and calls."""
    return replace(message, parts=tuple(_unsigned(p, rules) for p in message.parts if not is_thinking(p)))


def _unsigned(part: Part, rules: ThinkingRules) -> Part:
    if isinstance(part, Text | ToolCall) and part.wire and rules.proofs & part.wire.keys():
        return replace(part, wire={k: v for k, v in part.wire.items() if k not in rules.proofs} or None)
    return part


def _dangles(part: Part) -> bool:
    return isinstance(part, Opaque) and is_thinking(part)


def _settled(message: Assistant, rules: ThinkingRules) -> Assistant:
    """The answer as far as it counts: a thought at its end that led to nothing isn't sent where thoughts need a follower."""
    parts = message.parts
    while rules.followers and parts and is_thinking(parts[-1]):
        parts = parts[:-1]
    return message if parts == message.parts else replace(message, parts=parts)


def _rest(message: Assistant) -> list[Part]:
    """All but thinking, and without ids of calls, which may be given anew."""
    return [replace(p, id="") if isinstance(p, ToolCall) else p for p in message.parts if not is_thinking(p)]


def _partial(loop: list[tuple[int, bool, bool]]) -> Iterator[Finding]:
    """A closed loop whose thinking is neither there nor gone."""
    if any(kept for _, kept, _ in loop):
        for i, _, lost in loop:
            if lost:
                yield Finding(
                    "thinking_partial", i, "a closed loop kept a part of its thinking; it stays or goes as a whole"
                )
                return
