"""Recorded sessions of real agents: the splits hold, and no fact of a decision uses the future.

`TRIMTAB_DATA` names a folder with `sessions/index.jsonl`.
"""

import os
from pathlib import Path

import pytest

from trimtab.lab.corpora.facts import EVERY, leaks
from trimtab.lab.corpora.splits import by_split, leave_one_project_out, prove_apart, read_index
from trimtab.lab.corpora.trajectory import Place
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Answered

pytestmark = pytest.mark.slow

_DATA = os.environ.get("TRIMTAB_DATA", "")
_AUDITED = 30
"""Decisions; each reads its session up to there anew."""


@pytest.fixture(scope="module")
def folder() -> Path:
    """The folder of real sessions."""
    if not _DATA or not Path(_DATA, "sessions", "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    return Path(_DATA, "sessions")


@pytest.fixture(scope="module")
def places(folder: Path) -> tuple[Place, ...]:
    """All of them."""
    return read_index(folder / "index.jsonl")


def test_no_family_crosses_a_split_or_a_project(places: tuple[Place, ...]) -> None:
    prove_apart(by_split(places))
    assert len(list(leave_one_project_out(places))) > 1


def test_facts_of_real_decisions_are_the_same_on_a_recording_that_ends_there(
    folder: Path, places: tuple[Place, ...]
) -> None:
    looked = 0
    for place in places:
        for recording in read_recordings(folder / place.name):
            answers = sum(isinstance(event, Answered) for event in recording.events)
            steps = list(range(EVERY, answers + 1, EVERY))[: _AUDITED - looked]
            assert list(leaks(recording, steps)) == []
            looked += len(steps)
        if looked == _AUDITED:
            return
    pytest.fail(f"only {looked} decisions were found")
