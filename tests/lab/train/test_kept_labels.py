"""What was labelled is kept as it comes, and only the rest is labelled by whoever goes on."""

import os
import signal
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from trimtab.frontends.cli.app import main
from trimtab.lab.executor import Here
from trimtab.lab.labels import collected
from trimtab.lab.labels.collected import SessionItem, TaskItem
from trimtab.lab.labels.hindsight import Labelled
from trimtab.lab.train.kept import Kept
from trimtab.lab.train.labels_on_disk import keeping_labels, label_name, packed, unpacked
from trimtab.lab.train.runs import RunFolder
from trimtab.sessions.source import ImportFailed
from trimtab.types.errors import StoreError

PARTS = {"train": ("tool-chain", "root-cause-first"), "validation": ("superseded",)}
LINE = ("train", "--stage", "needed", "--workers", "1", "--each", "2")
"""Four tasks that are learned from, and one that says when to stop."""
_ENDED = """
import functools, os, sys, time
from trimtab.lab.labels import collected
from trimtab.main import main

collected.PARTS, number, after = {parts!r}, {number}, [{after}]
real = collected.rows_of_task


@functools.wraps(real)
def ending(item):
    if after[0] == 0:
        os.kill(os.getpid(), number)
        time.sleep(60)
    after[0] -= 1
    return real(item)


collected.rows_of_task = ending
sys.exit(main())
"""


@pytest.fixture
def labelled(monkeypatch: pytest.MonkeyPatch) -> list[TaskItem]:
    """What is labelled from here on."""
    found: list[TaskItem] = []
    real = collected.rows_of_task

    def rows_of_task(item: TaskItem) -> list[Labelled]:
        found.append(item)
        return real(item)

    monkeypatch.setattr(collected, "PARTS", PARTS)
    monkeypatch.setattr(collected, "rows_of_task", rows_of_task)
    return found


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The weights of a run that nothing broke off."""
    out = tmp_path_factory.mktemp("unbroken")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collected, "PARTS", PARTS)
        assert main([*LINE, "--out", str(out)]) == 0
    return weights_in(out)


def weights_in(out: Path) -> bytes:
    """The one file of weights there."""
    (file,) = out.glob("needed-*/weights.json")
    return file.read_bytes()


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)])
def test_labelling_that_was_ended_half_way_goes_on_with_the_rest_to_the_same_weights(
    number: signal.Signals,
    code: int,
    tmp_path: Path,
    labelled: list[TaskItem],
    unbroken: bytes,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script = _ENDED.format(parts=PARTS, number=int(number), after=3)
    ended = subprocess.run(
        [sys.executable, "-c", script, *LINE, "--out", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ended.returncode == code, ended.stderr
    assert len(list(tmp_path.glob("labels-*/*.labels"))) == 3
    assert not [*tmp_path.rglob("*.new"), *tmp_path.glob("needed-*")]
    assert main([*LINE, "--out", str(tmp_path)]) == 0
    assert "needed: 3 of 4 were done before\n" in capsys.readouterr().err
    assert labelled == [TaskItem("train", "root-cause-first", 1), TaskItem("validation", "superseded", 0)]
    assert weights_in(tmp_path) == unbroken


def test_labels_are_shared_by_runs_of_another_seed_and_size(tmp_path: Path, labelled: list[TaskItem]) -> None:
    assert main([*LINE[:-1], "1", "--out", str(tmp_path)]) == 0
    labelled.clear()
    assert main([*LINE[:-1], "1", "--seed", "7", "--out", str(tmp_path)]) == 0
    assert not labelled
    assert len(list(tmp_path.glob("needed-*"))) == 2
    assert main([*LINE[:-1], "2", "--out", str(tmp_path)]) == 0
    assert [(one.part, one.number) for one in labelled] == [("train", 1), ("train", 1)]


def test_a_label_is_named_after_all_that_it_hangs_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    for path in ("one.jsonl", "other.jsonl", "there/one.jsonl"):
        (tmp_path / path).write_text("one")
    task, session = TaskItem("train", "sales", 1), SessionItem(str(tmp_path / "one.jsonl"), "p", 1)
    names = {
        label_name(one)
        for one in (
            task,
            replace(task, part="validation"),
            replace(task, family="sql-charts"),
            replace(task, number=2),
            session,
            replace(session, group="q"),
            replace(session, number=2),
            replace(session, path=str(tmp_path / "other.jsonl")),
        )
    }
    assert len(names) == 8
    assert label_name(replace(session, path=str(tmp_path / "there" / "one.jsonl"))) in names, (
        "where it lies says nothing"
    )
    (tmp_path / "one.jsonl").write_text("two")
    assert label_name(session) not in names, "what it holds does"
    monkeypatch.setattr("trimtab.lab.train.runs.version", lambda: "other code")
    assert label_name(task) not in names
    with pytest.raises(ImportFailed, match="can't read"):
        label_name(replace(session, path=str(tmp_path / "none.jsonl")))


def test_code_that_changed_reads_no_labels_of_the_code_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keeping_labels(Here(), tmp_path).folder.path
    monkeypatch.setattr("trimtab.lab.train.labels_on_disk.version", lambda: "other")
    assert keeping_labels(Here(), tmp_path).folder.path != before


ROWS = st.builds(
    Labelled,
    st.sampled_from(["T0", "T1"]),
    st.text(),
    st.text(),
    st.integers(0, 99),
    st.text(),
    st.integers(0, 10**9),
    st.lists(st.floats(allow_nan=False)).map(tuple),
    needed=st.booleans(),
    after=st.integers(0, 99),
    missed=st.booleans(),
)


@given(st.lists(ROWS, max_size=5))
def test_rows_come_back_from_a_disk_to_the_bit(rows: list[Labelled]) -> None:
    assert unpacked(packed(rows)) == rows


@given(st.lists(ROWS, min_size=1, max_size=2), st.data())
def test_rows_that_a_disk_damaged_are_never_taken_for_rows(rows: list[Labelled], data: st.DataObject) -> None:
    good = packed(rows)
    at = data.draw(st.integers(2, len(good) - 1))
    bad = good[:at] if data.draw(st.booleans()) else good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :]
    try:
        found = unpacked(bad)
    except ValueError:
        return
    assert found == rows


def shout(word: str) -> str:
    """A result."""
    return word.upper()


def kept(folder: Path) -> Kept:
    """Shouts, kept in a folder."""
    return Kept(Here(), RunFolder(folder), lambda word: f"{word}.txt", str.encode, bytes.decode)


def test_results_come_in_order_whichever_of_them_were_there(tmp_path: Path) -> None:
    words = ["a", "b", "c", "a", "d"]
    for there in ([], ["b"], ["d", "a"], words):
        folder = tmp_path / "".join(there)
        assert list(kept(folder).map(shout, there)) == [word.upper() for word in there]
        (folder / "b.txt").exists() and (folder / "b.txt").write_text("kept")
        expected = ["A", "kept" if "b" in there else "B", "C", "A", "D"]
        assert list(kept(folder).map(shout, words)) == expected


def test_a_damaged_label_is_named_with_the_way_out(tmp_path: Path) -> None:
    item = TaskItem("train", "tool-chain", 1)
    executor = keeping_labels(Here(), tmp_path)
    rows = list(executor.map(collected.rows_of_task, [item]))
    (file,) = tmp_path.glob("labels-*/*.labels")
    assert list(executor.map(collected.rows_of_task, [item])) == rows
    whole = file.read_bytes()
    for wrong in (whole[:-9], b"", zlib.compress(b"\x91" * 100_000), zlib.compress(b"\x91\x05")):
        file.write_bytes(wrong)
        with pytest.raises(StoreError, match="is damaged") as told:
            list(executor.map(collected.rows_of_task, [item]))
        assert str(file) in told.value.message
        assert told.value.hint == f"Remove {file}: the same command makes it anew.", "and not all of the others"
        file.unlink()
        assert list(executor.map(collected.rows_of_task, [item])) == rows
