"""Alarms over logs of decisions: each rings for what it is about, and for nothing else."""

from trimtab.lab.rewards.collapse import (
    Alarm,
    Decision,
    EpisodeLog,
    Wanted,
    alarms,
    delete_all_alarm,
    flat_alarm,
    keep_alarm,
    log_of,
    loop_alarm,
    thrash_alarm,
)
from trimtab.lab.rewards.outcome import ActionTaken, Outcome, StepOutcome

KEEP = Wanted("keep")


def episode(*decisions: tuple[Wanted, ...], name: str = "e", eligible: int | None = 10, steps: int = 0) -> EpisodeLog:
    made = tuple(Decision(step, actions, eligible) for step, actions in enumerate(decisions, 1))
    return EpisodeLog(name, steps or len(decisions), made)


def elide(*targets: str) -> Wanted:
    return Wanted("elide", targets)


def reload(*targets: str) -> Wanted:
    return Wanted("reload", targets)


def test_keeping_nearly_always_is_an_alarm():
    log = episode(*[()] * 50, *[(KEEP,)] * 49, (elide("a"),))
    assert keep_alarm([log]) == Alarm("keep", 0.99, 0.95)


def test_nineteen_of_twenty_is_not_more_than_95_percent():
    assert keep_alarm([episode(*[()] * 19, (elide("a"),))]) is None


def test_keeping_where_nothing_could_be_hidden_says_nothing():
    assert keep_alarm([episode(*[()] * 50, eligible=0), episode((elide("a"),))]) is None
    assert keep_alarm([]) is None


def test_an_efficiency_share_that_does_not_move_is_an_alarm():
    alarm = flat_alarm([0.1, 0.3, 0.302, 0.301, 0.3, 0.299])
    assert (alarm.kind, round(alarm.figure, 6)) == ("flat", 0.003)


def test_a_share_that_moves_or_is_young_is_none():
    assert flat_alarm([0.3, 0.3, 0.3, 0.3, 0.32]) is None
    assert flat_alarm([0.3, 0.3, 0.3, 0.3]) is None
    assert flat_alarm([]) is None


def test_hiding_nearly_all_of_what_can_be_hidden_is_an_alarm():
    bad = episode((elide(*"abcdefghij"),), (), name="bad")
    assert delete_all_alarm([bad, episode((elide("a"),), eligible=1)]) == Alarm("delete-all", 1.0, 0.9, ("bad",))


def test_decisions_that_hide_a_part_or_only_one_thing_are_none():
    assert delete_all_alarm([episode((elide(*"abcde"),))]) is None
    assert delete_all_alarm([episode((elide("a"),), eligible=1)]) is None
    assert delete_all_alarm([episode((elide(*"abcdefghij"),), eligible=None)]) is None


def test_the_same_target_named_twice_is_one_thing():
    twice = episode((elide("a", "b"), Wanted("fold", ("a", "b"))), eligible=4)
    assert delete_all_alarm([twice]) is None


def test_editing_before_most_requests_is_an_alarm():
    busy = episode(*[(elide("a"),), (reload("a"),), ()], name="busy")
    calm = episode((elide("a"),), (), ())
    assert thrash_alarm([busy, calm]) == Alarm("thrash", 0.5, 0.1, ("busy",))
    assert thrash_alarm([calm]) is None


def test_requests_without_a_decision_count_as_calm():
    assert thrash_alarm([episode((elide("a"),), (elide("b"),), steps=4)]) is None


def test_few_episodes_that_thrash_are_tolerated():
    calm = [episode((), (), name=str(n)) for n in range(9)]
    assert thrash_alarm([*calm, episode((elide("a"),), (elide("b"),))]) is None


def test_hiding_and_bringing_back_the_same_thing_again_is_an_alarm():
    loops = episode((elide("a"),), (reload("a"), elide("a", "b")), (reload("a"),), name="loops")
    assert loop_alarm([loops]) == Alarm("loops", 1.0, 0.05, ("loops",))


def test_one_change_of_mind_each_is_no_loop():
    assert loop_alarm([episode((elide("a", "b"),), (reload("a"),), (reload("b"),))]) is None


def test_bringing_back_what_was_not_hidden_is_no_round():
    assert loop_alarm([episode((elide("a"),), (reload("a"),), (reload("a"),), (reload("a"),))]) is None


def test_an_alarm_names_five_episodes_at_most():
    logs = [episode((elide("a"),), name=str(n)) for n in range(8)]
    assert str(thrash_alarm(logs)) == "thrash: 1.000, limit 0.100 (0, 1, 2, 3, 4)"


def test_all_alarms_that_ring_are_told_together():
    log = episode(*[()] * 40)
    assert [alarm.kind for alarm in alarms([log], [0.2] * 5)] == ["keep", "flat"]
    calm = episode((elide("a"),), (), ())
    assert alarms([calm], [0.2, 0.25, 0.3, 0.35, 0.4]) == ()


def test_a_log_has_a_decision_for_each_question_without_what_the_ladder_did():
    steps = (
        StepOutcome(1, (ActionTaken("a", "elide", ("x",)), ActionTaken("b", "compact", ("y",), forced=True))),
        StepOutcome(2, (ActionTaken("c", "compact", ("z",), forced=True),)),
        StepOutcome(3, asked=False),
        StepOutcome(4),
    )
    log = log_of(Outcome("t", 0, "r", "T0", steps), "one", eligible={1: 5, 4: 0})
    assert log == EpisodeLog(
        "one", 4, (Decision(1, (Wanted("elide", ("x",)),), 5), Decision(2), Decision(4, eligible=0))
    )
