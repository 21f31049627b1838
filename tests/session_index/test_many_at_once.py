"""Many runs at once in one folder: each is in the list, none is damaged, and what was said in each is found."""

import json
from pathlib import Path

import pytest

from support.cli import Cli, finish

RUNS = 12


@pytest.mark.slow
def test_twelve_runs_at_once_are_all_listed_sound_and_found(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    scripts = [cli.script({"text": f"answer number-{n}-of-twelve"}) for n in range(RUNS)]
    started = [cli.start("-p", f"question {n}", "--model", script) for n, script in enumerate(scripts)]
    assert [finish(process).code for process in started] == [0] * RUNS
    assert len(json.loads(cli.inside("sessions", "list", "--json").out)) == RUNS
    doctor = json.loads(cli.inside("sessions", "doctor", "--json").out)
    assert (doctor["checked"], doctor["damaged"], doctor["errors"]) == (RUNS, [], [])
    for n in range(RUNS):
        found = json.loads(cli.inside("sessions", "search", f"number-{n}-of-twelve", "--json").out)
        assert len(found["hits"]) == 1, (n, found)
