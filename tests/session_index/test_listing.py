"""A list from the index is the list that reading every file gives."""

import os
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from session_index.conftest import Said
from support.sessions import line, now
from trimtab.context.stores.folder import SessionFolder
from trimtab.sessions.index import index as index_module
from trimtab.sessions.index.index import SessionIndex
from trimtab.types.messages import Assistant, Text
from trimtab.types.usage import Usage

KEY = "sk-" + "a1b2" * 8
ANSWER = Assistant((Text("ok"),), stop_reason="stop", usage=Usage(10, 5, cache_read=100), provider="p", model="m")


def test_a_list_from_the_index_is_what_reading_each_file_gives(home: SessionFolder, index: SessionIndex, said: Said):
    said("one", ANSWER, "two", ANSWER, title="A title")
    said("日本語で", ANSWER, cwd="/other")
    said()
    (home.folder_of("/proj") / "T_noise0.jsonl").write_bytes(b"\xff\0{{{")
    for cwd in ("/proj", "/other", "/nowhere", None):
        for _ in range(2):
            assert index.listing(cwd) == home.listing(cwd)
    assert len(index.listing().notes) == 1


def test_a_file_that_has_not_changed_is_not_read_again(index: SessionIndex, said: Said, monkeypatch):
    paths = [said("one"), said("two")]
    before = index.listing()
    read = []
    monkeypatch.setattr("trimtab.sessions.index.refresh.SessionFile.read", lambda path: read.append(path))
    assert (index.listing(), read) == (before, [])
    monkeypatch.undo()
    with paths[0].open("ab") as file:
        file.write(line("x", None, "three") + b"\n")
    assert [(s.path, s.entries) for s in index.listing().sessions] == [(paths[0], 2), (paths[1], 1)]


def test_what_is_deleted_or_moved_drops_out(home: SessionFolder, index: SessionIndex, said: Said, tmp_path: Path):
    gone, moved, stays = said("gone"), said("moved"), said("stays", cwd="/other")
    assert len(index.listing().sessions) == 3
    gone.unlink()
    moved.rename(home.folder_of("/other") / moved.name)
    assert index.listing("/proj").sessions == ()
    assert index.listing() == home.listing()
    shutil.rmtree(stays.parent)
    assert index.listing().sessions == ()


def test_a_row_says_what_a_picker_shows(index: SessionIndex, said: Said):
    said("fix the bug\nplease", ANSWER, title="Bugs")
    (row,) = index.listing().sessions
    assert (row.title, row.prompt, row.model, row.cwd, row.entries, row.tokens, row.parent_session) == (
        "Bugs",
        "fix the bug",
        "p/m",
        "/proj",
        3,
        115,
        None,
    )


def test_a_title_shows_no_secret(home: SessionFolder, index: SessionIndex, said: Said):
    said(f"use the key {KEY} please")
    assert [s.title for s in index.listing().sessions] == ["use the key [secret: key] please"]
    assert KEY.encode() not in index.path.read_bytes()
    assert index.listing() == home.listing()


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3_000] + b"\0" * 9_000)


def no_database(path: Path) -> None:
    path.write_bytes(b"not a database at all\n" * 500)


def older(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 0")


def foreign(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE files (mine)")


def odd_rows(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("UPDATE files SET summary = x'00ff'")


def no_tables(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE files")


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("harm", [damage, no_database, older, foreign, odd_rows, no_tables, empty])
def test_an_index_that_cannot_be_used_is_made_anew(home: SessionFolder, index: SessionIndex, said: Said, harm):
    said("one")
    said("two")
    wanted = index.listing()
    harm(index.path)
    assert index.listing() == wanted == home.listing()
    with sqlite3.connect(index.path) as database:
        assert database.execute("SELECT count(*) FROM files").fetchone() == (2,)
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_name_that_leads_to_somebody_elses_database_is_replaced_and_the_database_left_alone(
    index: SessionIndex, said: Said, tmp_path: Path
):
    said("one")
    with sqlite3.connect(tmp_path / "mine.db") as database:
        database.execute("CREATE TABLE mine (x)")
    before = (tmp_path / "mine.db").read_bytes()
    index.path.symlink_to(tmp_path / "mine.db")
    assert len(index.listing().sessions) == 1
    assert ((tmp_path / "mine.db").read_bytes(), index.path.is_symlink()) == (before, False)


def test_where_nothing_can_be_written_the_list_is_the_same(home: SessionFolder, said: Said, tmp_path: Path):
    said("one")
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "folder.sqlite").mkdir()
    (tmp_path / "folder.sqlite" / "x").touch()
    for path in (tmp_path / "file" / "index.sqlite", tmp_path / "folder.sqlite"):
        assert SessionIndex(path, home).listing() == home.listing()


def test_another_program_that_locks_the_file_is_in_nobodys_way(
    home: SessionFolder, index: SessionIndex, said: Said, monkeypatch
):
    monkeypatch.setattr("trimtab.sessions.index.database._BUSY_S", 0.01)
    said("one")
    index.listing()
    said("two")
    other = sqlite3.connect(index.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert index.listing() == home.listing()
    other.close()
    assert index.listing() == home.listing()


def test_a_process_that_holds_our_lock_for_ever_is_not_waited_for(
    home: SessionFolder, index: SessionIndex, said: Said, monkeypatch
):
    monkeypatch.setattr(index_module, "_PATIENCE_S", 0.02)
    said("one")
    with index_module.exclusive(index._lock):
        assert index.listing() == home.listing()


def test_the_index_is_only_its_owners_to_read(index: SessionIndex, said: Said):
    said("one")
    index.listing()
    assert index.path.stat().st_mode & 0o777 == 0o600


def test_without_sqlite_each_file_is_read(home: SessionFolder, index: SessionIndex, said: Said, monkeypatch):
    said("one")
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    assert index.listing() == home.listing()
    assert not index.path.exists()


def test_a_home_whose_name_is_no_utf8_works(tmp_path: Path):
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    root.mkdir()
    home = SessionFolder(root / "sessions", root / "bodies", now=now)
    log, _ = home.begin("/proj")
    log.close()
    assert SessionIndex(root / "index.sqlite", home).listing() == home.listing()


def test_many_sessions_are_taken_in_by_turns_and_the_person_is_told(
    home: SessionFolder, said: Said, tmp_path, monkeypatch
):
    monkeypatch.setattr(index_module, "_SLICE_S", 0.0)
    monkeypatch.setattr("trimtab.sessions.index.refresh._WORTH", 0)
    for number in range(5):
        said(f"number {number}")
    told: list[str] = []
    index = SessionIndex(tmp_path / "index.sqlite", home, tell=told.append)
    assert index.listing() == home.listing()
    assert len(told) == 1
