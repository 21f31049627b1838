"""The outgoing validator: what is wrong with the messages of a request, before any byte of it leaves.

    messages of the view ──validate──▶ ()  ──▶ wire
                              └──▶ problems ──mend──▶ messages, notes ──validate──▶ () or a typed stop

It reads the neutral messages that a wire will shape, and asks for nothing but what no wire can make good. It is total: whatever the messages
hold, it answers with a list of problems and never raises. Linear in the number of parts; texts are not read.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from trimtab.context.validate.media import media_faults
from trimtab.context.validate.problems import Problem
from trimtab.context.validate.rules import WireRules
from trimtab.context.validate.thinking import Original, thinking_findings
from trimtab.types.messages import Assistant, Message, Part, Text, Thinking, ToolResult, User


def validate(
    messages: Sequence[Message],
    *,
    rules: WireRules,
    original: Original | None = None,
    reachable: Callable[[int], bool] | None = None,
    newest: User | None = None,
    tokens: int | None = None,
    limit: int | None = None,
    fixed_bytes: int = 0,
) -> tuple[Problem, ...]:
    """Return everything that is wrong with `messages`; () when they may go out.

    `original(i)`: the message of the log that message i shows, None for one that the engine made. `reachable(i)`: whether this request
    offers a way to what message i hides. `newest`: the user's newest request. `tokens` and `limit`: the counted size and the most it may
    be. `fixed_bytes`: system prompt and tools as sent. What isn't given isn't checked.
    """
    problems = [
        *_whole(messages, newest, tokens, limit),
        *_pairs(messages),
        *_contents(messages, rules, original),
    ]
    if not rules.wired:
        problems += [*_roles(messages, rules), *_ids(messages, rules)]
    for finding in thinking_findings(messages, rules, original):
        problems.append(Problem(finding.kind, str(finding.message), finding.text))
    for fault in media_faults(messages, rules.media, fixed_bytes=fixed_bytes):
        where = f"{fault.picture.message}#{fault.picture.part}" if fault.picture is not None else ""
        problems.append(Problem(fault.kind, where, fault.text))
    if reachable is not None and original is not None:
        problems += _ways_back(messages, original, reachable)
    return tuple(problems)


def says_something(part: Part) -> bool:
    """Say whether `part` is more than blank text. What carries a signature or its provider's fields says something."""
    if isinstance(part, Text):
        return not _blank(part.text) or part.wire is not None
    if isinstance(part, Thinking):
        return not _blank(part.text) or part.wire is not None or part.signature is not None
    return True


def _blank(text: str) -> bool:
    return not text or text.isspace()  # unlike strip(), it looks no further than the first letter


def is_empty(message: Message) -> bool:
    """Say whether nothing in `message` says anything."""
    return not any(says_something(part) for part in message.parts)


def was_emptied(message: Message, recorded: Message | None) -> bool:
    """Say whether an edit took all that a message of a user or tool says: then what was recorded can be shown again."""
    match message, recorded:
        case User(), User():
            return is_empty(message) and not is_empty(recorded)
        case ToolResult(), ToolResult():
            return is_empty(message) and not is_empty(recorded) and message.call_id == recorded.call_id
        case _:
            return False


def _whole(
    messages: Sequence[Message], newest: User | None, tokens: int | None, limit: int | None
) -> Iterator[Problem]:
    if all(is_empty(m) for m in messages if not isinstance(m, ToolResult)):
        yield Problem("empty_request", "", "no message says anything")
    if newest is not None and not any(_holds(m, newest) for m in reversed(messages)):
        yield Problem("newest_request", "", "the user's newest request is not in it")
    if tokens is not None and limit is not None and tokens > limit:
        yield Problem("over_budget", "", f"{tokens} tokens; at most {limit} may be sent")


def _holds(message: Message, newest: User) -> bool:
    """Whether a user message still says every word of `newest`. Pictures may have become notes."""
    if not isinstance(message, User):
        return False
    words = [p.text for p in message.parts if isinstance(p, Text)]
    return all(p.text in words for p in newest.parts if isinstance(p, Text))


def _pairs(messages: Sequence[Message]) -> Iterator[Problem]:
    """Each call has one result, right behind its message and in call order."""
    asked: set[str] = set()
    late: dict[str, list[int]] = {}
    group = _Group(-1, [])
    for i, message in enumerate(messages):
        if isinstance(message, ToolResult):
            yield from _place(i, message.call_id, group, late, asked)
            continue
        for call_id in group.waiting:
            late.setdefault(call_id, []).append(group.at)
        group = _Group(i, [])
        if isinstance(message, Assistant):
            if message.superseded:
                yield Problem("superseded", str(i), "an answer that was asked for again")
                continue
            group = _Group(i, [call.id for call in message.tool_calls])
            asked.update(group.ids)
    for call_id in group.waiting:
        late.setdefault(call_id, []).append(group.at)
    for call_id, places in late.items():
        for at in places:
            yield Problem("missing_result", str(at), f"call {call_id!r} has no result")


class _Group:
    """The calls of one answer, while their results come."""

    def __init__(self, at: int, ids: list[str]) -> None:
        self.at = at
        self.ids = ids
        self._open = list(range(len(ids)))
        self._last = -1

    @property
    def waiting(self) -> list[str]:
        """Ids without a result so far."""
        return [self.ids[n] for n in self._open]

    def take(self, call_id: str) -> bool | None:
        """Whether this result comes in call order; None when it answers no open call of the group."""
        n = next((n for n in self._open if self.ids[n] == call_id), None)
        if n is None:
            return None
        self._open.remove(n)
        in_order = n > self._last
        self._last = max(n, self._last)
        return in_order


def _place(i: int, call_id: str, group: _Group, late: dict[str, list[int]], asked: set[str]) -> Iterator[Problem]:
    in_order = group.take(call_id)
    if in_order:
        return
    if in_order is not None:
        yield Problem("result_order", str(i), f"the result of {call_id!r} is not in call order")
    elif late.get(call_id):
        late[call_id].pop(0)
        yield Problem("misplaced_result", str(i), f"the result of {call_id!r} is not right behind its call")
    elif call_id in asked:
        yield Problem("extra_result", str(i), f"call {call_id!r} has another result")
    else:
        yield Problem("orphan_result", str(i), f"no call {call_id!r} stands before its result")


def _contents(messages: Sequence[Message], rules: WireRules, original: Original | None) -> Iterator[Problem]:
    for i, message in enumerate(messages):
        if is_empty(message) and not _wire_fills(message, rules, original(i) if original is not None else None):
            yield Problem("empty_message", str(i), "it says nothing")


def _wire_fills(message: Message, rules: WireRules, recorded: Message | None) -> bool:
    """A wire of ours gives a result without words some; one whose words an edit took is another matter."""
    return isinstance(message, ToolResult) and rules.wired and not was_emptied(message, recorded)


def _roles(messages: Sequence[Message], rules: WireRules) -> Iterator[Problem]:
    if rules.first_user and messages and not isinstance(messages[0], User):
        yield Problem("first_role", "0", "the conversation must begin with the user")
    if not rules.alternates:
        return
    for i, (before, message) in enumerate(pairwise(messages), 1):
        if type(before) is type(message) and not isinstance(message, ToolResult):
            yield Problem("alternation", str(i), "two messages of one role stand side by side")


def _ids(messages: Sequence[Message], rules: WireRules) -> Iterator[Problem]:
    seen: set[str] = set()
    for i, message in enumerate(messages):
        for call in message.tool_calls if isinstance(message, Assistant) else ():
            if not rules.legal_id.fullmatch(call.id):
                yield Problem("illegal_id", str(i), f"{call.id!r} is no id that the provider takes")
            if call.id in seen:
                yield Problem("repeated_id", str(i), f"{call.id!r} names more than one call")
            seen.add(call.id)


def _ways_back(messages: Sequence[Message], original: Original, reachable: Callable[[int], bool]) -> Iterator[Problem]:
    """What shows less than the log holds, or stands for many messages, says how to get at the rest."""
    for i, message in enumerate(messages):
        recorded = original(i)
        if recorded is message:
            continue
        if recorded is None:
            hides = isinstance(message, User) and message.origin == "summary"
        else:
            hides = _body(message) != _body(recorded)
        if hides and not reachable(i):
            yield Problem("no_way_back", str(i), "it hides something, and this request offers no way to it")


def _body(message: Message) -> tuple[Part, ...]:
    return (
        tuple(p for p in message.parts if not isinstance(p, Thinking))
        if isinstance(message, Assistant)
        else message.parts
    )
