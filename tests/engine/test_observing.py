"""What an observer keeps from one look to the next makes no difference to what it says."""

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_lives import Life, live
from support.engine_session import Session, model
from support.engine_strategies import APIS, histories, small_model
from trimtab.context.cycle.look import Look
from trimtab.context.engine import Engine
from trimtab.context.seeing.observing import Circumstances, Observer
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult


def observed(observer: Observer, look: Look) -> bytes:
    return msgspec.json.encode(observer.observe(look, Circumstances(sent=3)))


@settings(max_examples=25)
@given(st.data(), st.sampled_from(APIS), st.sampled_from(["rules", "mask", "summary"]))
def test_an_observer_says_of_any_view_what_a_fresh_one_says(data: st.DataObject, api: str, policy: str) -> None:
    session = Session(Engine(small_model(api, 6_000), session_id="s", policy=policy))
    pieces: list[list[Message]] = data.draw(histories(api))
    views = [session.view]
    life = Life(api, session)
    for piece in pieces:
        live(data, life, [piece])
        views.append(session.view)
    kept = Observer()
    for view in [*views, *data.draw(st.lists(st.sampled_from(views), max_size=6))]:
        look = session.engine.look(view, session.request)
        assert observed(kept, look) == observed(Observer(), look)


def test_an_answer_that_comes_late_makes_the_same_difference_as_one_in_time() -> None:
    session = Session(Engine(model(100_000), session_id="s", policy="none"))
    session.say("look at a.py")
    call = ToolCall("late", "read", {"path": "a.py"}, '{"path":"a.py"}')
    session.log.append([Assistant((call,), "tool_use")])
    session.say("and once more")
    session.work("its text " * 20, name="read", arguments={"path": "a.py"})
    kept = Observer()
    look = session.engine.look(session.view, session.request)
    assert not any(item.superseded_by for item in kept.observe(look, Circumstances()).items)
    session.log.append([ToolResult("late", "read", (Text("its text " * 20),), is_error=False)])
    look = session.engine.look(session.view, session.request)
    items = kept.observe(look, Circumstances()).items
    assert [item.call_id for item in items if item.superseded_by] == ["late"]
    assert [item.duplicate_of is not None for item in items if item.kind == "result"] == [False, True]
