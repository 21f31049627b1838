"""Which format a file has, and finding sessions in a folder."""

import json
from pathlib import Path

import pytest

from support.transcripts import CHAT, CODEX, SESSIONS, lines, packed
from trimtab.sessions.detect import FORMATS, detect, find_recordings, read_recording, read_recordings
from trimtab.sessions.source import ImportFailed


@pytest.mark.parametrize("kind", SESSIONS)
def test_a_session_is_known_by_its_content_plain_or_packed(kind: str) -> None:
    format, data = SESSIONS[kind]
    assert [found.name if found else None for found in (detect(data), detect(packed(data)))] == [format, format]
    assert read_recordings(data) == read_recordings(packed(data)) == read_recordings(data, format)


def test_every_format_has_a_session_here() -> None:
    assert {format for format, _ in SESSIONS.values()} == set(FORMATS)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00\x01\x02",
        b"# aider chat started at 2026-04-01",
        b'{"name": "package", "version": "1.0.0"}',
        b'[{"id": 1}, {"id": 2}]',
        b"[]",
        b"{}",
        b"null",
        b'{"type": "user.message", "data": {"content": "hi"}}\n{"type": "session.start", "data": {}}\n',
        b'{"uuid": "1", "sessionId": "s", "type": "user", "message": {"role": "user", "parts": [{"text": "hi"}]}}\n',
        b'{"role": "user", "message": {"content": [{"type": "text", "text": "hi"}]}}\n',
    ],
    ids=["nothing", "bytes", "prose", "object", "rows", "list", "empty", "null", "events", "other tree", "other chat"],
)
def test_other_files_are_no_sessions(data: bytes) -> None:
    assert detect(data) is None
    with pytest.raises(ImportFailed, match="no session of a known agent" if data.strip() else "is empty"):
        read_recording(data)


def test_a_folder_gives_its_sessions_and_passes_everything_else_over(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "a" / "b" / "rollout.jsonl.gz").write_bytes(packed(CODEX))
    (tmp_path / "chat.json").write_bytes(json.dumps(CHAT).encode())
    (tmp_path / "package.json").write_bytes(b'{"name": "x"}')
    (tmp_path / "notes.md").write_bytes(CODEX)
    (tmp_path / "node_modules" / "x.jsonl").write_bytes(CODEX)
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    found = find_recordings(tmp_path)
    assert found == [tmp_path / "chat.json", tmp_path / "a" / "b" / "rollout.jsonl.gz"]
    assert [read_recording(path).file for path in found] == [str(path) for path in found]


def test_an_error_says_what_where_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed) as failure:
        read_recording(tmp_path / "none.jsonl")
    assert "none.jsonl" in failure.value.message
    assert failure.value.hint == "give the path of a session file or folder"
    with pytest.raises(ImportFailed) as failure:
        read_recording(CODEX, "cobol")
    assert failure.value.message == "no session format is called 'cobol'"
    assert "claude-code" in failure.value.hint
    with pytest.raises(ImportFailed, match="'some file' holds no message that can be read as Codex CLI"):
        read_recording(b"{}\n", "codex", name="some file")


def test_several_sessions_are_no_single_one() -> None:
    data = json.dumps([{"traj": CHAT}, {"traj": CHAT}]).encode()
    with pytest.raises(ImportFailed, match="holds 2 sessions"):
        read_recording(data)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match="can't read"):
        read_recordings(tmp_path)


def test_a_long_first_line_does_not_hide_a_session() -> None:
    first = json.loads(CODEX.splitlines()[0])
    first["payload"]["base_instructions"]["text"] = "long " * 100_000
    data = lines(first) + CODEX.split(b"\n", 1)[1]
    assert read_recording(data).format == "codex"
