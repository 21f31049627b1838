"""What is damaged, what lies around, putting sessions away and taking them away."""

import json
import os
import shutil
from pathlib import Path

import pytest

from support.cli import Cli
from support.sessions import header, line, now, write
from trimtab.context.stores.folder import SessionFolder
from trimtab.context.stores.log import SessionLog

BROKEN = (line("a", None), b"\0\0\0\0", b'{"type":"message","id":"torn', line("a", "a", "twice"), line("c", "nowhere"))


@pytest.fixture
def damaged(cli: Cli) -> Path:
    """A session file with damage of several kinds."""
    folder = SessionFolder(cli.home / "sessions", cli.home / "bodies", now=now).folder_of(str(cli.project))
    folder.mkdir(parents=True)
    return write(folder / "T_dama9ed.jsonl", header(), *BROKEN, end=b"")


def test_the_doctor_names_each_damaged_line_and_changes_nothing(cli: Cli, damaged: Path) -> None:
    before = damaged.read_bytes()
    outcome = cli.inside("sessions", "doctor")
    assert (outcome.code, damaged.read_bytes()) == (1, before)
    for words in (
        "line 3: unreadable",
        "line 4: unreadable",
        "line 5: duplicate id: a",
        "line 6: bad parent",
        "line 6: no newline",
    ):
        assert words in outcome.out
    assert "0 sessions whole, 1 with damage" in outcome.out
    assert "--fix" in outcome.out


def test_a_fix_appends_repair_entries_and_keeps_every_byte(cli: Cli, damaged: Path) -> None:
    before = damaged.read_bytes()
    outcome = cli.inside("sessions", "doctor", "--fix")
    after = damaged.read_bytes()
    assert (outcome.code, after.startswith(before)) == (0, True)
    added = [json.loads(one) for one in after[len(before) :].splitlines() if one]
    assert {(entry["type"], entry["kind"]) for entry in added} == {
        ("repair", kind) for kind in ("unreadable", "duplicate_id", "bad_parent", "no_newline")
    }
    assert (cli.inside("sessions", "doctor", "--fix").code, damaged.read_bytes()) == (0, after)


def test_a_session_that_is_open_is_neither_mended_nor_removed(cli: Cli, damaged: Path) -> None:
    log = SessionLog.open(damaged, now=now)
    before = damaged.read_bytes()
    assert cli.run("sessions", "doctor", "--fix").code == 1
    refused = cli.run("sessions", "rm", "dama9ed", "--yes")
    assert (refused.code, "in use" in refused.err, damaged.read_bytes()) == (2, True, before)
    log.close()
    assert cli.run("sessions", "rm", "dama9ed", "--yes").code == 0
    assert not damaged.exists()


def test_a_whole_session_is_left_as_it_is_by_a_fix(cli: Cli) -> None:
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "x"})).code == 0
    (session,) = cli.sessions
    before = session.read_bytes()
    outcome = cli.inside("sessions", "doctor", "last", "--fix", "--json")
    assert (outcome.code, session.read_bytes()) == (0, before)
    assert json.loads(outcome.out) == {"checked": 1, "damaged": [], "errors": [], "leftovers": []}


def test_what_belongs_to_nothing_is_named_with_its_size(cli: Cli, damaged: Path) -> None:
    folder = damaged.parent
    (folder / "T_gone.jsonl.outputs").mkdir()
    (folder / "T_gone.jsonl.outputs" / "o.txt").write_text("x" * 500)
    (folder / "T_dama9ed.jsonl.outputs").mkdir()
    (folder / f".T_x.jsonl.{2**22 + 5}.part").write_text("half")
    (folder / f".T_y.jsonl.{os.getpid()}.part").write_text("still being made")
    dead = {"pid": 2**22 + 5, "boot_id": "another", "host": os.uname().nodename, "started": ""}
    (folder / "T_z.jsonl.lock").write_text(json.dumps(dead))
    (folder / "T_w.jsonl.lock").write_text(json.dumps({**dead, "host": "elsewhere"}))
    (cli.home / "bodies").mkdir()
    (cli.home / "bodies" / ("sha256-" + "0" * 64)).write_text("y" * 70)
    (cli.home / "bodies" / ("sha256-" + "1" * 64)).write_text("named")
    for name in (folder.name, "gone-12345678"):
        (cli.home / "checkpoints" / name).mkdir(parents=True)
        (cli.home / "checkpoints" / name / "content").write_text("before")
    with damaged.open("ab") as file:
        file.write(b"\n" + line("n", None, "sha256-" + "1" * 64) + b"\n")
    rest = json.loads(cli.inside("sessions", "doctor", "--json").out)["leftovers"]
    assert {(Path(one["path"]).name, one["bytes"]) for one in rest} == {
        ("T_gone.jsonl.outputs", 500),
        (f".T_x.jsonl.{2**22 + 5}.part", 4),
        ("T_z.jsonl.lock", len(json.dumps(dead))),
        ("sha256-" + "0" * 64, 70),
        ("gone-12345678", 6),
    }
    assert "rm -r" in cli.inside("sessions", "doctor").out


def test_removing_takes_the_session_and_its_outputs_and_follows_no_link(cli: Cli) -> None:
    script = cli.script({"text": "x"})
    for prompt in ("one", "two"):
        assert cli.inside("-p", prompt, "--model", script).code == 0
    first, _ = sorted(cli.sessions, key=lambda path: path.stat().st_mtime)
    outputs = first.with_name(first.name + ".outputs")
    outputs.mkdir()
    (outputs / "long.txt").write_text("x")
    (cli.root / "precious").mkdir()
    (cli.root / "precious" / "file").write_text("y")
    (outputs / "link").symlink_to(cli.root / "precious")
    first.with_name(first.name + ".archive").symlink_to(cli.root / "precious")
    beside = set(first.parent.iterdir())
    ref = first.stem.rpartition("_")[2]
    asked = cli.inside("sessions", "rm", ref)
    assert (asked.code, "--yes" in asked.err, first.exists()) == (2, True, True)
    done = cli.inside("sessions", "rm", ref, "--yes", "--json")
    assert (done.code, [row["session"] for row in json.loads(done.out)]) == (0, [ref])
    gone = beside - set(first.parent.iterdir())
    assert gone == {first, outputs, first.with_name(first.name + ".archive")}
    assert (cli.root / "precious" / "file").read_text() == "y"
    assert [row["title"] for row in json.loads(cli.inside("sessions", "list", "--json").out)] == ["two"]


def test_the_sessions_of_subagents_go_with_the_one_that_they_worked_for(cli: Cli) -> None:
    script = cli.script({"text": "x"})
    for prompt in ("one", "two"):
        assert cli.inside("-p", prompt, "--model", script).code == 0
    first, second = sorted(cli.sessions, key=lambda path: path.stat().st_mtime)
    for name in ("child1", "child2", "child1.child1"):
        shutil.copy(first, first.with_name(f"{first.stem}.{name}.jsonl"))
    other = second.with_name(f"{second.stem}.child1.jsonl")
    shutil.copy(second, other)
    child = first.with_name(f"{first.stem}.child2.jsonl")
    ref = first.stem.rpartition("_")[2]
    assert f"{ref}  one (" in (asked := cli.inside("sessions", "rm", str(first))).err
    assert "with 3 sessions of subagents" in asked.err
    done = cli.inside("sessions", "rm", str(first), str(child), "--yes")
    assert (done.code, done.err.count("removed")) == (0, 1)
    assert f"removed {ref} with 3 sessions of subagents, " in done.err
    assert [path for path in sorted(first.parent.iterdir()) if path.suffix == ".jsonl"] == sorted([second, other])


def test_a_session_that_is_not_open_is_named_from_a_shell(cli: Cli) -> None:
    assert cli.inside("-p", "one", "--model", cli.script({"text": "x"})).code == 0
    done = cli.inside("sessions", "name", "last", "the \x1b[31mport", "is\ntaken", "--json")
    assert (done.code, json.loads(done.out)["title"]) == (0, "the port is\\ntaken")
    assert [row["title"] for row in json.loads(cli.inside("sessions", "list", "--json").out)] == ["the port is\\ntaken"]
    assert "some letters" in cli.inside("sessions", "name", "last", " ").err
    assert "at most 120" in cli.inside("sessions", "name", "last", "x" * 121).err


def test_a_file_that_is_no_session_is_not_removed(cli: Cli) -> None:
    (cli.project / "notes.txt").write_text("mine")
    assert cli.inside("sessions", "rm", "./notes.txt", "--yes").code == 2
    assert (cli.project / "notes.txt").exists()


def test_what_is_no_session_is_named_with_what_to_do_and_damage_is_never_an_empty_word(cli: Cli) -> None:
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "ok"})).code == 0
    (session,) = cli.sessions
    session.with_name("20260101T000000Z_aaaa1111.jsonl").mkdir()
    session.with_name("20260101T000000Z_bbbb1111.jsonl").write_bytes(b"\0" * 500)
    outcome = cli.inside("sessions", "doctor")
    assert outcome.code == 1
    assert "  line 1: unreadable: nothing but characters that nobody sees" in outcome.out
    assert "what can't be read stays as it is; make it readable, or move away what is no session" in outcome.out


def test_archived_sessions_are_out_of_lists_and_found_by_a_search(cli: Cli) -> None:
    script = cli.script({"text": "x"})
    for prompt in ("a giraffe", "two"):
        assert cli.inside("-p", prompt, "--model", script).code == 0
    first, _ = sorted(cli.sessions, key=lambda path: path.stat().st_mtime)
    shutil.copy(first, child := first.with_name(f"{first.stem}.child1.jsonl"))
    ref = first.stem.rpartition("_")[2]

    def listed(*flags: str) -> set[str]:
        return {row["title"] for row in json.loads(cli.inside("sessions", "list", "--json", *flags).out)}

    done = cli.inside("sessions", "archive", str(first), "nowhere", "--json")
    assert (done.code, "no session 'nowhere'" in done.err, listed("--archived")) == (2, True, set())
    done = cli.inside("sessions", "archive", str(first), "--json")
    assert json.loads(done.out) == [{"session": ref, "archived": True, "changed": True}]
    assert (listed(), listed("--archived")) == ({"two"}, {"a giraffe"})
    hits = json.loads(cli.inside("sessions", "search", "giraffe", "--json").out)["hits"]
    assert {(hit["session"], hit["archived"]) for hit in hits} >= {(ref, True)}
    assert "(archived)" in cli.inside("sessions", "search", "giraffe").out
    assert f"{ref} is archived already" in cli.inside("sessions", "archive", str(first)).err
    went_on = cli.inside("-p", "more", "--session", str(first), "--model", script)
    assert "session was archived" in went_on.err
    assert listed() == {"two", "a giraffe"}
    assert listed("--archived") == {"a giraffe"}  # its subagent's
    assert cli.inside("sessions", "unarchive", str(child)).code == 0
    assert listed("--archived") == set()
