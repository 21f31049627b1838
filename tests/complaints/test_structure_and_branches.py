"""What users reported about broken structure after an edit (C) and about branches and rollback (H).

Proven elsewhere: a boundary within a pair, parallel results in any order, orphans (`view/test_view`, `repair/test_pairs`); thinking beside an edit
(`validate/test_thinking`); saved and loaded views (`engine/test_whatever_happens`); a picture that blocks (`engine/test_refusals`); a store that
fails (`engine/test_what_fails`).
"""

from typing import Any

import pytest

from support.engine_session import Session, folded_again, host_of, lines, model, shown_texts
from support.engine_strategies import APIS, small_model
from support.wire_rules import broken, sent_body
from trimtab.context.actions import Action
from trimtab.context.engine import Engine
from trimtab.context.window.stand_ins import INTERRUPTED
from trimtab.types.entries import CustomEntry, LeafEntry
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult
from trimtab.types.models import Api

TASK = "Fix the failing test"


def session_at(steps: int, *, api: Api = "anthropic", tokens: int = 600, window: int = 100_000) -> Session:
    session = Session(Engine(small_model(api, window), session_id="s"))
    session.say(TASK)
    for number in range(steps):
        session.work(lines(tokens, seed=number))
    return session


def sound(session: Session, api: Api) -> str:
    messages = session.prepare().request.messages
    assert broken(api, sent_body(session.engine.model, messages)) == []
    return shown_texts(messages)


@pytest.mark.parametrize("api", APIS)
def test_a_turn_cancelled_within_a_tool_and_then_compacted_stays_paired(api: Api) -> None:
    session = session_at(6, api=api)
    session.log.append([Assistant((ToolCall("late", "bash", {}, "{}"),), "tool_use", provider="p", model="m")])
    session.act(Action("compact", (), {"keep_tokens": 0}))
    assert INTERRUPTED in sound(session, api)


@pytest.mark.parametrize("api", APIS)
def test_a_compaction_down_to_a_result_still_begins_as_the_provider_wants(api: Api) -> None:
    session = session_at(8, api=api)
    for keep in (2_000, 700, 0):
        session.act(Action("compact", (), {"keep_tokens": keep}))
        sound(session, api)


@pytest.mark.parametrize("api", APIS)
def test_a_parked_call_survives_a_compaction_and_its_answer_arrives(api: Api) -> None:
    session = session_at(5, api=api)
    session.log.append([Assistant((ToolCall("ask", "approve", {}, "{}"),), "tool_use", provider="p", model="m")])
    session.log.record([CustomEntry(id="", parent=None, time="", kind="parked", call_id="ask")])
    session.act(Action("compact", (), {"keep_tokens": 0}))
    session.say("meanwhile, go on")
    sound(session, api)
    session.log.append([ToolResult("ask", "approve", (Text("approved by Ada"),), is_error=False)])
    assert "approved by Ada" in sound(session, api)


def test_a_branch_before_a_compaction_knows_nothing_of_it_and_one_behind_keeps_it() -> None:
    session = session_at(6)
    before = session.view.messages()
    leaf = session.log.archive.leaf
    session.act(Action("compact", (), {"keep_tokens": 0}))
    behind, compacted = session.log.archive.leaf, session.view.messages()
    assert compacted != before
    session.log.record([LeafEntry(id="", parent=None, time="", target=leaf)])
    assert session.view.messages() == before
    session.say("another way")
    session.log.record([LeafEntry(id="", parent=None, time="", target=behind)])
    assert session.view.messages() == compacted
    assert folded_again(session.log).messages() == compacted


def test_going_back_to_a_turn_before_a_compaction_gives_that_turn_whole() -> None:
    session = Session(Engine(model(100_000), session_id="s"))
    leaves: list[Any] = []
    for turn in range(10):
        session.say(f"turn {turn}")
        session.work(lines(300, seed=turn))
        session.answer(Text(f"done {turn}"))
        leaves.append((session.log.archive.leaf, session.view.messages()))
    session.act(Action("compact", (), {"keep_tokens": 0}))
    leaf, messages = leaves[3]
    session.log.record([LeafEntry(id="", parent=None, time="", target=leaf)])
    assert session.view.messages() == messages
    assert "turn 3" in sound(session, "anthropic")


def test_an_undone_compaction_keeps_the_turns_that_came_after_it() -> None:
    session = session_at(6)
    before = session.view.messages()
    (done,) = session.act(Action("compact", (), {"keep_tokens": 0})).done
    session.say("and then?")
    session.answer(Text("later words"))
    session.revert(done.entry_id)
    assert session.view.messages()[: len(before)] == before
    assert "later words" in shown_texts(session.view.messages())


def test_what_was_archived_twice_comes_back_whole() -> None:
    session = session_at(4)
    texts = [host_of(session).text_of(f"c{n}") for n in (1, 2, 3)]
    session.act(Action("elide", ("c1", "c2")), author="model")
    session.act(Action("elide", ("c2", "c3")), author="model")
    session.act(Action("compact", (), {"keep_tokens": 0}))
    assert [host_of(session).text_of(f"c{n}") for n in (1, 2, 3)] == texts
    session.act(Action("reload", ("c1", "c2", "c3")), author="model")
    shown = shown_texts(session.view.messages())
    assert all(text is not None and text in shown for text in texts)


def test_whatever_is_cleared_is_a_row_of_the_log_with_its_reason_and_sizes() -> None:
    session = Session(Engine(model(20_000), session_id="s"))
    session.say(TASK)
    for number in range(20):
        before = session.view.messages()
        edits = len(session.edits)
        prepared = session.prepare()
        if prepared.request.messages != before:
            assert len(session.edits) > edits
        session.work(lines(1_500, seed=number))
    for entry in session.edits:
        assert entry.reason
        assert entry.author
        assert (entry.before_tokens or 0) > (entry.after_tokens or 0)


def test_a_summary_never_wipes_what_was_to_be_kept() -> None:
    session = session_at(3, tokens=6_000)
    session.act(Action("compact", (), {"keep_tokens": 6_000}))
    assert session.view.slots[-1].state == "full"
    assert TASK in sound(session, "anthropic")
