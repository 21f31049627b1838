"""Folders of a bench and of a training run are read as they were written, and whatever isn't right is said in words."""

import os
from pathlib import Path

import msgspec
import pytest

from support.bench_rows import ablation, folder, row, runs
from trimtab.lab.bench.folder import Opened
from trimtab.lab.report.reading import NoRows, NotARow, read
from trimtab.lab.report.table import tables_beside
from trimtab.types.errors import UsageError


def test_rows_runs_manifests_and_timings_of_a_folder_are_read(tmp_path: Path) -> None:
    rows = [row("none"), row("rules", "rule")]
    found = read([folder(tmp_path, rows)])
    assert found.rows == tuple(rows)
    assert found.ablation == ablation()
    assert [one.arguments["part"] for one in found.manifests] == ["test"]
    assert [one.seconds for one in found.timings] == [312.4]
    assert sorted(map(repr, found.runs)) == sorted(map(repr, runs()))
    assert found.notes == ()


def test_a_folder_of_folders_is_read_with_all_of_them_and_each_file_once(tmp_path: Path) -> None:
    one, two = row("none", story="a"), row("none", story="b", tier="T2")
    folder(tmp_path / "t0", [one], extras=False)
    folder(tmp_path / "t2", [two], extras=False)
    assert read([tmp_path, tmp_path / "t2"]).rows == (one, two)


def test_rows_that_the_bench_set_aside_are_not_read(tmp_path: Path) -> None:
    folder(tmp_path, [row("none")], extras=False)
    (tmp_path / "rows-0ld.jsonl").write_bytes(msgspec.json.encode(row("old")) + b"\n")
    assert [one.arm for one in read([tmp_path]).rows] == ["none"]


def test_the_tables_of_a_page_that_was_written_into_a_folder_are_not_read(tmp_path: Path) -> None:
    found = read([folder(tmp_path, [row("none")])])
    page = tmp_path / "sub" / "page.html"
    tables = tables_beside(page)
    tables.mkdir(parents=True)
    for name in ("ablation", "manifest", "record"):
        (tables / f"{name}.csv").write_text("what\n")
        (tables / f"{name}.json").write_text('{"a": "table"}')
    assert read([tmp_path]) == found
    (tmp_path / "sub").rename(tmp_path / "moved")
    assert read([tmp_path]) == found


def test_a_folder_that_is_called_tables_is_read_like_any_other(tmp_path: Path) -> None:
    assert read([folder(tmp_path / "my-tables", [row("none")])]).ablation == ablation()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="gone: no such folder"):
        read([tmp_path / "gone"])


def test_a_folder_without_rows_says_who_writes_them(tmp_path: Path) -> None:
    with pytest.raises(NoRows, match=r"no rows in .*trimtab bench"):
        read([tmp_path])


def test_a_torn_last_line_is_left_out_and_told(tmp_path: Path) -> None:
    folder(tmp_path, [row("none")], extras=False)
    with (tmp_path / "rows.jsonl").open("ab") as file:
        file.write(b'{"arm": "rul')
    found = read([tmp_path])
    assert len(found.rows) == 1
    (note,) = found.notes
    assert note.endswith("rows.jsonl:2 was left out: the last line, as a run that was broken off leaves it.")


def test_a_torn_line_in_the_middle_is_told_as_such(tmp_path: Path) -> None:
    folder(tmp_path, [row("none")], extras=False)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{torn\n" + path.read_bytes())
    (note,) = read([tmp_path]).notes
    assert note.endswith("rows.jsonl:1 was left out: no whole JSON.")


@pytest.mark.parametrize(
    ("name", "text"), [("rows.jsonl", b'{"arm": "none"}\n'), ("ablation.json", b'[{"variant": "traj"}]')]
)
def test_what_is_whole_but_of_another_version_is_an_error_with_its_place(
    tmp_path: Path, name: str, text: bytes
) -> None:
    folder(tmp_path, [row("none")], extras=False)
    (tmp_path / name).write_bytes(text)
    with pytest.raises(NotARow, match=rf"{name}.* is no \w+ of this version: .*missing required field"):
        read([tmp_path])


@pytest.mark.parametrize(
    ("change", "said"), [({"keep_all_usd": 0.0}, "no unit of cost"), ({"judged": {}}, "isn't judged by expected")]
)
def test_a_row_that_no_table_could_be_made_of_is_an_error_with_its_place(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    whole = msgspec.to_builtins(row("none"))
    (tmp_path / "rows.jsonl").write_bytes(msgspec.json.encode(whole | change) + b"\n")
    with pytest.raises(NotARow, match=rf"rows\.jsonl:1 is no Row of this version: .*{said}"):
        read([tmp_path])


def test_what_has_the_name_of_rows_and_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "rows.jsonl")
    (tmp_path / "below" / "rows.jsonl").mkdir(parents=True)
    with pytest.raises(NoRows):
        read([tmp_path])


def test_a_row_that_stands_there_twice_counts_as_it_was_written_last(tmp_path: Path) -> None:
    late = row("none", steps=9)
    found = read([folder(tmp_path, [row("none"), late], extras=False)])
    assert found.rows == (late,)
    assert found.notes == ("1 rows stood there twice, under the same arm and group; the later ones count.",)


def test_opening_the_test_part_twice_is_told(tmp_path: Path) -> None:
    folder(tmp_path, [row("none")], extras=False)
    lines = [msgspec.json.encode(Opened(f"2026-01-0{day}", arm)) for day, arm in ((2, "late"), (1, "early"))]
    (tmp_path / "opened.jsonl").write_bytes(b"\n".join(lines))
    found = read([tmp_path])
    assert found.candidate == "late"
    assert found.notes[0].startswith("The test part was opened 2 times")


@pytest.mark.parametrize("text", ["[]", "[{}, {}]", "5", '{"config": {"learning": [5]}}', "[" * 100_000])
def test_a_record_that_is_no_run_is_an_error_with_its_place(tmp_path: Path, text: str) -> None:
    folder(tmp_path, [row("none")], extras=False)
    (tmp_path / "record.json").write_text(text)
    with pytest.raises(NotARow, match=r"record\.json is no Run of this version"):
        read([tmp_path])


@pytest.mark.parametrize("name", ["rows.jsonl", "opened.jsonl", "timings.jsonl", "manifest.json", "ablation.json"])
def test_nesting_without_end_is_told_like_whatever_is_no_json(tmp_path: Path, name: str) -> None:
    folder(tmp_path, [row("none")], extras=False)
    with (tmp_path / name).open("ab") as file:
        file.write(b'{"x":' * 100_000 + b"\n")
    if name.endswith(".json"):
        with pytest.raises(NotARow, match=name):
            read([tmp_path])
    else:
        (note,) = read([tmp_path]).notes
        assert name in note
