"""What a trajectory says of a recording."""

from hypothesis import given
from hypothesis import strategies as st

from support.worked_sessions import idle, sessions, worked
from trimtab.lab.corpora.trajectory import Asked, Need, Place, Request, Result, Trajectory, blinded, trajectory_of
from trimtab.sessions.replay.needs import needs_of
from trimtab.sessions.replay.steps import steps_of

PLACE = Place(name="s.jsonl", project="p", family="f", split="train")


def trajectory(*lines: str) -> Trajectory:
    return trajectory_of(worked(lines), PLACE)


def needs(*lines: str) -> tuple[Need, ...]:
    return trajectory(*lines).needs


def test_a_session_becomes_requests_results_and_needs():
    read = Asked("c1", "Read", "file:lib.py#{}", "lib.py", reads=True)
    grep = Asked("c2", "Bash", 'call:bash({"command": "grep parse_header"})')
    assert trajectory("Read lib.py | def parse_header", "Bash grep parse_header | none") == Trajectory(
        place=PLACE,
        model="claude-opus-4-5",
        steps=(Request(1, (read,), said=2), Request(2, (grep,)), Request(3)),
        results=(
            Result(2, 1, "c1", "Read", 16, novel=1, call=read),
            Result(4, 2, "c2", "Bash", 4, call=grep),
        ),
        needs=(Need(2, 2, 1, ("parse_header",), (-1,)),),
    )


def test_a_use_of_what_was_shown_again_shortly_before_is_a_need_that_was_re_exposed():
    found = needs("Read a.py | parse_header", "Bash cat | parse_header", "Bash grep parse_header | none")
    assert [(n.result, n.step, n.shown, n.fresh(), n.reexposed) for n in found] == [(2, 3, (2,), (), True)]


def test_what_was_shown_again_more_than_ten_requests_ago_is_fresh():
    found = needs("Read a.py | parse_header", "Bash cat | parse_header", *idle(10), "Bash grep parse_header | none")
    assert [(n.shown, n.fresh(), n.reexposed) for n in found] == [((2,), ("parse_header",), False)]


def test_what_was_shown_since_a_request_is_not_fresh_since_then():
    (found,) = needs("Read a.py | parse_header", "Bash cat | parse_header", *idle(10), "Bash grep parse_header | none")
    assert (found.fresh(since=1), found.fresh(since=2)) == ((), ("parse_header",))


def test_one_string_is_a_weak_need_and_three_are_a_strong_one():
    weak, strong = needs(
        "Read a.py | parse_header parse_footer parse_middle",
        "Bash grep parse_header | none",
        *idle(11),
        "Bash grep parse_header parse_footer parse_middle | none",
    )
    assert (weak.strength, strong.strength) == ("weak", "strong")


def test_reading_a_file_again_needs_the_newest_reading_of_it_strongly_when_that_is_ten_calls_ago():
    found = needs("Read a.py | x", "Read a.py | x", *idle(9), "Read a.py | x")
    assert [(n.result, n.step, n.gap, n.reread, n.strength) for n in found] == [
        (2, 2, 1, True, "weak"),
        (4, 12, 10, True, "strong"),
    ]


def test_changing_a_file_is_no_reading_of_it():
    assert needs("Read a.py | x", *idle(10), "Edit a.py | done") == ()


@given(sessions())
def test_needs_that_were_not_re_exposed_are_those_that_a_replay_counts(recording):
    counted = {(n.result, n.step, n.strings) for found in needs_of(steps_of(recording.events)).values() for n in found}
    found = trajectory_of(recording, PLACE).needs
    assert {(n.result, n.step, n.fresh()) for n in found if n.fresh()} == counted


@given(sessions(), st.integers(0, 40))
def test_what_was_known_at_a_request_does_not_change_with_what_came_later(recording, step):
    cut = trajectory_of(blinded(recording, step), PLACE)
    assert trajectory_of(recording, PLACE).until(step) == cut.until(step)


@given(sessions())
def test_the_same_recording_always_gives_the_same_trajectory(recording):
    assert trajectory_of(recording, PLACE) == trajectory_of(recording, PLACE)
