"""The view: edits lie over messages, never in them; each can be taken back alone."""

import tracemalloc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.window.pairs import pair
from trimtab.context.window.view import View
from trimtab.types.edits import (
    Compact,
    Drop,
    Edit,
    Elide,
    Fold,
    Offload,
    Pin,
    Restate,
    Restore,
    Unpin,
)
from trimtab.types.messages import Assistant, Image, Message, Text, Thinking, ToolCall, ToolResult, User, user


def call(call_id: str, raw: str = "{}") -> ToolCall:
    return ToolCall(call_id, "read", {}, raw)


def say(*calls: str, text: str = "ok") -> Assistant:
    parts = (Thinking("hm", "sig"), Text(text), *(call(c) for c in calls))
    return Assistant(parts, "tool_use" if calls else "stop")


def result(call_id: str, text: str = "body", *, handle: str | None = None) -> ToolResult:
    return ToolResult(call_id, "read", (Text(text),), is_error=False, handle=handle)


def conversation(*messages: Message) -> View:
    view = View()
    for number, message in enumerate(messages):
        view = view.with_message(f"e{number}", message)
    return view


TALK: tuple[Message, ...] = (
    user("do it"),
    say("a", "b"),
    result("a", "alpha", handle="r1"),
    result("b", "beta"),
    say("c"),
    result("c", "gamma"),
    say(),
    user("more"),
)


def texts(view: View) -> list[str]:
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in view.messages()]


def test_a_stub_takes_the_place_of_a_body_and_nothing_else_changes():
    view = conversation(*TALK).with_edit("x", Elide(targets=("r1",), texts={"r1": "[stub]"}))
    assert texts(view) == ["do it", "ok", "[stub]", "beta", "ok", "gamma", "ok", "more"]


def test_a_result_with_a_handle_shows_it_at_its_head():
    assert texts(conversation(*TALK))[2] == "[r1]\nalpha"


@pytest.mark.parametrize("name", ["r1", "a", "e2"])
def test_an_item_is_found_by_handle_by_call_and_by_entry(name):
    address = conversation(*TALK).find(name)
    assert address is not None
    assert address.index == 2


def test_an_edit_before_the_answer_came_is_not_lost_when_it_comes():
    view = conversation(*TALK[:2]).with_edit("x", Pin(targets=("a",))).with_message("e2", result("a"))
    assert view.slots[2].pinned


def test_a_dropped_result_takes_its_call_along():
    view = conversation(*TALK).with_edit("x", Drop(targets=("a",)))
    answer = view.messages()[1]
    assert isinstance(answer, Assistant)
    assert [c.id for c in answer.tool_calls] == ["b"]
    assert texts(view) == ["do it", "ok", "beta", "ok", "gamma", "ok", "more"]


def test_a_dropped_answer_takes_all_its_results_along():
    view = conversation(*TALK).with_edit("x", Drop(targets=("e1",)))
    assert texts(view) == ["do it", "ok", "gamma", "ok", "more"]


def test_an_answer_with_nothing_left_is_not_shown():
    bare = Assistant((call("a"),), "tool_use")
    view = conversation(user("hi"), bare, result("a")).with_edit("x", Drop(targets=("a",)))
    assert texts(view) == ["hi"]


def test_a_compaction_shows_its_summary_in_place_of_the_run():
    view = conversation(*TALK).with_edit("x", Compact(targets=("e1", "e2", "e3"), summary="so far"))
    assert texts(view) == ["do it", "so far", "ok", "gamma", "ok", "more"]


def test_a_compaction_whose_border_falls_into_a_group_takes_the_whole_group():
    view = conversation(*TALK).with_edit("x", Compact(targets=("e0", "e1", "e2"), summary="so far"))
    assert texts(view) == ["so far", "ok", "gamma", "ok", "more"]


def test_a_later_compaction_covers_an_earlier_one():
    view = conversation(*TALK).with_edit("x", Compact(targets=("e1", "e2", "e3"), summary="one"))
    view = view.with_edit("y", Compact(targets=("x", "e4", "e5"), summary="two"))
    assert texts(view) == ["do it", "two", "ok", "more"]
    assert texts(view.with_revert("z", "x")) == ["do it", "two", "ok", "more"]
    assert texts(view.with_revert("z", "y")) == ["do it", "one", "ok", "gamma", "ok", "more"]


def test_a_later_compaction_leaves_what_was_brought_back_from_under_an_earlier_one():
    view = conversation(*TALK).with_edit("x", Compact(targets=("e0", "e1", "e2", "e3"), summary="one"))
    view = view.with_edit("r", Restore(targets=("a",)))
    view = view.with_edit("y", Compact(targets=("x", "e4", "e5"), summary="two"))
    assert texts(view) == ["two", "ok", "[r1]\nalpha", "beta", "ok", "more"]
    assert texts(view.with_revert("z", "x")) == texts(view)


def test_the_summary_of_a_summary_under_which_nothing_is_hidden_stands_where_that_stood():
    view = conversation(*TALK).with_edit("x", Compact(targets=("e0",), summary="one"))
    view = view.with_edit("r", Restore(targets=("e0",))).with_edit("y", Compact(targets=("x",), summary="two"))
    assert texts(view)[:2] == ["two", "do it"]
    assert texts(view.with_revert("z", "y"))[:2] == ["one", "do it"]


def test_what_a_compaction_hid_can_be_restored_with_its_group_and_keeps_other_stubs():
    view = conversation(*TALK).with_edit("s", Elide(targets=("e3",), texts={"e3": "[stub b]"}))
    view = view.with_edit("x", Compact(targets=("e1", "e2", "e3"), summary="so far"))
    view = view.with_edit("y", Restore(targets=("r1",)))
    assert texts(view) == ["do it", "so far", "ok", "[r1]\nalpha", "[stub b]", "ok", "gamma", "ok", "more"]


def test_a_page_is_shown_in_place_of_the_whole():
    view = conversation(*TALK).with_edit("x", Elide(targets=("a",), texts={"a": "[stub]"}))
    view = view.with_edit("y", Restore(targets=("a",), texts={"a": "page 1"}))
    assert (texts(view)[2], view.slots[2].state) == ("page 1", "folded")


def test_offloaded_arguments_keep_the_call():
    view = conversation(user("hi"), Assistant((call("a", '{"content": "long"}'),), "tool_use"), result("a"))
    view = view.with_edit("x", Offload(targets=("e1#0",), arguments={"e1#0": '{"content": "pointer"}'}))
    answer = view.messages()[1]
    assert isinstance(answer, Assistant)
    assert answer.tool_calls[0] == ToolCall("a", "read", {"content": "pointer"}, '{"content": "pointer"}')


def test_one_picture_of_a_message_can_give_way_to_a_text():
    view = conversation(User((Text("see"), Image("image/png", "AAAA"))))
    view = view.with_edit("x", Elide(targets=("e0#1",), texts={"e0#1": "[a picture]"}))
    assert view.messages() == (User((Text("see"), Text("[a picture]"))),)


def test_something_said_again_stands_where_the_edit_stands():
    view = conversation(*TALK).with_edit("x", Restate(targets=(), text="the goal", label="goal"))
    view = view.with_message("e9", say())
    assert view.messages()[-2] == User((Text("the goal"),), origin="note")
    assert texts(view.with_revert("z", "x"))[-2:] == ["more", "ok"]


def test_a_revert_can_be_reverted():
    view = conversation(*TALK).with_edit("x", Elide(targets=("a",), texts={"a": "[stub]"}))
    view = view.with_revert("r", "x").with_revert("rr", "r")
    assert texts(view)[2] == "[stub]"


def test_a_pin_holds_until_it_is_taken_away():
    view = conversation(*TALK).with_edit("x", Pin(targets=("r1",)))
    assert view.slots[2].pinned
    assert not view.with_edit("y", Unpin(targets=("r1",))).slots[2].pinned
    assert not view.with_revert("y", "x").slots[2].pinned


def test_an_edit_that_names_nothing_known_changes_nothing():
    view = conversation(*TALK)
    assert view.with_edit("x", Elide(targets=("nope", "e0#99x"), texts={"nope": "!"})).messages() == view.messages()


def test_a_snapshot_stays_as_it_was_when_two_futures_grow_from_it():
    base = conversation(*TALK[:5])
    left = base.with_message("l1", result("c", "left")).with_message("l2", user("left"))
    right = base.with_edit("x", Elide(targets=("a",), texts={"a": "[stub]"})).with_message("p1", result("c", "right"))
    assert texts(left)[-2:] == ["left", "left"]
    assert texts(right)[2:] == ["[stub]", "beta", "ok", "right"]
    assert texts(base)[2:] == ["[r1]\nalpha", "beta", "ok", "interrupted"]
    assert (left.find("p1"), right.find("l2")) == (None, None)


NAMES = [f"e{n}" for n in range(12)] + ["a", "b", "c", "r1", "x0", "x1", "x2", "e1#2", "e1#0", "e4#2", "nope"]
TARGETS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(tuple)


def _texts(kind: Any) -> st.SearchStrategy[Edit]:
    return TARGETS.map(lambda targets: kind(targets=targets, texts={t: f"[{t}]" for t in targets}))


EDITS: st.SearchStrategy[Edit] = st.one_of(
    _texts(Elide),
    _texts(Fold),
    TARGETS.map(lambda t: Drop(targets=t)),
    TARGETS.map(lambda t: Restore(targets=t)),
    _texts(Restore),
    TARGETS.map(lambda t: Compact(targets=t, summary="summary")),
    TARGETS.map(lambda t: Pin(targets=t)),
    TARGETS.map(lambda t: Offload(targets=t, arguments=dict.fromkeys(t, '{"p": 1}'))),
    st.just(Restate(targets=(), text="goal")),
)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.sampled_from(["x", "y"]).map(user),
    st.lists(st.sampled_from(["a", "b", "c"]), max_size=3).map(lambda calls: say(*calls)),
    st.builds(result, st.sampled_from(["a", "b", "c"]), st.sampled_from(["1", "2"])),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("message"), MESSAGES),
        st.tuples(st.just("edit"), EDITS),
        st.tuples(st.just("revert"), st.integers(0, 20)),
        st.tuples(st.just("park"), st.sampled_from(["a", "b", "c"])),
    ),
    max_size=20,
)


def take(view: View, number: int, step: tuple[str, Any]) -> View:
    what, value = step
    if what == "message":
        return view.with_message(f"e{number}", value)
    if what == "edit":
        return view.with_edit(f"x{number}", value)
    if what == "park":
        return view.with_parked(value)
    return view.with_revert(f"v{number}", f"{'xv'[value % 2]}{value // 2}")


def paired(messages: tuple[Message, ...]) -> bool:
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResult):
            if not waiting or waiting.pop(0) != message.call_id:
                return False
        elif waiting:
            return False
        if isinstance(message, Assistant):
            waiting = [c.id for c in message.tool_calls]
    return not waiting


@given(STEPS)
def test_every_call_has_its_result_whatever_was_edited(steps):
    view = View()
    for number, step in enumerate(steps):
        view = take(view, number, step)
        assert paired(view.messages())


@given(STEPS)
def test_looking_after_each_step_shows_what_looking_once_at_the_end_shows(steps):
    often = once = View()
    for number, step in enumerate(steps):
        often = take(often, number, step)
        often.messages()
    for number, step in enumerate(steps):
        once = take(once, number, step)
    assert often.shown() == once.shown()


@given(STEPS, st.lists(st.tuples(st.integers(0, 3), EDITS, st.sampled_from(["", "user"])), max_size=6))
def test_what_was_laid_on_a_view_just_now_is_what_laying_it_anew_gives(steps, tries):
    """Several lay the same on one view, in any order and under one name, and each gets what a view of its own would show."""
    view = View()
    for number, step in enumerate(steps):
        view = take(view, number, step)
    for name, edit, author in tries:
        alone = View()
        for number, step in enumerate(steps):
            alone = take(alone, number, step)
        once, again = (view.with_edit(f"t{name}", edit, author=author) for _ in range(2))
        fresh = alone.with_edit(f"t{name}", edit, author=author)
        assert once.shown() == again.shown() == fresh.shown()
        assert [*again.applied] == [*fresh.applied]
        assert again.edit(f"t{name}") == fresh.edit(f"t{name}")
        assert again.find(f"t{name}") == fresh.find(f"t{name}")


def test_an_edit_of_many_messages_is_laid_on_a_view_once_and_forgotten_with_it():
    view = conversation(*TALK)
    compact = Compact(targets=("e1", "e2", "e3"), summary="summary")
    once = view.with_edit("x", compact)
    assert view.with_edit("x", Compact(targets=("e1", "e2", "e3"), summary="summary")) is once
    assert view.with_edit("x", compact, author="user") is not once
    assert view.with_edit("x", Compact(targets=("e1", "e2", "e3"), summary="another")) is not once
    kept = weakref.ref(once)
    del once
    assert kept() is None


@given(STEPS, st.integers(0, 20))
def test_an_edit_taken_back_leaves_what_stands_without_it(steps, which):
    """Later turns and later edits stay; only what named the edit itself (a compaction over its summary) may differ."""
    edits = [n for n, (what, _) in enumerate(steps) if what == "edit"]
    if not edits:
        return
    gone = edits[which % len(edits)]
    with_it = without = View()
    for number, step in enumerate(steps):
        if step[0] == "revert":
            continue
        with_it = take(with_it, number, step)
        if number != gone:
            without = take(without, number, step)
    undone = with_it.with_revert("undo", f"x{gone}")
    if not any(f"x{gone}" in applied.edit.targets for applied in with_it.applied):
        assert undone.messages() == without.messages()
    assert undone.with_revert("redo", "undo").messages() == with_it.messages()


@given(STEPS)
def test_a_view_never_changes_once_it_was_made(steps):
    views = [View()]
    seen = [views[0].messages()]
    for number, step in enumerate(steps):
        views.append(take(views[-1], number, step))
        seen.append(views[-1].messages())
    assert [view.messages() for view in views] == seen


@given(st.lists(MESSAGES, max_size=20))
def test_without_edits_the_messages_only_grow_at_their_end_but_for_answers_that_come(messages):
    view = View()
    before: tuple[Message, ...] = ()
    for number, message in enumerate(messages):
        view = view.with_message(f"e{number}", message)
        after = view.messages()
        same = [a for a, b in zip(before, after, strict=False) if a == b]
        assert len(same) >= len(before) - 1
        before = after


def test_messages_that_were_shown_show_the_same_when_they_are_viewed_again():
    shown = conversation(*TALK).messages()
    assert pair(shown)[0] == shown


@pytest.mark.parametrize("ids", ["orphans", "duplicates"])
def test_views_of_a_damaged_log_share_what_they_leave_out(ids: str) -> None:
    def held(count: int) -> int:
        """Bytes of so many views, each with one more result that finds no place."""
        view = View()
        if ids == "duplicates":
            call = ToolCall("c", "read", {}, "{}")
            view = view.with_message("a", Assistant((call,), "tool_use"))
            view = view.with_message("r", ToolResult("c", "read", (Text("x"),), is_error=False))
        result = ToolResult("c", "read", (Text("x"),), is_error=False)
        kept = [view]
        tracemalloc.start()
        for n in range(count):
            kept.append(kept[-1].with_message(f"e{n}", result))
        size = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(getattr(kept[-1].repairs, ids)) == count
        return size

    assert held(1_200) < 6 * held(300), "four times as many, and not sixteen times as much"
