"""The cache of trajectories."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.worked_sessions import sessions
from trimtab.lab.corpora.cache import TrajectoryCache, code_version, decode, encode
from trimtab.lab.corpora.trajectory import Place, trajectory_of
from trimtab.sessions.source import ImportFailed

PLACE = Place(name="s.jsonl", project="p", family="1", split="train")
TALK = [
    {"role": "user", "content": "go"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path":"a.py"}'}}],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "def parse_header"},
    {"role": "assistant", "content": "done"},
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session file."""
    path = tmp_path / "s.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, TALK)).encode()))
    return path


@pytest.fixture
def cache(tmp_path: Path) -> TrajectoryCache:
    """An empty cache."""
    return TrajectoryCache(tmp_path / "cache", version="1")


def kept(cache: TrajectoryCache) -> list[Path]:
    return sorted(cache.folder.iterdir())


@given(sessions())
def test_trajectories_survive_the_codec(recording):
    found = (trajectory_of(recording, PLACE),)
    assert decode(encode(found)) == found


@given(st.data())
def test_a_byte_that_changed_is_noticed(data):
    whole = bytearray(encode(()))
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(ValueError, match="it isn't what was written"):
        decode(bytes(whole))


def test_what_was_read_once_is_the_same_the_second_time_and_kept_once(cache, session):
    first = cache.trajectories(session, PLACE)
    assert [result.size for result in first[0].results] == [16]
    (file,) = kept(cache)
    before = file.stat().st_mtime_ns
    assert cache.trajectories(session, PLACE) == first
    assert [(file.stat().st_mtime_ns, cache.notes)] == [(before, [])]


def test_what_stands_in_the_cache_is_not_read_again(cache, session):
    cache.trajectories(session, PLACE)
    (file,) = kept(cache)
    file.write_bytes(encode(()))
    assert cache.trajectories(session, PLACE) == ()


@pytest.mark.parametrize("change", ["file", "place", "version"])
def test_another_file_place_or_version_of_the_code_has_its_own_entry(cache, session, change):
    cache.trajectories(session, PLACE)
    place = PLACE
    if change == "file":
        session.write_bytes(gzip.compress("\n".join(map(json.dumps, [*TALK, TALK[0]])).encode()))
    elif change == "place":
        place = Place(name="s.jsonl", project="p", family="2", split="train")
    else:
        cache.version = "2"
    (found,) = cache.trajectories(session, place)
    assert (found.place, len(kept(cache))) == (place, 2)


@pytest.mark.parametrize("damage", [b"", b"short", b"\0" * 100])
def test_a_damaged_entry_is_made_anew_and_that_is_noted(cache, session, damage):
    first = cache.trajectories(session, PLACE)
    (file,) = kept(cache)
    good = file.read_bytes()
    file.write_bytes(damage)
    assert cache.trajectories(session, PLACE) == first
    assert [file.read_bytes(), *cache.notes] == [
        good,
        f"{file.name} was damaged and is made anew: it isn't what was written",
    ]


def test_an_entry_appears_whole_or_not_at_all(cache, session, monkeypatch):
    def torn(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr("trimtab.lab.corpora.cache.os.replace", torn)
    with pytest.raises(OSError, match="no space"):
        cache.trajectories(session, PLACE)
    assert kept(cache) == []


def test_a_file_that_is_not_there_is_named(cache, tmp_path):
    with pytest.raises(ImportFailed, match="can't read"):
        cache.trajectories(tmp_path / "none.jsonl", PLACE)


def test_the_version_of_the_code_is_a_short_name_that_stays():
    assert re.fullmatch("[0-9a-f]{16}", code_version())
    assert code_version() == code_version()
