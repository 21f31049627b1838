"""Stories, dropped facts and what was brought back: values made of views, over random histories and edits."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from support.saved_session import entries
from trimtab.context.archive import Archive
from trimtab.context.budget import budget_for
from trimtab.context.cycle.look import Look, look
from trimtab.context.cycle.tally import MeterTally
from trimtab.context.telling.dropped import dropped_facts
from trimtab.context.telling.explain import text_of
from trimtab.context.telling.story import grown, item_story
from trimtab.context.window.brought_back import brought_back
from trimtab.context.window.fold import fold
from trimtab.context.window.view import View
from trimtab.types.codec import entry_of
from trimtab.types.edits import Compact, Drop, Edit, Elide, Pin, Restore
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Text
from trimtab.types.models import ModelInfo, ModelRequest

MODEL = ModelInfo("scripted", "tiny", "scripted")
NAMES = ("user0001", "ask00001", "res00001", "ask00002", "res00002", "ask00003", "res00003", "ask00004")


def same(message: Any) -> Any:
    return message


def begun() -> View:
    """The conversation without its edits."""
    made = [entry_of(entry) for entry in entries() if entry.__struct_config__.tag == "message"]
    return fold(made, whole=same).view


def looked(view: View) -> Look:
    return look(view, ModelRequest(MODEL, ()), budget_for(MODEL), MeterTally(MODEL))


def made(kind: str, targets: tuple[str, ...]) -> Edit:
    match kind:
        case "elide":
            return Elide(targets=targets, texts=dict.fromkeys(targets, "[gone]"))
        case "drop":
            return Drop(targets=targets)
        case "restore":
            return Restore(targets=targets)
        case "compact":
            return Compact(targets=targets, summary="[summary]")
        case _:
            return Pin(targets=targets)


EDITS = st.lists(
    st.tuples(
        st.sampled_from(["elide", "drop", "restore", "compact", "pin", "revert"]),
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True),
    ),
    max_size=6,
)


def edited(steps: list[tuple[str, list[str]]]) -> View:
    view = begun()
    for number, (kind, targets) in enumerate(steps):
        if kind == "revert":
            known = [applied.id for applied in view.applied] + [revert.id for revert in view.reverts]
            if known:
                view = view.with_revert(f"v{number}", known[number % len(known)])
        else:
            view = view.with_edit(f"e{number}", made(kind, tuple(targets)))
    return view


@given(steps=EDITS, name=st.sampled_from(NAMES))
def test_every_item_has_a_story_and_its_one_undoing_edit_undoes_it(steps: list[Any], name: str) -> None:
    view = edited(steps)
    story = item_story(looked(view), Archive(), name)
    assert story is not None
    assert story.why
    if story.undone_by:
        address = view.find(name)
        assert address is not None
        slot = view.with_revert("undo", story.undone_by).slots[address.index]
        assert slot.shown == slot.recorded.shown


@given(steps=EDITS, more=EDITS)
def test_what_a_view_has_grown_by_is_the_difference_of_the_whole_counts(steps: list[Any], more: list[Any]) -> None:
    before, after = edited(steps), edited([*steps, *more])
    now = looked(before)
    size = now.tally.message
    whole_difference = sum(map(size, after.messages())) - sum(map(size, before.messages()))
    assert grown(now, after) == whole_difference


@given(steps=EDITS)
def test_what_was_brought_back_is_shown_unless_something_later_hid_it(steps: list[Any]) -> None:
    view = edited(steps)
    assert brought_back(begun(), 5) == {}
    assert set(brought_back(view, 5)) <= {slot.id for slot in view.slots}
    assert all(step == view.step for step in brought_back(view, 5).values())


def test_a_restore_counts_and_so_does_the_revert_of_an_edit_until_it_is_old() -> None:
    hidden = begun().with_edit("e1", made("elide", ("res00001",))).with_edit("e2", made("elide", ("res00002",)))
    back = hidden.with_edit("e3", made("restore", ("res00001",))).with_revert("v1", "e2")
    assert brought_back(back, 5) == {"res00001": 4, "res00002": 4}
    assert brought_back(back.with_revert("v2", "v1"), 5) == {"res00001": 4}
    assert brought_back(back.with_revert("v3", "e3"), 5) == {"res00002": 4}
    assert brought_back(back.with_edit("e4", made("pin", ("ask00002",))).with_revert("v4", "e4"), 5) == {
        "res00001": 4,
        "res00002": 4,
    }
    later = back
    for number in range(6):
        later = later.with_message(f"more{number}", Assistant((Text("and"),), "stop"))
    assert brought_back(later, 5) == {}


def test_a_dropped_fact_stands_in_no_message_of_the_context_afterwards() -> None:
    path = [entry_of(entry) for entry in entries()]
    found = dropped_facts(path, whole=same)
    assert set(found) == {"edit0001", "edit0002"}
    for number, entry in enumerate(path):
        if entry.id in found:
            left = "\n".join(map(text_of, fold(path[: number + 1], whole=same).view.messages()))
            assert found[entry.id]
            assert [fact.text for fact in found[entry.id] if fact.text in left] == []


def test_a_rule_of_the_person_comes_first_among_what_is_dropped() -> None:
    path = [entry_of(entry) for entry in entries()[:1]]
    drop = EditEntry(id="e1", parent="user0001", time="", edit=Elide(targets=("user0001",), texts={"user0001": "[…]"}))
    (first, *_) = dropped_facts([*path, entry_of(drop)], whole=same)["e1"]
    assert (first.kind, first.text, first.by_user, first.source) == ("rule", "Never touch the tests.", True, "user0001")
