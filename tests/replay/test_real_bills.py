"""What a replay takes for keeping everything, held against what real sessions were charged. Skipped where there are none (`TRIMTAB_DATA`)."""

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from trimtab.context.economics.cold import is_break
from trimtab.context.policies.registry import find_policy
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Answered, Compacted, Recording
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.sessions.replay.run import Plan, prepare, replay
from trimtab.types.models import cost_usd

pytestmark = pytest.mark.slow

_DATA = os.environ.get("TRIMTAB_DATA", "")
_MOST = 10
"""Sessions that are replayed."""


def _sessions(data: Path) -> list[Recording]:
    """Sessions that wrote to the cache for an hour, reported every call and were never compacted."""
    rows = [json.loads(row) for row in (data / "sessions" / "index.jsonl").read_text().splitlines()]
    names = [r["file"] for r in rows if r["kind"] == "cc" and r["split"] == "eval" and r["api_calls"] >= 30]
    found: list[Recording] = []
    for name in names:
        (recording,) = read_recordings(data / "sessions" / name)
        usages = [e.message.usage for e in recording.events if isinstance(e, Answered)]
        whole = all(u is not None and u.prompt for u in usages)
        compacted = any(isinstance(event, Compacted) for event in recording.events)
        if whole and not compacted and any(u is not None and u.cache_write_1h for u in usages):
            found.append(recording)
        if len(found) == _MOST:
            break
    return found


def test_calls_whose_cache_held_cost_what_was_reported_to_a_twentieth() -> None:
    if not Path(_DATA, "sessions", "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    predicted = reported = 0.0
    for recording in _sessions(Path(_DATA)):
        model = model_of(recording, Terms(window=1_000_000))
        run = replay(prepare(recording), Plan(find_policy("none"), model))
        before = 0
        usages = [e.message.usage for e in recording.events if isinstance(e, Answered) and e.message.usage]
        for number, (usage, step) in enumerate(zip(usages, run.steps, strict=True)):
            if number and not is_break(before, usage.cache_read):
                reported += cost_usd(changed(usage, output=0), model.prices) or 0.0
                predicted += cost_usd(changed(step.paid[0], output=0), model.prices) or 0.0
            before = usage.prompt
    assert predicted == pytest.approx(reported, rel=0.05)
