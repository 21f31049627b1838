"""A valid history with one thing broken: the validator says so, mending makes it right, and the API takes what comes of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from support.conversations import MAKERS, conversations
from support.wire_rules import broken, sent_body
from trimtab.context.validate import current_loop_start, plain, rules_for, validate
from trimtab.context.validate.mend import mend
from trimtab.context.validate.thinking import is_thinking
from trimtab.types.messages import Assistant, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.models import Api

APIS = st.sampled_from(sorted(MAKERS))
Tracked = list[tuple[int | None, Message]]
"""Messages with the place that each had in the valid history, as an engine knows it."""


@dataclass(frozen=True)
class Mutation:
    """One way to break a history, and the kinds of which one must be reported."""

    kinds: frozenset[str]
    apply: Callable[[st.DataObject, Tracked], Tracked | None]


def pick(data: st.DataObject, work: Tracked, wanted: Callable[[int, Message], bool]) -> int | None:
    """The index of one message that fits."""
    fitting = [i for i, (_, m) in enumerate(work) if wanted(i, m)]
    return data.draw(st.sampled_from(fitting)) if fitting else None


def is_result(_: int, message: Message) -> bool:
    return isinstance(message, ToolResult)


def drop_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, is_result)
    return None if i is None else work[:i] + work[i + 1 :]


def double_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, is_result)
    return None if i is None else [*work[: i + 1], work[i], *work[i + 1 :]]


def swap_results(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda n, m: is_result(n, m) and n > 0 and is_result(n, work[n - 1][1]))
    return None if i is None else [*work[: i - 1], work[i], work[i - 1], *work[i + 1 :]]


def late_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, is_result)
    return None if i is None else [*work[:i], *work[i + 1 :], (None, User((Text("wait"),), origin="steering")), work[i]]


def drop_calling_answer(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda _, m: isinstance(m, Assistant) and bool(m.tool_calls))
    return None if i is None else work[:i] + work[i + 1 :]


def begin_with_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, is_result)
    return None if i is None else work[i:]


def foreign_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    at = data.draw(st.integers(0, len(work)))
    return [*work[:at], (None, ToolResult("nobody", "read", (Text("x"),), is_error=False)), *work[at:]]


def empty_message(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda _, m: bool(m.parts) and not isinstance(m, ToolResult))
    if i is None:
        return None
    blank = data.draw(st.sampled_from([(), (Text(""),), (Text(" \n"), Text(""))]))
    return [*work[:i], (work[i][0], replace(work[i][1], parts=blank)), *work[i + 1 :]]


def empty_result(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda n, m: is_result(n, m) and bool(m.parts))
    return None if i is None else [*work[:i], (work[i][0], replace(work[i][1], parts=())), *work[i + 1 :]]


def show_superseded(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda _, m: isinstance(m, Assistant))
    return None if i is None else [*work[:i], (work[i][0], replace(work[i][1], superseded=True)), *work[i + 1 :]]


def changed_part(part: Part) -> Part | None:
    """The part with another signature; None when it has none."""
    if isinstance(part, Thinking) and part.signature is not None:
        return replace(part, signature=part.signature + "x")
    if isinstance(part, Thinking) and part.wire:
        return replace(part, wire={**part.wire, "more": 1})
    if isinstance(part, ToolCall) and part.wire and {"thoughtSignature", "extra_content"} & part.wire.keys():
        return replace(part, wire={k: "x" for k in part.wire})
    return None


def alter_signature(data: st.DataObject, work: Tracked) -> Tracked | None:
    i = pick(data, work, lambda _, m: any(changed_part(p) is not None for p in m.parts))
    if i is None:
        return None
    parts = work[i][1].parts
    at = data.draw(st.sampled_from([n for n, p in enumerate(parts) if changed_part(p) is not None]))
    changed = tuple((changed_part(p) or p) if n == at else p for n, p in enumerate(parts))
    return [*work[:i], (work[i][0], replace(work[i][1], parts=changed)), *work[i + 1 :]]


def signed(part: Part) -> bool:
    return isinstance(part, Thinking) and bool(part.signature or part.wire)


def lose_current_thinking(data: st.DataObject, work: Tracked) -> Tracked | None:
    start = current_loop_start([m for _, m in work])
    i = pick(data, work, lambda n, m: n >= start and any(signed(p) for p in m.parts))
    if i is None:
        return None
    kept = tuple(p for p in work[i][1].parts if not is_thinking(p))
    return [*work[:i], (work[i][0], replace(work[i][1], parts=kept)), *work[i + 1 :]]


def change_signed_arguments(data: st.DataObject, work: Tracked) -> Tracked | None:
    start = current_loop_start([m for _, m in work])
    i = pick(
        data,
        work,
        lambda n, m: n >= start and any(signed(p) for p in m.parts) and any(isinstance(p, ToolCall) for p in m.parts),
    )
    if i is None:
        return None
    other = tuple(
        replace(p, arguments={"path": "elsewhere"}, raw='{"path": "elsewhere"}') if isinstance(p, ToolCall) else p
        for p in work[i][1].parts
    )
    return [*work[:i], (work[i][0], replace(work[i][1], parts=other)), *work[i + 1 :]]


def keep_half_of_closed_thinking(data: st.DataObject, work: Tracked) -> Tracked | None:
    start = current_loop_start([m for _, m in work])
    loop: list[int] = []
    for i, (_, message) in enumerate(work[:start]):
        loop = [] if isinstance(message, User) and message.origin != "steering" else loop
        if any(signed(p) for p in message.parts):
            loop.append(i)
        if len(loop) == 2:
            kept = tuple(p for p in message.parts if not is_thinking(p))
            return [*work[:i], (work[i][0], replace(message, parts=kept)), *work[i + 1 :]]
    return None


def kinds(*names: str) -> frozenset[str]:
    return frozenset(names)


MUTATIONS: dict[str, Mutation] = {
    "a result is dropped": Mutation(kinds("missing_result"), drop_result),
    "a result comes twice": Mutation(kinds("extra_result"), double_result),
    "two results change places": Mutation(kinds("result_order", "orphan_result"), swap_results),
    "a result comes late": Mutation(kinds("misplaced_result"), late_result),
    "the answer that called is dropped": Mutation(kinds("orphan_result"), drop_calling_answer),
    "the history begins with a result": Mutation(kinds("orphan_result"), begin_with_result),
    "a result answers nobody": Mutation(kinds("orphan_result"), foreign_result),
    "a message is emptied": Mutation(kinds("empty_message"), empty_message),
    "a result is emptied": Mutation(kinds("empty_message"), empty_result),
    "a superseded answer shows": Mutation(kinds("superseded"), show_superseded),
    "a signature is altered": Mutation(kinds("thinking_changed"), alter_signature),
    "thinking of the current loop is lost": Mutation(kinds("thinking_missing"), lose_current_thinking),
    "arguments of a signed step change": Mutation(kinds("signed_step_changed"), change_signed_arguments),
    "a closed loop keeps half of its thinking": Mutation(kinds("thinking_partial"), keep_half_of_closed_thinking),
}


def lookup(work: Tracked, history: Sequence[Message]) -> Callable[[int], Message | None]:
    """What the log holds for the messages of `work`."""

    def original(index: int) -> Message | None:
        source = work[index][0]
        return None if source is None else history[source]

    return original


@pytest.mark.parametrize("name", MUTATIONS)
@settings(max_examples=25)
@given(data=st.data(), api=APIS)
def test_what_is_broken_is_reported_and_mended_for_good(name: str, data: st.DataObject, api: Api) -> None:
    mutation = MUTATIONS[name]
    for _ in range(8):  # until there is something to break
        history = data.draw(conversations(MAKERS[api]))
        if (work := mutation.apply(data, list(enumerate(history)))) is not None:
            break
    else:
        reject()
    rules, messages, original = rules_for(MAKERS[api]), [m for _, m in work], lookup(work, history)

    found = {p.kind for p in validate(messages, rules=rules, original=original)}
    assert found & mutation.kinds

    mended = mend(messages, rules=rules, original=original)
    left = validate(mended.messages, rules=rules, original=mended.original(original))
    assert mended.notes
    assert [p for p in left if p.fixable] == []
    again = mend(mended.messages, rules=rules, original=mended.original(original))
    assert (again.messages, again.notes) == (mended.messages, ())
    if not left:
        assert broken(api, sent_body(MAKERS[api], mended.messages)) == []


_TEXTS = st.sampled_from(["", " ", "words"])
_PARTS = st.one_of(
    st.builds(Text, _TEXTS),
    st.builds(Thinking, _TEXTS, signature=st.sampled_from([None, "s"]), redacted=st.booleans()),
    st.builds(Opaque, st.just("openai"), st.sampled_from([{}, {"type": "reasoning"}, {"type": []}])),
    st.builds(ToolCall, st.sampled_from(["a", "b", "ü|", ""]), st.just("read"), st.none(), st.just("{")),
)
_MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(User, st.lists(_PARTS, max_size=3).map(tuple), st.sampled_from(["prompt", "steering", "summary"])),
    st.builds(
        Assistant,
        st.lists(_PARTS, max_size=4).map(tuple),
        st.sampled_from(["stop", "error", "tool_use"]),
        superseded=st.booleans(),
        provider=st.sampled_from(["", "openai", "elsewhere"]),
    ),
    st.builds(
        ToolResult,
        st.sampled_from(["a", "b", "ü|"]),
        st.just("read"),
        st.lists(_PARTS, max_size=2).map(tuple),
        st.booleans(),
    ),
)


@given(st.lists(_MESSAGES, max_size=8), st.lists(_MESSAGES, max_size=8), APIS, st.booleans())
def test_whatever_the_messages_hold_nothing_raises_and_mending_leaves_nothing_fixable(
    messages: list[Message], log: list[Message], api: Api, by_wire: bool
) -> None:
    def original(index: int) -> Message | None:
        return log[index] if index < len(log) else None

    rules = rules_for(MAKERS[api]) if by_wire else plain(rules_for(MAKERS[api]))
    mended = mend(messages, rules=rules, original=original)
    left = validate(mended.messages, rules=rules, original=mended.original(original))
    assert [p for p in left if p.fixable] == []


@given(st.data(), APIS)
def test_a_valid_history_is_mended_by_leaving_it_alone(data: st.DataObject, api: Api) -> None:
    history = data.draw(conversations(MAKERS[api], foreign=True))
    mended = mend(history, rules=rules_for(MAKERS[api]), original=lambda i: history[i])
    assert (mended.messages, mended.notes, mended.sources) == (history, (), tuple(range(len(history))))
