"""Whatever the history, the edits and the policy: each request is valid, fits, and grows at its end; nothing that was recorded is lost."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_lives import Life, live, names
from support.engine_session import Session, host_of
from support.engine_strategies import APIS, AnyPolicy, histories, raw_edits, small_model
from trimtab.context.cycle.account import Account
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.engine import Engine
from trimtab.context.window.view import View
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Message, ToolResult

POLICIES = ("rules", "rules", "mask", "truncate", "summary", "codex", "opencode-dcp")


@st.composite
def lives(draw: st.DrawFn) -> tuple[Life, list[list[Message]]]:
    """A session before its first step, and what is going to come."""
    api = draw(st.sampled_from(APIS))
    policy = draw(st.sampled_from([AnyPolicy(draw(st.integers(0, 1_000))), *POLICIES]))
    model = small_model(api, draw(st.sampled_from([3_000, 6_000, 12_000])))
    return Life(api, Session(Engine(model, session_id="s", policy=policy))), draw(histories(api))


@settings(max_examples=40)
@given(st.data(), lives())
def test_each_request_is_valid_and_fits_or_the_session_stops_with_numbers(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, *lived)
    assert all(any(c.isdigit() for c in stop) for stop in life.floors)


@settings(max_examples=12)
@given(st.data(), lives())
def test_every_recorded_text_can_be_read_whatever_was_edited(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, *lived)
    host = host_of(life.session)
    hidden = set(life.session.view.repairs.orphans) | set(life.session.view.repairs.duplicates)
    for entry_id, text in life.texts.items():
        entry = life.session.log.archive.get(entry_id)
        assert entry is not None
        assert isinstance(entry.value, MessageEntry)
        message = entry.value.message
        if isinstance(message, ToolResult) and message.call_id in hidden:
            continue
        assert text in (host.text_of(entry_id) or "")


@settings(max_examples=12)
@given(st.data(), lives())
def test_taking_every_edit_back_brings_the_recorded_messages_back(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life = live(data, *lived)
    view = life.session.view
    plain = View()
    for entry in life.session.log.archive.path():
        if isinstance(entry.value, MessageEntry):
            plain = plain.with_message(entry.id, entry.value.message)
    for number, applied in enumerate(view.applied):
        if applied.id not in view.reverted:
            view = view.with_revert(f"?{number}", applied.id)
    assert view.messages() == plain.messages()


@settings(max_examples=12)
@given(lives())
def test_the_same_session_gives_the_same_log(lived: tuple[Life, list[list[Message]]]) -> None:
    life, pieces = lived
    model, policy = life.session.engine.model, life.session.engine.policy
    again = Life(life.api, Session(Engine(model, session_id="s", policy=policy)))
    for piece in pieces:
        for each in (life, again):
            each.take(piece)
            each.step()
    assert [e.raw for e in life.session.log.archive] == [e.raw for e in again.session.log.archive]
    assert [p.request for p in life.prepared] == [p.request for p in again.prepared]


@settings(max_examples=15)
@given(st.data(), lives())
def test_looking_at_what_is_new_finds_what_looking_at_everything_finds(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life, pieces = lived
    session = life.session
    engine = session.engine
    for piece in pieces:
        life.take(piece)
        life.step()
        view = session.view
        for number, edit in enumerate(data.draw(st.lists(raw_edits(names(view)), max_size=3))):
            view = view.with_edit(f"?{number}", edit)
            if data.draw(st.booleans()):
                view = view.with_message(f"?m{number}", data.draw(st.sampled_from(piece)))
            afresh = faultfinder(engine.model, has_way=engine.has_way)
            assert engine.faults(view) == afresh(view)


@settings(max_examples=8)
@given(st.data(), lives())
def test_counts_and_shapes_that_grow_are_those_made_afresh(
    data: st.DataObject, lived: tuple[Life, list[list[Message]]]
) -> None:
    life, pieces = lived
    session = life.session
    engine = session.engine
    for piece in pieces:
        life.take(piece)
        view = session.view
        for number, edit in enumerate(data.draw(st.lists(raw_edits(names(view)), max_size=2))):
            view = view.with_edit(f"?{number}", edit)
        look = engine.look(view, session.request)
        afresh = MeterTally(engine.model, counter=engine.tally.counter)
        afresh.estimate(view, session.system, ())
        assert engine.tally.meter.total.plain == pytest.approx(afresh.meter.total.plain)
        assert engine.account.shape(look).segments == Account(engine.model).shape(look).segments
        life.step()
