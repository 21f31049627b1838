"""Facts can't know what comes later, and the audit finds those that do."""

from hypothesis import given
from hypothesis import strategies as st

from support.worked_sessions import idle, sessions, worked
from trimtab.lab.corpora.facts import Facts, candidates, facts_at, leaks
from trimtab.lab.corpora.trajectory import Place, Trajectory, trajectory_of

USED_LATER = worked(["Bash show | * parse_header", *idle(12), "Bash grep parse_header | none"])


def with_future_uses(trajectory: Trajectory, step: int) -> list[Facts]:
    """Counts the uses of the whole session."""
    uses = {need.result for need in trajectory.needs}
    return [
        Facts(one.number, one.size, 0, int(one.number in uses), 0, 0, 0, 0, "other", error=False)
        for one in candidates(trajectory.until(step), step)
    ]


def with_future_readings(trajectory: Trajectory, step: int) -> list[Facts]:
    """Looks for candidates in the whole session, so that a later reading of a file hides the one that there is."""
    return [Facts(one.number, one.size, 0, 0, 0, 0, 0, 0, "other", error=False) for one in candidates(trajectory, step)]


def test_counting_uses_of_the_whole_session_is_found():
    assert [leak.step for leak in leaks(USED_LATER, range(15), extract=with_future_uses)] == [11, 12, 13]


def test_a_candidate_that_a_later_reading_hides_is_found():
    read_again = worked(["Read a.py | *", *idle(12), "Read a.py | *"])
    assert [leak.step for leak in leaks(read_again, range(15), extract=with_future_readings)] == [11, 12, 13]


def test_the_facts_of_a_decision_use_nothing_of_what_follows_it():
    assert list(leaks(USED_LATER, range(15))) == []
    known = facts_at(trajectory_of(USED_LATER, Place(name="s")), 13)
    assert [one.uses for one in known] == [0]


@given(sessions(least=24), st.integers(10, 24))
def test_facts_are_the_same_whatever_follows(recording, step):
    assert list(leaks(recording, [step])) == []
