"""The fold: what grows entry by entry is what one reading of the whole file gives."""

from hypothesis import given
from hypothesis import strategies as st

from support.sessions import ask, now, result, say
from trimtab.context.archive import Archive
from trimtab.context.stores.log import SessionLog
from trimtab.context.window.fold import Conversation
from trimtab.types.codec import decode_line

IDS = st.sampled_from(["a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.builds(ask, st.sampled_from(["x", "y"]))),
        st.tuples(st.just("append"), st.builds(lambda calls: say("t", *calls), st.lists(IDS, max_size=2))),
        st.tuples(st.just("append"), st.builds(result, IDS, st.sampled_from(["1", "2"]))),
        st.tuples(st.just("park"), IDS),
        st.tuples(st.just("leaf"), st.integers(0, 20)),
        st.tuples(st.just("label"), st.integers(0, 20)),
    ),
    max_size=16,
)


def read_again(log: SessionLog) -> Conversation:
    conversation = Conversation(Archive(), whole=lambda message: message)
    for entry in log.archive:
        again = decode_line(entry.raw)
        assert again is not None
        conversation.take(again)
    return conversation


@given(STEPS)
def test_a_session_that_grew_shows_what_reading_it_again_shows(steps):
    log = SessionLog.in_memory("/proj", now=now)
    for what, value in steps:
        ids = [None, *(entry.id for entry in log.archive)]
        match what:
            case "append":
                log.append_messages([value])
            case "park":
                log.park(value, "?")
            case "leaf":
                log.move_leaf(ids[value % len(ids)])
            case _ if len(ids) > 1:
                log.label(ids[1:][value % (len(ids) - 1)] or "", "name")
        again = read_again(log)
        assert log.view() == again.view.messages()
        assert [e.id for e in log.archive.path()] == [e.id for e in again.archive.path()]
        assert (log.archive.leaf, log.parked, again.archive.damage) == (again.archive.leaf, again.archive.parked, [])
