"""Notices of what isn't sent in front follow the log: a fork, a session that is opened again and another branch tell what holds there, once."""

from collections.abc import Callable
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from support.changing_front import BASH, CHANGES, MONDAY, READ, TUESDAY, Clock, notices, session
from support.engine_session import Session, folded_again
from trimtab.context.cycle.epochs import _MOST_TOLD
from trimtab.context.cycle.notice import AGAIN, HEAD
from trimtab.context.embed.log_in_memory import MemoryLog
from trimtab.context.engine import Engine
from trimtab.types.codec import entry_of
from trimtab.types.entries import KnownEntry, LeafEntry, MessageEntry
from trimtab.types.messages import Assistant, Message, Text
from trimtab.types.usage import Usage


def opened_again(made: Session) -> Session:
    """The same session in another process, which knows what the log says."""
    clock = Clock()
    again = Session(Engine(made.engine.model, session_id="s", now=clock), made.system, made.tools, calls=made.calls)
    again.log = type(made.log)()
    again.log.load(made.log.lines())
    return again


class ForkedLog(MemoryLog):
    """One whose own entries have ids that its parent's haven't, which are running numbers."""

    forks = count()

    def __init__(self) -> None:
        super().__init__()
        self._fork = next(self.forks)

    def _take(self, value: KnownEntry, message: Message | None) -> str:
        entry_id = f"f{self._fork}.{len(self.archive)}"
        entry = entry_of(replace(value, id=entry_id, parent=self.archive.leaf))
        self._conversation.take(entry, message=message)
        return entry_id


def forked(made: Session) -> Session:
    """Another session that begins as this one is: with the entries of its path."""
    child = opened_again(made)
    child.log = ForkedLog()
    child.log.load([entry.raw.decode() for entry in made.log.archive.path()])
    return child


def moved(made: Session, back: int) -> None:
    """Go on behind an earlier answer."""
    path = list(made.log.archive.path())
    ends = [e.id for e in path if isinstance(v := e.value, MessageEntry) and _ends(v)]
    if ends:
        made.log.record([LeafEntry(id="", parent=None, time="", target=ends[max(0, len(ends) - 1 - back)])])


def _ends(entry: MessageEntry) -> bool:
    return isinstance(entry.message, Assistant) and not entry.message.tool_calls


def holds(made: Session) -> None:
    """Prepare a request; what it has in front, and what it tells, are what the person wants."""
    request, told = made.prepare().request, notices(made)
    shown = {tool.name for tool in request.tools}
    if request.system == made.system and shown == {tool.name for tool in made.tools}:
        assert told == [] or told[-1] == AGAIN
    else:
        assert told, "the model was never told"
        assert told[-1].startswith(HEAD)
        assert told[-1] != AGAIN
    assert len(told) == len(set(told)) or AGAIN in told, "nothing is told twice"
    assert request.messages == made.view.messages()
    assert made.view.messages() == folded_again(made.log).messages()
    again = made.prepare().request
    assert (again.system, again.tools, notices(made)) == (request.system, request.tools, told)


PLACES: list[Callable[[Session], Session | None]] = [
    opened_again,
    forked,
    *(lambda s, n=n: moved(s, n) for n in range(4)),
]  # type: ignore[misc]


@settings(max_examples=30)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just(False), st.integers(0, len(CHANGES) - 1)), st.tuples(st.just(True), st.integers(0, 5))
        ),
        max_size=12,
    )
)
def test_wherever_it_goes_on_the_notices_are_those_of_that_place(chosen: list[tuple[bool, int]]) -> None:
    made = session(window=30_000, steps=2)
    made.say("Go on")
    for elsewhere, number in chosen:
        if elsewhere:
            made = PLACES[number](made) or made
        else:
            CHANGES[number](made)
        holds(made)
        made.answer(Text("so be it"), usage=Usage(10))
        made.say("Go on")
        holds(made)


def test_a_fork_while_a_notice_stands_begins_with_the_head_that_holds_and_its_parent_keeps_the_notice() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    made.answer(Text("noted"))
    (told,) = notices(made)
    child = forked(made)
    child.say("Go on")
    assert (child.prepare().request.system, notices(child)) == (TUESDAY, [])
    made.say("Go on")
    assert (made.prepare().request.system, notices(made)) == (MONDAY, [told])


def test_a_branch_from_before_the_notice_is_told_again() -> None:
    made = session()
    made.system = TUESDAY
    made.prepare()
    (told,) = notices(made)
    made.answer(Text("noted"))
    moved(made, 1)
    assert notices(made) == []
    made.say("Go on")
    assert (made.prepare().request.system, notices(made)) == (MONDAY, [told])


def test_a_head_that_changes_again_and_again_is_sent_before_its_notices_are_too_many() -> None:
    made = session()
    most = 0
    for number in range(4 * _MOST_TOLD):
        made.tools = (READ,) if number % 2 else (READ, BASH)
        made.system = MONDAY.replace("03-02", f"03-{number + 3:02d}")
        made.prepare()
        most = max(most, len(notices(made)))
        made.answer(Text("noted"))
        made.say("Go on")
    assert 1 < most <= _MOST_TOLD
