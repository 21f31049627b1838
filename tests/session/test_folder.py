"""All sessions: where they are, what there is, which one is meant, forks."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from support.sessions import ask, header, line, now, reopened, result, say, texts, write
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionLocked, UnknownSession, UsageError
from trimtab.types.messages import Assistant, Text, User
from trimtab.types.usage import Usage


@pytest.fixture
def home(tmp_path: Path) -> SessionFolder:
    ticks = iter(range(10_000))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return SessionFolder(tmp_path / "sessions", tmp_path / "bodies", now=lambda: start + timedelta(seconds=next(ticks)))


def session(home: SessionFolder, cwd: Path | str, *prompts: str, age: int = 0) -> SessionLog:
    log, notice = home.begin(str(cwd))
    assert notice is None
    log.append_messages([ask(prompt) for prompt in prompts])
    log.close()
    assert log.path is not None
    os.utime(log.path, (1_700_000_000 - age, 1_700_000_000 - age))
    return log


def test_folders_that_look_alike_keep_their_sessions_apart(home: SessionFolder):
    first, second = home.folder_of("/a/b_c"), home.folder_of("/a/b-c")
    assert first.name.rpartition("-")[0] == second.name.rpartition("-")[0] == "b-c"
    assert first != second


def test_a_folder_is_known_by_its_real_path(home: SessionFolder, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert home.folder_of(str(tmp_path / "link")) == home.folder_of(str(tmp_path / "real"))


def test_a_new_session_lies_under_its_project_and_time(home: SessionFolder, tmp_path: Path):
    log = session(home, "/a/proj", "hi")
    assert log.path is not None
    assert log.path.parent == home.folder_of("/a/proj")
    assert log.path.name.startswith("2026010")
    assert log.path.name.endswith(f"Z_{log.header.id}.jsonl")
    assert (log.path.stat().st_mode & 0o777, log.path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_list_says_what_each_session_is_about(home: SessionFolder):
    log, _ = home.begin("/a/proj")
    answer = Assistant((Text("ok"),), stop_reason="stop", usage=Usage(10, 5, cache_read=100), provider="p", model="m")
    title = User((Text("\n  fix\x1b]0;x\x07 the bug\nplease"),))
    log.append_messages([title, answer, ask("more"), answer])
    log.close()
    listing = home.listing("/a/proj")
    (summary,) = listing.sessions
    assert (summary.id, summary.cwd, summary.title, summary.entries, summary.tokens, summary.damage) == (
        log.header.id,
        "/a/proj",
        "fix ]0;x the bug",
        4,
        230,
        0,
    )
    assert (summary.answers, summary.usage, summary.created, listing.notes) == (
        {"p/m": (Usage(10, 5, cache_read=100),) * 2},
        Usage(20, 10, cache_read=200),
        log.header.created,
        (),
    )


def test_a_given_title_wins_over_the_first_prompt(home: SessionFolder):
    log, _ = home.begin("/a/proj")
    log.append_messages([ask("hi")])
    log.set_title("My title")
    log.close()
    assert [s.title for s in home.listing().sessions] == ["My title"]


def test_the_session_that_was_written_last_comes_first(home: SessionFolder):
    old, new = session(home, "/a", "old", age=100), session(home, "/b", "new")
    assert [s.id for s in home.listing().sessions] == [new.header.id, old.header.id]
    assert [s.id for s in home.listing("/a").sessions] == [old.header.id]


def test_a_file_that_cannot_be_read_is_a_note_and_the_rest_is_listed(home: SessionFolder):
    good = session(home, "/a", "hi")
    os.mkfifo(home.folder_of("/a") / "T_pipe.jsonl")
    (home.folder_of("/a") / "T_empty0.jsonl").write_bytes(b"")
    (home.folder_of("/a") / "T_noise0.jsonl").write_bytes(b"\xff\0{{{")
    listing = home.listing()
    assert sorted(s.id for s in listing.sessions) == sorted([good.header.id, "empty0"])
    assert sorted(name for name in ("T_noise0", "T_pipe") for note in listing.notes if name in note) == [
        "T_noise0",
        "T_pipe",
    ]


def test_no_sessions_is_an_empty_list(home: SessionFolder):
    assert home.listing() == home.listing("/a")
    assert home.listing().sessions == ()


def test_sessions_that_begin_side_by_side_are_all_found(home: SessionFolder):
    logs = [home.begin("/a")[0] for _ in range(12)]
    for log in logs:
        log.append_messages([ask("hi")])
    assert {home.find(log.header.id, "/a") for log in logs} == {log.path for log in logs}
    for log in logs:
        log.close()


def test_a_session_is_found_by_id_by_the_start_of_it_and_by_path(home: SessionFolder, tmp_path: Path):
    log = session(home, "/a", "hi")
    path = write(tmp_path / "mine.jsonl", header(), line("a", None))
    assert log.path is not None
    assert (
        home.find(log.header.id, "/") == home.find(log.header.id[:6], "/") == home.find(str(log.path), "/") == log.path
    )
    assert home.find("mine.jsonl", str(tmp_path)) == home.find("./mine.jsonl", str(tmp_path)) == path


def test_a_name_that_fits_several_sessions_names_them(home: SessionFolder):
    folder = home.folder_of("/a")
    folder.mkdir(parents=True)
    for name in ("T_abc1.jsonl", "T_abc2.jsonl", "T_abc22.jsonl"):
        write(folder / name, header())
    assert home.find("abc2", "/a") == folder / "T_abc2.jsonl"
    with pytest.raises(UnknownSession, match=r"'ab' fits 3 sessions: abc1, abc2, abc22"):
        home.find("ab", "/a")


@pytest.mark.parametrize(
    "ref", ["nope", "", "nope.jsonl", "./nope", "last", "~nobody-at-all/x", "x" * 5_000, "../" * 2_000, "a\0b"]
)
def test_an_unknown_session_is_a_usage_error(home: SessionFolder, tmp_path: Path, ref: str):
    with pytest.raises(UnknownSession) as refusal:
        home.find(ref, str(tmp_path))
    assert (refusal.value.exit_code, "sessions list" in refusal.value.hint) == (2, True)


def test_last_is_the_newest_session_of_this_folder_with_something_in_it(home: SessionFolder, tmp_path: Path):
    wanted = session(home, tmp_path, "this one", age=50)
    session(home, tmp_path, "older", age=90)
    session(home, tmp_path)
    session(home, "/elsewhere", "other")
    assert home.find("last", str(tmp_path)) == wanted.path


def test_a_session_whose_project_moved_is_the_last_one_of_its_new_place(home: SessionFolder, tmp_path: Path):
    log = session(home, "/gone/project", "hi")
    assert log.path is not None
    again = home.open(log.path)
    again.set_cwd(str(tmp_path))
    again.close()
    assert home.find("last", str(tmp_path)) == log.path
    with pytest.raises(UnknownSession):
        home.find("last", "/gone/project")


def test_a_named_file_is_made_once_and_opened_after(home: SessionFolder, tmp_path: Path):
    for prompt in ("one", "two"):
        log = home.open_or_create(tmp_path / "mine" / "s.jsonl", "/proj")
        log.append_messages([ask(prompt)])
        log.close()
    assert (texts(log.view()), log.cwd) == (["one", "two"], "/proj")


def test_a_fork_is_a_new_session_with_the_lines_of_the_path_as_they_were(home: SessionFolder, tmp_path: Path):
    unknown = b'{"type":"hologram","id":"h","parent":"a","time":"","beam":  1}'
    odd = line("b", "h", "two", tint="blue")
    source = write(tmp_path / "s.jsonl", header(), line("a", None, "one"), unknown, odd, line("c", "b", "three"))
    before = source.read_bytes()
    path = home.fork(source, cwd="/new", at="b")
    head, *lines = path.read_bytes().splitlines()
    log = reopened(path)
    assert lines == [line("a", None, "one"), unknown, odd]
    assert (json.loads(head)["parent_session"], log.cwd, log.damage) == ("s-1", "/new", ())
    assert (log.header.id != "s-1", path.parent) == (True, home.folder_of("/new"))
    assert source.read_bytes() == before


def test_a_fork_goes_on_from_the_leaf_keeps_labels_and_leaves_other_branches(home: SessionFolder):
    log, _ = home.begin("/a")
    first, second, *_ = log.append_messages([ask("one"), ask("two"), ask("three")])
    log.label(first, "start")
    log.label(second, "gone")
    log.move_leaf(first)
    log.append_messages([ask("other")])
    log.close()
    assert log.path is not None
    fork = reopened(home.fork(log.path, cwd="/a"))
    assert (texts(fork.view()), fork.archive.labels, fork.damage) == (["one", "other"], {first: "start"}, ())
    assert texts(reopened(home.fork(log.path, cwd="/a", at="gone")).view()) == ["one", "two"]
    with pytest.raises(UsageError, match="no entry 'nope'"):
        home.fork(log.path, cwd="/a", at="nope")


def test_a_fork_of_a_damaged_file_is_whole(home: SessionFolder, tmp_path: Path):
    source = write(
        tmp_path / "s.jsonl",
        header(),
        line("a", None, "one"),
        b"noise",
        line("c", "b", "ü", x=1),
        line("a", "c", "dup"),
    )
    log = reopened(home.fork(source, cwd="/a"))
    assert (texts(log.view()), log.damage) == (["one", "ü", "dup"], ())
    assert b'"x":1' in log.archive.path()[1].raw


def test_a_fork_while_another_process_writes_needs_no_lock(home: SessionFolder):
    log, _ = home.begin("/a")
    log.append_messages([ask("one")])
    assert log.path is not None
    assert texts(reopened(home.fork(log.path, cwd="/a")).view()) == ["one"]
    log.close()


def test_large_bodies_are_shared_at_home_and_travel_with_a_fork_of_a_file_elsewhere(
    home: SessionFolder, tmp_path: Path
):
    big = "x" * 100_000
    log, _ = home.begin("/a")
    log.append_messages([ask(big)])
    log.close()
    assert log.path is not None
    outside = home.fork(log.path, cwd="/a", to=tmp_path / "copy.jsonl")
    assert len(list((tmp_path / "bodies").iterdir())) == len(list((tmp_path / "copy.jsonl.bodies").iterdir())) == 1
    for path in (log.path, outside, home.fork(outside, cwd="/a")):
        assert texts(home.open(path, read_only=True).view()) == [big]


def test_a_home_on_a_full_or_read_only_disk_leaves_a_session_in_memory(tmp_path: Path):
    (tmp_path / "home").write_text("not a folder")
    log, notice = SessionFolder(tmp_path / "home", tmp_path / "home", now=now).begin("/a")
    log.append_messages([ask("hi"), say("", "a"), result("a")])
    assert (len(log.view()), log.path, notice is not None) == (3, None, True)


def test_an_archived_session_is_as_old_as_it_was_and_no_last_one(home: SessionFolder, tmp_path: Path):
    older, newer = session(home, tmp_path, "older", age=100), session(home, tmp_path, "newer")
    assert older.path is not None
    assert newer.path is not None
    before = newer.path.stat().st_mtime_ns
    assert home.set_archived(newer.path, archived=True)
    assert not home.set_archived(newer.path, archived=True)
    assert home.find("last", str(tmp_path)) == older.path
    assert newer.path.stat().st_mtime_ns == before
    assert [s.archived for s in home.listing(str(tmp_path)).sessions] == [True, False]
    home.set_archived(older.path, archived=True)
    with pytest.raises(UnknownSession, match="are archived"):
        home.find("last", str(tmp_path))
    assert home.set_archived(newer.path, archived=False)
    assert home.find("last", str(tmp_path)) == newer.path


def test_what_is_said_in_an_archived_session_takes_it_back(home: SessionFolder, tmp_path: Path):
    path = session(home, tmp_path, "one").path
    assert path is not None
    home.set_archived(path, archived=True)
    log = home.open(path)
    log.set_model("test", "other")
    assert log.archive.archived
    log.append_messages([ask("two")])
    assert not log.archive.archived
    log.close()
    assert [s.archived for s in home.listing(str(tmp_path)).sessions] == [False]


def test_the_copy_of_an_archived_session_is_none(home: SessionFolder, tmp_path: Path):
    path = session(home, tmp_path, "one").path
    assert path is not None
    home.set_archived(path, archived=True)
    copy = home.fork(path, cwd=str(tmp_path))
    assert {s.path: s.archived for s in home.listing(str(tmp_path)).sessions} == {path: True, copy: False}


def test_an_open_session_is_not_archived(home: SessionFolder, tmp_path: Path):
    path = session(home, tmp_path, "one").path
    assert path is not None
    log = home.open(path)
    before = path.read_bytes()
    with pytest.raises(SessionLocked):
        home.set_archived(path, archived=True)
    assert path.read_bytes() == before
    log.close()
