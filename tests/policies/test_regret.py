"""The regret ledger: what hiding things cost afterwards."""

import msgspec
import pytest

from support.edited import Story, count
from trimtab.context.seeing import regret
from trimtab.context.seeing.regret import KindRecord, Learned, RegretLedger
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Elide, Restore
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult

BODY = "x" * 500


def hide(story: Story, *handles: str) -> str:
    return story.edits(Elide(targets=handles, texts=dict.fromkeys(handles, "[stub]")))


def ledger_of(story: Story, **facts: object) -> RegretLedger:
    ledger = RegretLedger(**facts)  # type: ignore[arg-type]
    ledger.update(story.view, count)
    return ledger


def test_reading_a_hidden_file_again_is_booked_to_the_edit_that_hid_it():
    story = Story()
    story.says("go")
    handle = story.calls("read", {"path": "a.py"}, BODY)
    edit = hide(story, handle)
    story.calls("bash", {"command": "ls"}, "a.py")
    story.calls("read", {"path": "a.py", "offset": 5}, BODY)
    (booking,) = ledger_of(story, input_price=2.0).bookings
    assert (booking.edit, booking.cause, booking.tool) == (edit, "read", "read")
    assert (booking.tokens, booking.later, booking.step) == (500, 2, 3)
    assert booking.usd == 500 * 2.0 / 1_000_000


def test_reading_a_file_again_after_it_was_written_is_no_regret():
    story = Story()
    handle = story.calls("read", {"path": "a.py"}, BODY)
    hide(story, handle)
    story.calls("edit", {"path": "a.py"}, "done")
    story.calls("read", {"path": "a.py"}, BODY)
    assert ledger_of(story).bookings == []


def test_reading_again_what_is_still_in_sight_is_no_regret():
    story = Story()
    first = story.calls("read", {"path": "a.py"}, BODY)
    story.calls("read", {"path": "a.py"}, BODY)
    hide(story, first)
    story.calls("read", {"path": "a.py"}, BODY)
    assert ledger_of(story).bookings == []


def test_a_repeated_command_is_booked_unless_something_was_written():
    for writes, booked in ((False, 1), (True, 0)):
        story = Story()
        hide(story, story.calls("bash", {"command": "go test"}, BODY))
        if writes:
            story.calls("write", {"path": "b.go"}, "done")
        story.calls("bash", {"command": "go test"}, BODY)
        assert len(ledger_of(story).bookings) == booked


def test_recall_and_bringing_back_are_booked_and_each_result_only_once_for_an_edit():
    story = Story()
    one, two = story.calls("grep", {"pattern": "a"}, BODY), story.calls("grep", {"pattern": "b"}, BODY)
    edit = story.edits(Compact(targets=("call-1", "call-2"), summary="both"))
    story.calls("recall", {"id": one}, BODY)
    story.calls("recall", {"id": one, "page": 2}, BODY)
    story.edits(Restore(targets=(two,)), author="model")
    ledger = ledger_of(story)
    assert [(b.edit, b.cause) for b in ledger.bookings] == [(edit, "recall"), (edit, "reload")]
    assert ledger.learned.kinds["grep"] == KindRecord(hidden=2, regretted=2, tokens=1_000, later=3)


def test_taking_in_step_by_step_books_the_same_as_all_at_once():
    story, ledger = Story(), RegretLedger()
    for number in range(4):
        handle = story.calls("read", {"path": f"{number % 2}.py"}, BODY)
        ledger.update(story.view, count)
        hide(story, handle)
        ledger.update(story.view, count)
        ledger.update(story.view, count)
    assert ledger.bookings == ledger_of(story).bookings
    assert len(ledger.bookings) == 2
    assert ledger.learned == ledger_of(story).learned


def test_another_view_of_the_same_session_books_nothing_twice():
    story = Story()
    hide(story, story.calls("read", {"path": "a.py"}, BODY))
    story.calls("read", {"path": "a.py"}, BODY)
    ledger = ledger_of(story)
    before = ledger.learned
    ledger.update(Story().view, count)
    ledger.update(story.view, count)
    assert len(ledger.bookings) == 1
    assert ledger.learned == before


def test_a_kind_that_is_often_fetched_again_is_regretted_more_within_bounds():
    often = Learned({"read": KindRecord(hidden=20, regretted=15), "bash": KindRecord(hidden=20)})
    assert often.regret("bash") == 0.0
    assert often.regret("never seen") == 0.0
    assert 0.9 < often.regret("read") <= 1.0
    assert Learned({"read": KindRecord(hidden=1, regretted=1)}).regret("read") < 0.3
    assert Learned({"read": KindRecord(hidden=0, regretted=999)}).regret("read") == 1.0


def test_what_was_learned_is_shown_and_kept_as_json():
    story = Story()
    hide(story, story.calls("read", {"path": "a.py"}, BODY))
    story.calls("read", {"path": "a.py"}, BODY)
    ledger = ledger_of(story)
    (row,) = ledger.learned.rows()
    assert (row["tool"], row["hidden"], row["regretted"], row["tokens"], row["mean_later"]) == ("read", 1, 1, 500, 1.0)
    assert msgspec.json.decode(msgspec.json.encode(ledger.learned), type=Learned) == ledger.learned


def test_a_result_that_was_fetched_again_is_regretted_for_certain():
    story = Story()
    handle = story.calls("read", {"path": "a.py"}, BODY)
    hide(story, handle)
    story.calls("read", {"path": "a.py"}, BODY)
    ledger = ledger_of(story)
    address = story.view.find(handle)
    assert address is not None
    assert ledger.regret(story.view.slots[address.index]) == 1.0
    assert ledger.regret(story.view.slots[0]) == 0.0


def test_what_other_sessions_taught_counts_beside_what_this_one_does_and_is_not_changed_by_it():
    story = Story()
    handle = story.calls("read", {"path": "a.py"}, BODY)
    hide(story, handle)
    known = Learned({"read": KindRecord(hidden=20, regretted=10)})
    ledger = ledger_of(story, known=known)
    address = story.view.find(handle)
    assert address is not None
    assert ledger.regret(story.view.slots[address.index]) == known.having("read", KindRecord(hidden=1)).regret("read")
    assert ledger.known == known
    assert ledger.learned == Learned({"read": KindRecord(hidden=1)})


@pytest.mark.parametrize(("hidden", "most"), [(False, 1), (True, 64)])
def test_what_a_call_costs_the_ledger_does_not_grow_with_earlier_calls_about_the_same(
    monkeypatch: pytest.MonkeyPatch, hidden: bool, most: int
):
    story = Story()
    for _ in range(200):
        handle = story.calls("read", {"path": "a.py"}, BODY)
        if hidden:
            hide(story, handle)
    looked: list[int] = []
    covers = regret.covers
    monkeypatch.setattr(regret, "covers", lambda *given: (looked.append(1), covers(*given))[1])
    assert len(ledger_of(story).bookings) == (199 if hidden else 0)
    assert len(looked) <= 200 * most


def test_a_ledger_that_looks_after_every_message_takes_each_answer_in_once(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    resource_of = regret.resource_of
    monkeypatch.setattr(regret, "resource_of", lambda call: (asked.append(1), resource_of(call))[1])
    ledger, view = RegretLedger(), View()
    for number in range(30):
        call = ToolCall(f"c{number}", "read", {"path": f"{number}.py"}, "{}")
        view = view.with_message(f"a{number}", Assistant((call,), "tool_use"))
        ledger.update(view, count)
        view = view.with_message(f"t{number}", ToolResult(f"c{number}", "read", (Text(BODY),), is_error=False))
        ledger.update(view, count)
    assert len(asked) == 30
