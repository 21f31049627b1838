"""Large bodies: files named by their content."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sessions import ask, now, reopened
from trimtab.context.stores.bodies import HEAD, Bodies, MemoryBodies, address_of, inflate, is_address, spill
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import StoreError
from trimtab.types.messages import Assistant, Image, Text, ToolCall, ToolResult, User

BIG = "größer\n" * 20_000


def test_a_large_text_leaves_a_head_in_the_line_and_comes_back_whole(tmp_path: Path):
    bodies = Bodies(tmp_path / "bodies")
    message = ToolResult("a", "bash", (Text(BIG), Text("small")), is_error=False)
    short = spill(message, bodies)
    address = address_of(BIG.encode())
    assert short.parts == (Text(BIG[:HEAD], body=address), Text("small"))
    assert [p.name for p in bodies.folder.iterdir()] == [address]
    assert (inflate(short, bodies), spill(short, bodies)) == (message, short)


def test_pictures_and_arguments_are_put_away_too(tmp_path: Path):
    bodies = Bodies(tmp_path)
    call = ToolCall("a", "write", {"path": "x", "content": BIG}, '{"path": "x", "content": …}')
    message = Assistant((call, Image("image/png", "QUJD" * 30_000, name="a.png")), stop_reason="tool_use")
    short = spill(message, bodies)
    assert [(p.body is not None) for p in short.parts] == [True, True]
    assert inflate(short, bodies) == message


def test_small_messages_are_the_same_object(tmp_path: Path):
    message = Assistant((Text("x"), ToolCall("a", "read", {"path": "x"}, '{"path":"x"}')), stop_reason="tool_use")
    assert spill(message, Bodies(tmp_path)) is message
    assert inflate(message, Bodies(tmp_path)) is message


def test_one_content_is_one_file(tmp_path: Path):
    bodies = Bodies(tmp_path)
    assert bodies.put(b"x" * 9) == bodies.put(b"x" * 9)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("damage", ["missing", "changed", "cut"])
def test_a_missing_or_damaged_body_is_described_in_its_place(tmp_path: Path, damage: str):
    bodies = Bodies(tmp_path)
    parts = (
        Text(BIG),
        Image("image/png", "QUJD" * 30_000, name="a.png"),
        ToolCall("a", "write", {"content": BIG}, BIG),
    )
    short = spill(Assistant(parts, stop_reason="tool_use"), bodies)
    for path in tmp_path.iterdir():
        match damage:
            case "missing":
                path.unlink()
            case "changed":
                path.write_bytes(b"other" + path.read_bytes()[5:])
            case _:
                path.write_bytes(path.read_bytes()[:100])
    text, picture, call = inflate(short, bodies).parts
    assert isinstance(text, Text)
    assert text.text.startswith(BIG[:HEAD])
    assert "missing or damaged" in text.text
    assert isinstance(picture, Text)
    assert "a.png" in picture.text
    assert isinstance(call, ToolCall)
    assert (call.id, list(call.arguments or {})) == ("a", ["lost"])


def test_a_damaged_body_is_written_again(tmp_path: Path):
    bodies = Bodies(tmp_path)
    address = bodies.put(b"content")
    (tmp_path / address).write_bytes(b"garbage")
    assert bodies.get(address) is None
    bodies.put(b"content")
    assert bodies.get(address) == b"content"


def test_an_address_never_leads_out_of_the_folder(tmp_path: Path):
    (tmp_path / "secret").write_text("x")
    bodies = Bodies(tmp_path / "bodies")
    assert bodies.get("../secret") is None
    assert not is_address("sha256-" + "../" * 21 + "x")
    message = User((Text("head", body="../secret"),))
    assert "missing or damaged" in str(inflate(message, bodies).parts)


def test_the_body_is_durable_before_the_line_that_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)
    synced: list[int] = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_ino), real(fd))[1])
    log.append_messages([ask(BIG)])
    log.close()
    folder = tmp_path / "s.jsonl.bodies"
    body = folder / address_of(BIG.encode())
    assert synced == [path.stat().st_ino for path in (body, folder, tmp_path / "s.jsonl")]
    assert (tmp_path / "s.jsonl").stat().st_size < 5_000
    assert reopened(tmp_path / "s.jsonl").view() == log.view() == (ask(BIG),)


def test_a_disk_that_refuses_a_body_fails_the_append_and_leaves_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log = SessionLog.create(tmp_path / "s.jsonl", "/proj", now=now)

    def refuse(fd: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(StoreError, match="No space"):
            log.append_messages([ask(BIG)])
    assert list((tmp_path / "s.jsonl.bodies").iterdir()) == []
    log.append_messages([ask(BIG)])
    log.close()
    assert reopened(tmp_path / "s.jsonl").view() == (ask(BIG),)


@given(
    st.lists(st.text(max_size=60), max_size=4), st.dictionaries(st.text(max_size=5), st.text(max_size=40), max_size=2)
)
def test_spilling_and_inflating_give_the_message_back(texts, arguments):
    bodies = MemoryBodies()
    message = Assistant((*map(Text, texts), ToolCall("a", "t", arguments, "raw")), stop_reason="stop")
    assert inflate(spill(message, bodies, limit=20), bodies) == message
