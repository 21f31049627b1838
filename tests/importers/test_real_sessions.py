"""Real sessions of other agents, where somebody has them: what is read is what an index of them counted.

`TRIMTAB_DATA` names a folder with `sessions/index.jsonl`, a line per file: what it is, and how much of what it holds.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from trimtab.context.window.pairs import pair
from trimtab.sessions.chain import messages
from trimtab.sessions.detect import find_recordings, read_recording, read_recordings
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.codec import decode_message, encode_message
from trimtab.types.messages import ToolResult

pytestmark = pytest.mark.slow

_DATA = os.environ.get("TRIMTAB_DATA", "")
_FORMATS = {"cc": "claude-code", "codex": "codex", "gemini": "gemini"}
_COUNTED = ("api_calls", "tool_calls", "results", "compactions", "max_context", "orphan_calls", "orphan_results")


@pytest.fixture(scope="module")
def data() -> Path:
    """The folder of real sessions."""
    if not _DATA or not Path(_DATA, "sessions", "index.jsonl").is_file():
        pytest.skip("no real sessions: TRIMTAB_DATA names no folder that has sessions/index.jsonl")
    return Path(_DATA)


def _counts(recording: Recording) -> dict[str, int]:
    answers = [event for event in recording.events if isinstance(event, Answered)]
    repairs = pair(messages(recording))[1]
    return {
        "api_calls": len(answers),
        "tool_calls": sum(len(answer.message.tool_calls) for answer in answers),
        "results": sum(isinstance(e, Came) and isinstance(e.message, ToolResult) for e in recording.events),
        "compactions": sum(isinstance(event, Compacted) for event in recording.events),
        "max_context": max((a.message.usage.prompt for a in answers if a.message.usage is not None), default=0),
        "orphan_calls": len(repairs.interrupted),
        "orphan_results": len(repairs.orphans) + len(repairs.duplicates),
    }


def test_counts_are_those_of_the_index(data: Path) -> None:
    """The index counts whole files. What a rewind or a fresh start left behind is no part of a recording, so there it may count more.

    A file that several lines of the index name holds the session of only one of them.
    """
    rows: list[dict[str, Any]] = [
        json.loads(row) for row in (data / "sessions" / "index.jsonl").read_text().splitlines()
    ]
    named = Counter(row["file"] for row in rows)
    wrong: dict[str, dict[str, tuple[int, int]]] = {}
    for row in rows:
        if named[row["file"]] > 1:
            continue
        recording = read_recording(data / "sessions" / row["file"])
        assert recording.format == _FORMATS[row["kind"]]
        found = _counts(recording)
        rewound = any("abandoned branches" in note for note in recording.notes)
        differs = {
            name: (found[name], row[name] or 0)
            for name in _COUNTED
            if (found[name] > (row[name] or 0) if rewound else found[name] != (row[name] or 0))
        }
        if differs:
            wrong[row["file"]] = differs
    assert wrong == {}


def test_every_message_of_every_file_survives_the_codec(data: Path) -> None:
    paths = find_recordings(data)
    assert len(paths) > 200
    for path in paths:
        for recording in read_recordings(path):
            for message in messages(recording):
                assert decode_message(encode_message(message)) == message
