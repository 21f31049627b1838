"""Nobody but a person fills the window with what must stay, or takes away what a person pinned."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from support.engine_session import Session, call_of, lines, model
from trimtab.context.actions import Action
from trimtab.context.cycle.told_once import ToldOnce
from trimtab.context.engine import Engine
from trimtab.context.seeing.observation import Observation
from trimtab.context.window.fold import fold
from trimtab.types.messages import Text

WINDOW = 16_000
MODELS_AND_POLICIES = pytest.mark.parametrize("author", ["model", "policy:theirs"])


@dataclass(frozen=True, slots=True)
class Wants:
    """A policy that always wants the same of what it sees."""

    wish: Callable[[tuple[str, ...]], list[Action]]
    name: str = "wants"

    def decide(self, observation: Observation) -> Sequence[Action]:
        return self.wish(tuple(item.id for item in observation.items if item.kind == "result"))


def session(policy: object = "rules") -> Session:
    """A session that was asked for something."""
    made = Session(Engine(model(WINDOW), session_id="s", policy=policy))  # type: ignore[arg-type]
    made.say("go")
    return made


def is_pinned(of: Session, call: str) -> bool:
    """Whether the result of a call is pinned."""
    address = of.view.find(call)
    assert address is not None
    return of.view.slots[address.index].pinned


def of_kind(of: Session, kind: str) -> list[object]:
    """The edits of that kind in the log."""
    return [applied.edit for applied in of.view.applied if type(applied.edit).__name__ == kind]


@MODELS_AND_POLICIES
def test_pins_of_others_stop_at_half_of_the_room_and_the_session_goes_on(author: str) -> None:
    talk, refused = session(), []
    for number in range(8):
        (call,) = talk.work(lines(2_500, seed=number))
        refused += talk.act(Action("pin", (call,)), author=author).refused
        talk.prepare()
    room = talk.engine.budget.room
    assert len(of_kind(talk, "Pin")) >= 2
    assert f"at most {room // 2:,} may be made to stay" in refused[0]
    assert "pinned items" in refused[0]


def test_pins_of_one_batch_count_together() -> None:
    talk = session()
    calls = talk.work(*(lines(1_500, seed=number) for number in range(6)))
    outcome = talk.act(*(Action("pin", (call,)) for call in calls), author="model")
    assert 0 < len(outcome.done) < 6
    assert len(outcome.done) + len(outcome.refused) == 6


def test_what_is_pinned_while_it_is_hidden_comes_back_as_far_as_it_could_have_been_pinned() -> None:
    talk = session()
    calls = talk.work(*(lines(2_500, seed=number) for number in range(6)))
    wishes = [Action("elide", tuple(calls)), *(Action("pin", (call,)) for call in calls)]
    assert talk.act(*wishes, author="model").refused == ()
    outcome = talk.act(*(Action("reload", (call,)) for call in calls), author="model")
    assert outcome.done
    assert "may be made to stay" in outcome.refused[0]
    talk.prepare()


def test_a_policy_that_pins_all_it_sees_does_not_stop_a_session() -> None:
    talk = session(Wants(lambda ids: [Action("pin", ids)] if ids else []))
    for number in range(8):
        talk.work(lines(2_500, seed=number))
        talk.prepare()


def test_a_person_pins_what_they_like_below_the_limit() -> None:
    talk = session()
    calls = talk.work(*(lines(2_500, seed=number) for number in range(4)))
    assert len(talk.act(*(Action("pin", (call,)) for call in calls)).done) == 4


@MODELS_AND_POLICIES
def test_others_pin_no_answer_that_they_do_not_know_yet(author: str) -> None:
    talk = session()
    talk.answer(Text("looking"), call_of("c9", "bash", {}))
    assert "still waits for an answer" in talk.act(Action("pin", ("c9",)), author=author).refused[0]


@pytest.mark.parametrize("author", ["model", "policy:theirs", "recovery"])
@pytest.mark.parametrize("again", [False, True], ids=["pinned", "pinned once more by the other"])
def test_what_a_person_pinned_only_a_person_unpins(author: str, again: bool) -> None:
    talk = session()
    (call,) = talk.work(lines(1_000))
    talk.act(Action("pin", (call,)))
    if again:
        talk.act(Action("pin", (call,)), author=author)
    refused = talk.act(Action("unpin", (call,)), Action("elide", (call,)), author=author).refused
    assert "a person pinned it" in refused[0]
    assert is_pinned(talk, call)
    talk.act(Action("unpin", (call,)))
    assert not is_pinned(talk, call)


@MODELS_AND_POLICIES
def test_others_unpin_what_others_pinned_and_what_a_person_let_go(author: str) -> None:
    talk = session()
    (call,) = talk.work(lines(1_000))
    talk.act(Action("pin", (call,)))
    talk.act(Action("unpin", (call,)))
    talk.act(Action("pin", (call,)), author="model")
    assert talk.act(Action("unpin", (call,)), author=author).refused == ()
    assert not is_pinned(talk, call)


def test_who_pinned_is_known_after_a_session_was_read_again() -> None:
    talk = session()
    (call,) = talk.work(lines(1_000))
    talk.act(Action("pin", (call,)))
    again = fold(talk.log.archive.path(), whole=lambda message: message).view
    assert (
        [applied.author for applied in again.applied] == [applied.author for applied in talk.view.applied] == ["user"]
    )


@MODELS_AND_POLICIES
def test_a_note_has_an_eighth_of_the_room_at_most(author: str) -> None:
    talk = session()
    most = talk.engine.budget.room // 8
    refused = talk.act(Action("restate", (), {"text": lines(3_000), "label": "goal"}), author=author).refused
    assert f"a note may have {most:,}" in refused[0]
    assert of_kind(talk, "Restate") == []
    assert talk.act(Action("restate", (), {"text": "find the slow log", "label": "goal"}), author=author).done


def test_a_policy_that_calls_itself_like_the_engine_is_held_to_the_same() -> None:
    big = Wants(lambda _ids: [Action("restate", (), {"text": lines(3_000), "label": "goal"})], "housekeeping")
    talk = session(big)
    for number in range(8):
        talk.work(lines(1_500, seed=number))
        talk.prepare()
    assert of_kind(talk, "Restate") == []


def summarised(talk: Session) -> str:
    """The id of the edit that shows a summary of the first two steps, which a person has pinned."""
    calls = [talk.work(lines(600, seed=number))[0] for number in range(4)]
    done = talk.act(Action("compact", tuple(calls[:2]), {"summary": "Two files were read; port 4711 is taken."})).done
    summary = done[0].entry_id
    assert talk.act(Action("pin", (summary,))).done
    return summary


@pytest.mark.parametrize("author", ["model", "policy:theirs", "recovery"])
@pytest.mark.parametrize("action", ["drop", "compact"])
def test_a_pinned_summary_stays_for_all_but_a_person(author: str, action: str) -> None:
    talk = session()
    summary = summarised(talk)
    wish = Action(action, (summary,), {"summary": "short"})  # type: ignore[arg-type]
    outcome = talk.act(wish, author=author)
    assert (outcome.done, f"{summary!r} is pinned" in outcome.refused[0]) == ((), True)
    assert talk.act(wish).done, "a person may"


@pytest.mark.parametrize("author", ["model", "policy:theirs", "recovery"])
def test_nobody_but_a_person_takes_a_pinned_answer_out_with_the_result_of_its_only_call(author: str) -> None:
    talk = session()
    (call,) = talk.work(lines(600))
    answer = next(slot for slot in talk.view.slots if slot.end)
    assert talk.act(Action("pin", (answer.id,))).done
    assert talk.act(Action("drop", (call,)), author=author).done == ()
    assert talk.act(Action("drop", (call,))).done, "a person may"


def test_a_pinned_summary_outlives_a_full_window() -> None:
    talk = session()
    summary = summarised(talk)
    for number in range(12):
        talk.work(lines(2_000, seed=10 + number))
        prepared = talk.prepare()
    assert any("port 4711 is taken" in str(message.parts) for message in prepared.request.messages)
    (item,) = [i for i in talk.engine.observe(talk.engine.look(talk.view, talk.request)).items if i.id == summary]
    assert item.pinned


@MODELS_AND_POLICIES
def test_all_notes_together_have_a_quarter_of_the_room(author: str) -> None:
    talk, refused = session(), []
    for number in range(60):
        note = Action("restate", params={"text": lines(150, seed=number)})
        refused += talk.act(note, author=author).refused
    room, stand = talk.engine.budget.room, len(of_kind(talk, "Restate"))
    assert f"{stand} notes stand already" in refused[0]
    assert f"all notes may have {room // 4:,}" in refused[0]
    assert sum(talk.engine.tally.text(n.text) for n in of_kind(talk, "Restate")) <= room // 4  # type: ignore[attr-defined]
    first = talk.view.applied[0].id
    assert talk.act(Action("drop", (first,)), author=author).done
    assert talk.act(Action("restate", params={"text": lines(100, seed=99)}), author=author).done


def test_a_plan_that_is_said_again_and_again_counts_once_and_a_person_may_say_what_they_like() -> None:
    talk = session()
    for number in range(40):
        plan = Action("restate", params={"text": lines(150, seed=number), "label": "plan"})
        assert talk.act(plan, author="model").done
        assert talk.act(Action("restate", params={"text": lines(150, seed=number)})).done


def test_what_a_policy_wants_in_vain_is_logged_once() -> None:
    talk = session(Wants(lambda ids: [Action("pin", ids)] if ids else []))
    for number in range(5):
        talk.work(lines(2_500, seed=number))
    for _ in range(6):
        talk.prepare()
        talk.answer(Text("hm"))
        talk.say("go on")
    assert len(vain(talk)) == 1


def test_other_figures_are_no_news_and_something_done_makes_all_of_it_news_again() -> None:
    told = ToldOnce()
    assert told.is_news("model", ["it has 10,476 tokens", "no room"])
    assert not told.is_news("model", ["it has 9 tokens"])
    assert told.is_news("policy:p", ["it has 9 tokens"])
    told.succeeded("model")
    assert (told.is_news("model", ["no room"]), told.is_news("policy:p", ["it has 1 tokens"])) == (True, False)
    again = ToldOnce()
    again.restore(told.state)
    assert not again.is_news("model", ["no room"])


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("'r7' is pinned", "'r8' is pinned"),
        ("r7: there is nothing to gain", "r8: there is nothing to gain"),
        ("there is no item '7' in this conversation", "there is no item '8' in this conversation"),
        ("fold of 3f2a9c01, r2: over_budget", "fold of 3f2a9c02, r2: over_budget"),
        ("'c0ffee12#1' has no such part", "'c0ffee12#2' has no such part"),
    ],
)
def test_the_same_of_another_item_is_news(one: str, another: str) -> None:
    told = ToldOnce()
    assert [told.is_news("model", [said]) for said in (one, another, one, another)] == [True, True, False, False]


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("it has 10,476 tokens", "it has 9 tokens"),
        ("a summary (1,200 of 900) is too large.", "a summary (1,300 of 1,000) is too large."),
        ("all notes may have 1,000: drop some", "all notes may have 250: drop some"),
        ("and 50 more", "and 3 more"),
    ],
)
def test_the_same_with_another_size_is_no_news(one: str, another: str) -> None:
    told = ToldOnce()
    assert [told.is_news("model", [said]) for said in (one, another)] == [True, False]


def test_a_new_item_in_vain_at_each_request_is_told_for_some_time_and_then_no_more() -> None:
    told = ToldOnce()
    news = [told.is_news("policy:p", [f"r{number}: there is nothing to gain"]) for number in range(2_000)]
    assert 100 <= sum(news) <= 200
    assert not any(news[200:])
    assert told.is_news("policy:p", ["r2000 is pinned"])


def vain(talk: Session) -> list[dict[str, object]]:
    return [remark for remark in talk.remarks if remark["event"] == "not_applied"]


def test_of_very_many_reasons_the_first_are_told_and_how_many_more() -> None:
    talk = session()
    outcome = talk.act(*(Action("drop", (f"nothing{number}",)) for number in range(70)), author="model")
    assert (len(outcome.refused), len(outcome.problems), outcome.problems[-1]) == (70, 21, "and 50 more")
