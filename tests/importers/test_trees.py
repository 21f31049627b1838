"""pi, tau and our own sessions: trees of entries."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.transcripts import PI, PI_TREE, TAU, TRIMTAB, lines, story
from trimtab.sessions.detect import read_recording
from trimtab.sessions.recorded import Answered, Came, Compacted
from trimtab.types.messages import ToolResult

_STORY = [
    "user: fix greet",
    'answer:  read[p1]({"path":"greet.py"})',
    "result p1: def greet(): pass",
    "answer: ",
    "user: $ ls\ngreet.py\n[exit code 1]",
    "compacted: We fixed greet.",
    "user: thanks",
    "answer: welcome",
]


@pytest.mark.parametrize("data", [PI, PI_TREE, TAU], ids=["pi, a list", "pi, a tree", "tau"])
def test_pi_and_tau_tell_the_same_story(data: bytes) -> None:
    recording = read_recording(data)
    assert story(recording) == _STORY
    assert (recording.model, recording.provider, recording.cwd) == ("claude-x", "anthropic", "/p")
    assert [e.before_tokens for e in recording.events if isinstance(e, Compacted)] == [175_004]


def test_an_aborted_call_without_tokens_has_no_usage() -> None:
    aborted = [e.message for e in read_recording(PI).events if isinstance(e, Answered)][1]
    assert (aborted.stop_reason, aborted.usage) == ("cancelled", None)


def _entry(entry_id: str, parent: str | None, text: str) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    time = "2026-04-01T10:00:00.000Z"
    return {"type": "message", "id": entry_id, "parentId": parent, "timestamp": time, "message": message}


def test_the_chain_is_that_of_the_last_entry_and_a_lost_parent_is_the_entry_before() -> None:
    data = lines(
        {"type": "session", "id": "p", "timestamp": "2026-04-01T10:00:00.000Z", "cwd": "/p"},
        _entry("a", None, "one"),
        _entry("b", "a", "lost"),
        _entry("c", "a", "two"),
        _entry("d", "nowhere", "three"),
    )
    recording = read_recording(data)
    assert story(recording) == ["user: one", "user: two", "user: three"]
    assert recording.notes == ("left out: 1 entry of abandoned branches",)


def test_messages_of_extensions_and_summaries_of_branches_are_injected() -> None:
    time = {"timestamp": "2026-04-01T10:00:00.000Z"}
    data = lines(
        {"type": "session", "id": "p", "cwd": "/p", **time},
        {"type": "custom_message", "customType": "x", "content": "from an extension", "display": True, **time},
        {"type": "branch_summary", "summary": "tried the other way", **time},
        {"type": "message", "message": {"role": "bashExecution", "command": "ls", "excludeFromContext": True}, **time},
    )
    recording = read_recording(data)
    assert story(recording) == ["injected: from an extension", "injected: tried the other way"]
    assert recording.notes == ("left out: 1 bashExecution message",)


def _ours(*entries: dict[str, Any]) -> bytes:
    head: dict[str, Any] = json.loads(TRIMTAB.splitlines()[0])
    time = {"time": "2026-04-01T10:00:01.000Z"}
    return lines(
        head, *({"parent": f"e{n - 1}" if n else None, "id": f"e{n}", **time, **e} for n, e in enumerate(entries))
    )


def _words(text: str) -> dict[str, Any]:
    return {"type": "message", "message": {"role": "user", "parts": [{"type": "text", "text": text}]}}


def _compact(summary: str) -> dict[str, Any]:
    edit = {"kind": "compact", "targets": ["e0"], "summary": summary}
    return {"type": "edit", "edit": edit, "author": "policy:rules", "before_tokens": 900}


def test_our_own_session_is_the_path_of_its_leaf() -> None:
    data = _ours(_words("one"), _words("lost"), {"type": "leaf", "target": "e0"}, {**_words("two"), "parent": "e0"})
    recording = read_recording(data)
    assert story(recording) == ["user: one", "user: two"]
    assert (recording.id, recording.cwd, recording.notes) == ("t", "/p", ("left out: 2 entries of other branches",))


def test_a_compaction_of_ours_counts_unless_it_was_reverted() -> None:
    data = _ours(
        _words("one"),
        _compact("kept"),
        _compact("taken back"),
        {"type": "revert", "target": "e2"},
        _compact("back again"),
        {"type": "revert", "target": "e4"},
        {"type": "revert", "target": "e5"},
    )
    recording = read_recording(data)
    assert story(recording) == ["user: one", "compacted: kept", "compacted: back again"]
    mark = recording.events[1]
    assert isinstance(mark, Compacted)
    assert (mark.before_tokens, mark.trigger) == (900, "policy:rules")


def test_bodies_beside_our_file_are_read_with_it(tmp_path: Path) -> None:
    from trimtab.context.stores.bodies import Bodies

    bodies = Bodies(tmp_path / "s.jsonl.bodies")
    address = bodies.put(b"the whole text")
    part = {"type": "text", "text": "the wh", "body": address}
    message = {"role": "tool", "call_id": "c", "tool_name": "read", "is_error": False, "parts": [part]}
    path = tmp_path / "s.jsonl"
    path.write_bytes(_ours({"type": "message", "message": message}))
    (event,) = read_recording(path).events
    assert isinstance(event, Came)
    assert isinstance(event.message, ToolResult)
    assert event.message.text == "the whole text"
