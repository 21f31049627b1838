"""Deciding: guards, thrash, stalls, and what the log is told."""

from collections.abc import Generator
from typing import Any

from support.observations import Fixed, seen, targets, work
from trimtab.context.actions import Action
from trimtab.context.asks import Advice, Consult, Failed, Record, Recorded
from trimtab.context.cycle.deciding import Decider
from trimtab.context.editing.applying import BLANK, Done, Outcome
from trimtab.context.policies.base import ByRules
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.remote import Remote
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.wrappers import DryRun
from trimtab.context.settings import EngineSettings
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, EditCost, Elide
from trimtab.types.entries import EditEntry
from trimtab.types.messages import Assistant, Text, user

ALL = Action("elide", tuple(f"t{n}" for n in range(8)))


def decided(decider: Decider, observation: Any, *answers: Any) -> tuple[list[Action], list[Any]]:
    """Drive a decision with these answers; return the actions and what was asked."""
    plan: Generator[Any, Any, Any] = decider.decide(observation)
    asked: list[Any] = []
    left = list(answers)
    answer: Any = None
    while True:
        try:
            ask = plan.send(answer)
        except StopIteration as stop:
            return list(stop.value), asked
        asked.append(ask)
        answer = left.pop(0) if left else Recorded(("x",))


def talk(steps: int, *, turns: int = 1) -> View:
    """A view with so many answers in each turn."""
    view = View()
    for turn in range(turns):
        view = view.with_message(f"u{turn}", user("go on"))
        for step in range(steps):
            view = view.with_message(f"a{turn}-{step}", Assistant((Text("ok"),), "stop"))
    return view


def outcome(view: View, gained: int, *, edit: Any = None, cost: EditCost | None = None) -> Outcome:
    edit = edit or Elide(targets=("t0",), texts={"t0": "stub"})
    entry = EditEntry(**BLANK, edit=edit, before_tokens=gained, after_tokens=0, cost=cost or EditCost())
    return Outcome(view, (Done("e", entry),))


def test_a_policy_of_ours_is_asked_and_its_actions_come_out():
    actions, asked = decided(Decider(Rules(), EngineSettings()), seen(work(11)))
    assert targets(actions)
    assert asked == []


def test_a_kind_of_action_rests_after_it_happened_unless_the_request_doesnt_fit():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=2))
    decider.acted(outcome(talk(3), 900), [ALL], author="policy:fixed", step=3)
    assert decider.since(4) == {"elide": 1}
    observation = seen(work(11), step=4, since=decider.since(4))
    assert decided(decider, observation)[0] == []
    assert decided(decider, seen(work(11), step=5, since=decider.since(5)))[0] == [ALL]
    assert decided(decider, seen(work(11), step=4, since=decider.since(4), used=14_001))[0] == [ALL]


def test_free_tidying_of_the_engine_starts_no_rest():
    decider = Decider(Fixed((ALL,)), EngineSettings())
    decider.acted(outcome(talk(3), 900), [ALL], author="policy:housekeeping", step=3)
    assert decider.since(3) == {}
    assert decider.counts.batches == 0


def test_a_baseline_is_not_held_back_but_pins_hold_for_it_too():
    decider = Decider(Mask(keep=10, batch=1), EngineSettings(min_gain=0.5))
    assert targets(decided(decider, seen(work(12), since={"elide": 0}))[0]) == ["t0", "t1"]
    small = Decider(Fixed((Action("elide", ("t0",)),)), EngineSettings(min_gain=0.5))
    assert decided(small, seen(work(12)))[0] == []


def test_a_policy_that_fails_is_told_of_in_the_log_and_rules_decide():
    decider = Decider(Fixed((Action("elide", ("nowhere",)),)), EngineSettings())
    actions, asked = decided(decider, seen(work(11)))
    assert targets(actions)
    assert decider.author == "policy:rules"
    (record,) = asked
    assert isinstance(record, Record)
    assert record.values[0].data["event"] == "policy_failed"
    assert "names nothing that is there; the rules decide instead" in record.values[0].data["reason"]
    assert decider.notes == [f"{record.values[0].data['reason']} (after 3 failures in a row it isn't asked again)"]


def test_a_remote_policy_is_asked_for_by_whoever_drives_and_its_answer_judged():
    decider = Decider(Remote("http://localhost/p", timeout_s=2.0), EngineSettings())
    observation = seen(work(11))
    actions, asked = decided(decider, observation, Advice(({"action": "elide", "targets": list(ALL.targets)},)))
    assert asked == [Consult(observation, "http://localhost/p", 2.0)]
    assert actions == [ALL]


def test_a_remote_policy_that_isnt_reached_gives_way_to_rules():
    decider = Decider(Remote("http://localhost/p"), EngineSettings())
    for _ in range(3):
        actions, asked = decided(decider, seen(work(11)), Failed("refused"))
        assert targets(actions)
        assert isinstance(asked[0], Consult)
    assert asked[-1].values[0].data["reason"].endswith("it isn't asked any more")
    assert decided(decider, seen(work(11)))[1] == []


def test_decisions_that_are_left_to_the_rules_are_counted_whether_it_failed_or_isnt_asked_any_more():
    decider = Decider(Remote("http://localhost/p"), EngineSettings())
    fine = Advice(({"action": "elide", "targets": list(ALL.targets)},))
    decided(decider, seen(work(11)), fine)
    assert (decider.decisions, decider.left) == (1, 0)
    for _ in range(4):
        decided(decider, seen(work(11)), Failed("no answer within 5 s"))
    assert (decider.decisions, decider.left) == (5, 4)


def test_a_policy_that_leaves_its_decision_to_the_rules_decides_by_name_and_is_counted():
    decider = Decider(Fixed(ByRules((ALL,))), EngineSettings())
    assert decided(decider, seen(work(11)))[0] == [ALL]
    assert (decider.author, decider.decisions, decider.left) == ("policy:fixed", 1, 1)


def test_an_outage_of_a_policy_is_told_when_it_begins_and_when_it_is_over():
    decider = Decider(Remote("http://localhost/p"), EngineSettings())
    fine = Advice(({"action": "elide", "targets": list(ALL.targets)},))
    for answer in (Failed("refused"), Failed("it answers 503"), fine, fine, Failed("refused"), Failed("refused")):
        decided(decider, seen(work(11)), answer)
    begins = "policy 'remote': refused; the rules decide instead (after 3 failures in a row it isn't asked again)"
    assert decider.notes == [begins, "policy 'remote' answers again, and decides", begins]


def test_that_a_policy_isnt_asked_any_more_is_told_where_nobody_was_told_before_how_long_it_would_be():
    decider = Decider(Fallback(Remote("http://localhost/p"), breaker=12), EngineSettings())
    for _ in range(15):
        decided(decider, seen(work(11)), Failed("refused"))
    begins = "policy 'remote': refused; the rules decide instead"
    assert decider.notes == [begins, f"{begins}; it isn't asked any more"]


def test_it_is_told_too_after_more_outages_than_a_person_hears_of():
    decider = Decider(Remote("http://localhost/p"), EngineSettings())
    fine = Advice(({"action": "elide", "targets": list(ALL.targets)},))
    for _ in range(12):
        decided(decider, seen(work(11)), Failed("refused"))
        decided(decider, seen(work(11)), fine)
    for _ in range(5):
        decided(decider, seen(work(11)), Failed("refused"))
    assert [note.endswith("it isn't asked any more") for note in decider.notes] == [False] * 20 + [True]


def test_the_first_failure_may_be_the_last():
    decider = Decider(Fallback(Remote("http://localhost/p"), breaker=1), EngineSettings())
    for _ in range(3):
        decided(decider, seen(work(11)), Failed("refused"))
    assert decider.notes == ["policy 'remote': refused; the rules decide instead; it isn't asked any more"]


def test_a_field_that_no_action_has_is_told_once():
    decider = Decider(Fixed(({"action": "keep", "confidence": 0.9},)), EngineSettings())  # type: ignore[arg-type]
    for _ in range(3):
        assert decided(decider, seen(work(11))) == ([], [])
    (note,) = decider.notes
    assert note.startswith("policy 'fixed': an action has no field 'confidence', so it was passed over")


def test_a_dry_run_writes_what_it_would_do_to_the_log_and_changes_nothing():
    actions, asked = decided(Decider(DryRun(Fixed((ALL,))), EngineSettings()), seen(work(11)))
    assert actions == []
    (record,) = asked
    data = record.values[0].data
    assert (data["event"], data["author"]) == ("dry_run", "policy:dry-run:fixed")
    assert data["would"] == [{"action": "elide", "targets": list(ALL.targets)}]


def test_edits_summary_calls_and_their_time_are_counted_by_turn():
    decider = Decider(Rules(), EngineSettings())
    view = talk(8)
    decider.acted(outcome(view, 900), [ALL], author="policy:rules", step=8)
    written = outcome(view, 400, edit=Compact(targets=("a",), summary="s"), cost=EditCost(model_tokens=50, ms=120))
    decider.acted(written, [Action("compact")], author="policy:rules", step=8)
    decider.acted(outcome(view, 100), [ALL], author="recovery", step=8)
    counts = decider.counts
    assert (counts.turn, counts.steps, counts.batches, counts.edits) == (1, 8, 1, 2)
    assert (counts.ladder_batches, counts.ladder_edits) == (1, 1)
    assert (counts.summary_calls, counts.summary_ms, counts.gained) == (1, 120, 1_400)


def test_more_batches_than_half_the_steps_of_a_turn_are_thrash_and_the_policy_rests():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=2))
    for step in (1, 2, 3, 4):
        decider.acted(outcome(talk(step), 900), [ALL], author="policy:fixed", step=step)
    assert decider.counts.thrash
    assert decider.cooldown == 4
    assert "rests for 4 requests" in decider.notes[-1]
    assert decided(decider, seen(work(11), step=7))[0] == []
    assert decided(decider, seen(work(11), step=8))[0] == [ALL]
    assert decided(decider, seen(work(11), step=7, used=14_001))[0] == [ALL]


def test_thrash_doubles_the_rest_each_time_within_a_bound_and_calm_turns_end_it():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=2))
    for step in range(1, 12):
        decider.acted(outcome(talk(step), 900), [ALL], author="policy:fixed", step=step)
    assert decider.cooldown == 16
    for turns in (2, 3, 4, 5, 6):
        decider.acted(outcome(talk(11, turns=turns), 900), [ALL], author="policy:fixed", step=11 * turns)
    assert decider.cooldown == 2


def test_a_policy_whose_batches_gain_nothing_isnt_asked_until_the_request_has_grown():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=0))
    for step in (10, 20, 30):
        assert decided(decider, seen(work(11), step=step, used=11_000))[0] == [ALL]
        decider.acted(outcome(talk(40), 0), [ALL], author="policy:fixed", step=step)
    assert decided(decider, seen(work(11), step=40, used=11_000))[0] == []
    assert decided(decider, seen(work(11), step=41, used=11_700))[0] == []
    assert decided(decider, seen(work(11), step=42, used=11_900))[0] == [ALL]


def test_edits_that_wait_until_they_pay_are_no_failure():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=0))
    waiting = Outcome(View(), waiting=(Elide(targets=("t0",)),))
    for step in range(5):
        decider.acted(waiting, [ALL], author="policy:fixed", step=step)
    assert decided(decider, seen(work(11)))[0] == [ALL]


def test_after_going_back_what_was_done_later_holds_nothing_up():
    decider = Decider(Fixed((ALL,)), EngineSettings(cooldown=2))
    for step in (501, 502, 503, 504):
        decider.acted(outcome(talk(step), 900), [ALL], author="policy:fixed", step=step)
    assert decider.since(504) == {"elide": 0}
    assert decider.since(510) == {"elide": 6}
    assert decider.since(3) == {}
    decider.resting_until = 516
    assert decided(decider, seen(work(11), step=510, since=decider.since(510)))[0] == []
    assert decided(decider, seen(work(11), step=3, since=decider.since(3)))[0] == [ALL]
