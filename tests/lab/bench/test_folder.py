"""The folder of a bench: what is kept, and what is no longer true."""

import json
import os

import msgspec
import pytest

from support.made_rows import made_row
from trimtab.lab.bench import folder as folder_module
from trimtab.lab.bench.folder import Manifest, Opened, open_folder, rows_in
from trimtab.lab.bench.row import slot_of_file
from trimtab.types.errors import StoreError, UsageError

ROWS = [made_row("mask", number=number) for number in range(3)]


def test_rows_that_were_added_are_there_when_it_is_opened_again(tmp_path):
    out = tmp_path / "new" / "out"
    first = open_folder(out, {"arms": "mask"})
    first.add(ROWS[:2])
    first.add(ROWS[2:])
    again = open_folder(out, {"arms": "mask rules"})
    assert (again.rows, again.notes) == (ROWS, [])
    assert rows_in(out) == first.rows == ROWS
    assert json.loads((out / "manifest.json").read_text())["arguments"] == {"arms": "mask rules"}


def test_a_line_that_was_cut_off_is_dropped_and_told(tmp_path):
    open_folder(tmp_path, {}).add(ROWS)
    path = tmp_path / "rows.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    again = open_folder(tmp_path, {})
    assert again.rows == ROWS[:2]
    assert again.notes == [f"the last line of {path} was cut off; it is dropped, and played again"]
    again.add(ROWS[2:])
    assert path.read_bytes() == whole


def test_a_damaged_line_is_passed_over_and_told(tmp_path):
    open_folder(tmp_path, {}).add(ROWS)
    path = tmp_path / "rows.jsonl"
    first, *rest = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"{}\n" + b"".join(rest))
    again = open_folder(tmp_path, {})
    assert (again.rows, again.notes) == (ROWS, [f"damaged, and passed over: 1 of the lines in {path}"])


def test_of_two_rows_of_one_arm_and_story_the_later_one_holds(tmp_path):
    folder = open_folder(tmp_path, {})
    folder.add([ROWS[0], made_row("mask", success=0.5)])
    (row,) = rows_in(tmp_path)
    assert row.judged["expected"].success == 0.5


def test_rows_of_other_code_are_set_aside_and_told(tmp_path, monkeypatch):
    monkeypatch.setattr(folder_module, "code_version", lambda parts: "older")
    open_folder(tmp_path, {}).add(ROWS)
    monkeypatch.undo()
    again = open_folder(tmp_path, {})
    assert again.rows == []
    assert len(again.notes) == 1
    assert "rows-older.jsonl" in again.notes[0]
    assert len((tmp_path / "rows-older.jsonl").read_bytes().splitlines()) == 3


def test_rows_that_are_set_aside_again_leave_those_that_were_before(tmp_path, monkeypatch):
    for rows in (ROWS, ROWS[:2], ROWS[:1]):
        monkeypatch.setattr(folder_module, "code_version", lambda parts: "older")
        open_folder(tmp_path, {}).add(rows)
        monkeypatch.undo()
        open_folder(tmp_path, {})
    names = ("rows-older.jsonl", "rows-older-2.jsonl", "rows-older-3.jsonl")
    assert [len((tmp_path / name).read_bytes().splitlines()) for name in names] == [3, 2, 1]


@pytest.mark.parametrize("content", ["/../x", "\0", "a\x1b[31m", "ü" * 300, ""])
def test_the_name_of_what_is_set_aside_is_one_of_a_file_whatever_the_manifest_says(tmp_path, content):
    open_folder(tmp_path, {}).add(ROWS)
    (tmp_path / "manifest.json").write_text(json.dumps({"content": content}))
    open_folder(tmp_path, {})
    assert (tmp_path / "rows-unknown.jsonl").exists()


def test_rows_that_nobody_vouches_for_are_set_aside(tmp_path):
    open_folder(tmp_path, {}).add(ROWS)
    (tmp_path / "manifest.json").unlink()
    assert open_folder(tmp_path, {}).rows == []
    assert (tmp_path / "rows-unknown.jsonl").exists()


_STORIES = (
    *(("a.jsonl", "a.jsonl"), ("a.jsonl", "a.jsonl#1"), ("a#1.jsonl", "a#1.jsonl"), ("a#1.jsonl", "a#1.jsonl#1")),
    *(("b.jsonl", "b.jsonl"), ("gone.jsonl", "gone.jsonl")),
)


def recorded(name, story):
    return made_row("mask", tier="T1", story=story, slot=slot_of_file(name, 16_000))


def test_a_recording_that_changed_is_played_again(tmp_path):
    files = {name: [tmp_path / name] for name in ("a.jsonl", "a#1.jsonl", "b.jsonl", "gone.jsonl")}
    for name in ("a.jsonl", "a#1.jsonl", "b.jsonl"):
        files[name][0].write_text("one")
    rows = [recorded(name, story) for name, story in _STORIES]
    out = tmp_path / "out"
    open_folder(out, {}, files).add(rows)
    files["a.jsonl"][0].write_text("two")
    again = open_folder(out, {}, {"a.jsonl": files["a.jsonl"]})
    assert [row.story for row in again.rows] == ["a#1.jsonl", "a#1.jsonl#1", "b.jsonl", "gone.jsonl"]
    assert again.notes == ["changed since it was played, and played again: the recording a.jsonl"]
    assert rows_in(out) == again.rows
    assert open_folder(out, {}, files).rows == again.rows, "what wasn't asked for is still known"
    files["a#1.jsonl"][0].write_text("two")
    assert [row.story for row in open_folder(out, {}, files).rows] == ["b.jsonl", "gone.jsonl"], "whatever its name has"


def test_real_material_that_changed_is_played_again_whichever_of_its_files_it_was(tmp_path):
    paths = [tmp_path / "short", tmp_path / "long"]
    for path in paths:
        path.write_text("one")
    made = (("real", "loogle"), ("real", "bfcl-memory"), ("train", "loogle"))
    rows = [made_row("mask", part=part, family=family, story=f"{part} {family}") for part, family in made]
    out = tmp_path / "out"
    open_folder(out, {}, {"loogle": paths}).add(rows)
    assert open_folder(out, {}, {"loogle": paths}).rows == rows
    paths[1].write_text("two")
    again = open_folder(out, {}, {"loogle": paths})
    assert (again.rows, again.notes) == (
        rows[1:],
        ["changed since it was played, and played again: the files of loogle"],
    )


def test_an_arm_whose_weights_changed_is_played_again(tmp_path):
    weights = tmp_path / "w.json"
    weights.write_text("one")
    arm = 'learned(weights="w.json")'
    rows = [made_row(arm), made_row("mask")]
    out = tmp_path / "out"
    open_folder(out, {}, weights={arm: [weights]}).add(rows)
    assert open_folder(out, {}, weights={arm: [weights]}).rows == rows
    weights.write_text("two")
    again = open_folder(out, {}, weights={arm: [weights]})
    assert (again.rows, again.notes) == (
        rows[1:],
        [f"changed since it was played, and played again: the weights of {arm}"],
    )


def test_the_name_of_the_code_changes_with_it_alone():
    assert folder_module.code_version(folder_module.PLAYERS) == folder_module.code_version(folder_module.PLAYERS)
    assert folder_module.code_version(["types"]) != folder_module.code_version(["types", "lab/suite.py"])


def test_when_the_test_part_was_opened_is_kept(tmp_path):
    folder = open_folder(tmp_path, {})
    assert folder.opened() == []
    folder.open_test("mask", at="2026-01-01T00:00:00+00:00")
    folder.open_test("lru", at="2026-01-02T00:00:00+00:00")
    assert open_folder(tmp_path, {}).opened() == [
        Opened("2026-01-01T00:00:00+00:00", "mask"),
        Opened("2026-01-02T00:00:00+00:00", "lru"),
    ]


def test_a_torn_word_on_when_the_test_part_was_opened_is_no_clean_sheet(tmp_path):
    folder = open_folder(tmp_path, {})
    (tmp_path / "opened.jsonl").write_text('{"at": "2026-01-01", "cand')
    with pytest.raises(StoreError, match=r"opened\.jsonl"):
        folder.opened()


@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json"])
def test_a_folder_in_place_of_a_file_is_told(tmp_path, name):
    open_folder(tmp_path, {})
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).mkdir()
    with pytest.raises(StoreError, match=rf"{name}' can't be read"):
        open_folder(tmp_path, {})


@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json", "opened.jsonl"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")], ids=["pipe", "device"])
def test_a_pipe_or_a_device_in_place_of_a_file_is_not_waited_for(tmp_path, name, make):
    open_folder(tmp_path, {})
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    with pytest.raises(StoreError, match=rf"{name}' can't be read: it is no regular file"):
        open_folder(tmp_path, {}).opened()


def test_a_pipe_in_place_of_what_is_played_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    assert open_folder(tmp_path / "out", {}, {"a.jsonl": [tmp_path / "a.jsonl"]}).rows == []


def test_nesting_without_end_is_damage_like_any_other(tmp_path):
    open_folder(tmp_path, {}).add(ROWS)
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(b'{"extra":' * 100_000 + b"\n")
    again = open_folder(tmp_path, {})
    assert (again.rows, len(again.notes)) == (ROWS, 1)
    (tmp_path / "manifest.json").write_bytes(b'{"arguments":' * 100_000)
    assert open_folder(tmp_path, {}).rows == []
    (tmp_path / "opened.jsonl").write_bytes(b"[" * 100_000)
    with pytest.raises(StoreError, match=r"opened\.jsonl"):
        open_folder(tmp_path, {}).opened()


@pytest.mark.parametrize(
    "change",
    [
        *({"keep_all_usd": usd} for usd in (0.0, -1.0, 1e-320, 1e308)),
        *({"policy_ms": number} for number in (1e308, -1e16)),
        *({"steps": 10**30}, {"curve": [10**30]}, {"extra": {"tools": 1e300}}, {"needs": {"lost": 10**30}}),
        {"judged": {"expected": {"success": 1e308, "usd": 1.0, "reward": 1.0}}},
    ],
)
def test_a_row_with_a_number_that_no_table_could_be_made_of_is_damaged(tmp_path, change):
    open_folder(tmp_path, {}).add(ROWS)
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(json.dumps(msgspec.to_builtins(ROWS[0]) | {"story": "other"} | change).encode() + b"\n")
    again = open_folder(tmp_path, {})
    assert (again.rows, len(again.notes)) == (ROWS, 1)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(UsageError, match="is no folder"):
        open_folder(tmp_path / "out", {})


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="can't be written"):
        open_folder(tmp_path / "file" / "out", {})


def test_a_manifest_says_what_rows_depend_on():
    assert set(Manifest.__struct_fields__) == {"content", "trimtab", "python", "arguments", "files", "weights"}
