"""A whole run, at its smallest."""

import pytest

torch = pytest.importorskip("torch")

import shutil  # noqa: E402
from collections.abc import Iterator  # noqa: E402
from pathlib import Path  # noqa: E402

import msgspec  # noqa: E402

from support.training import TINY, files_of, short_suite  # noqa: E402
from trimtab.context.policies.learned.weights import read_weights  # noqa: E402
from trimtab.lab.train import train as script  # noqa: E402
from trimtab.lab.train.runs import RunFolder, key_of  # noqa: E402
from trimtab.lab.train.train import Place, train  # noqa: E402
from trimtab.types.errors import StoreError, UsageError  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def _short() -> Iterator[None]:
    with short_suite():
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> script.Trained:
    """A run that nobody interrupted."""
    return train(TINY, Place(tmp_path_factory.mktemp("whole")))


def curve_of(folder: Path) -> list[dict[str, object]]:
    """The curve without what a clock says."""
    return [{k: v for k, v in line.items() if k != "seconds"} for line in RunFolder(folder).curve()]


def test_a_run_writes_weights_record_curve_and_scores(whole: script.Trained) -> None:
    assert whole.ended == "budget"
    assert files_of(whole.folder) == [
        "config.json",
        "curves.jsonl",
        "record.json",
        "scores.json",
        "state.pt",
        "weights.json",
    ]
    read = read_weights((whole.folder / "weights.json").read_bytes(), source="weights.json")
    assert read == whole.weights
    record = read.record
    assert record == RunFolder(whole.folder).record()
    assert (record["ended"], record["config"]["seed"], record["stage"]) == ("budget", 0, "rl")
    assert record["decisions"] >= TINY.learning.decisions
    assert set(record["validation"]) == {"trained", "trained, sampled", "clone", "clone, sampled", "mask"}
    looks = [line for line in curve_of(whole.folder) if "greedy" in line]
    assert looks[0]["step"] == 0, "the clone is judged before anything is learned"
    assert record["best_step"] == max(looks, key=lambda line: (line["greedy"]["reward"], -line["step"]))["step"]


def test_a_run_that_is_broken_off_goes_on_to_the_same_end(whole: script.Trained, tmp_path: Path) -> None:
    ends = []
    for _ in range(20):
        found = train(TINY, Place(tmp_path, steps=1))
        ends.append(found.ended)
        if found.ended == "budget":
            break
    assert ends[0] == "broken off"
    assert ends[-1] == "budget"
    assert found.weights is not None
    assert whole.weights is not None
    assert found.weights.item == whole.weights.item
    assert found.weights.gate == whole.weights.gate
    assert curve_of(found.folder) == curve_of(whole.folder)
    first, last = (RunFolder(folder).state() for folder in (found.folder, whole.folder))
    assert first is not None
    assert last is not None
    assert all(torch.equal(first["network"][name], last["network"][name]) for name in last["network"])


def test_what_was_done_is_not_done_again(whole: script.Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("it was played again")

    monkeypatch.setattr(script, "played", never)
    monkeypatch.setattr(script, "taught", never)
    again = train(TINY, Place(whole.folder.parent))
    assert (again.folder, again.weights) == (whole.folder, whole.weights)


def test_another_seed_learns_from_the_same_lessons(whole: script.Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a teacher was asked again")

    monkeypatch.setattr(script, "taught", never)
    folder = whole.folder.parent
    other = train(msgspec.structs.replace(TINY, seed=1), Place(folder), stage="clone")
    first, second = (one for one in sorted(folder.glob("clone-*")))
    assert other.folder in (first, second)
    assert RunFolder(first).weights() != RunFolder(second).weights()
    records = [RunFolder(one).record() or {} for one in (first, second)]
    assert records[0]["decisions"] == records[1]["decisions"] > 0


def test_a_clock_breaks_a_run_off_with_the_best_so_far(whole: script.Trained, tmp_path: Path) -> None:
    found = train(TINY, Place(tmp_path, seconds=0.0))
    assert found.ended == "broken off"
    assert found.weights is not None
    assert found.weights.record["best_step"] == 0
    assert found.weights.record["steps"] == 1, "each call makes a step, or none would come further"
    again = train(TINY, Place(tmp_path, seconds=0.0))
    assert again.weights is not None
    assert again.weights.record["steps"] == 2
    assert "trained" in found.weights.record["validation"], "what there is, is reported"


def test_the_folder_is_named_by_all_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    other = msgspec.structs.replace(TINY, seed=1)
    assert len({key_of("rl", TINY, b""), key_of("rl", other, b""), key_of("rl", TINY, b"weights")}) == 3
    before = key_of("rl", TINY, b"")
    monkeypatch.setattr("trimtab.lab.train.runs.version", lambda: "another code")
    assert key_of("rl", TINY, b"") != before


def test_the_first_step_moves_the_policy_and_the_anchor_stays(whole: script.Trained) -> None:
    clone = train(TINY, Place(whole.folder.parent), stage="clone").folder
    first, last = RunFolder(clone).state(), RunFolder(whole.folder).state()
    assert first is not None
    assert last is not None
    assert any(not torch.equal(first["network"][n], last["network"][n]) for n in first["network"] if "weight" in n)
    clones = read_weights((clone / "weights.json").read_bytes(), source="clone")
    assert clones.record["stage"] == "clone"
    assert clones.item.layers[0].weight[0][0] == float(first["network"]["item.0.weight"][0, 0])


@pytest.mark.parametrize("stage", ["clone", "rl"])
@pytest.mark.parametrize("lost", [("weights.json",), ("record.json",), ("record.json", "weights.json")])
def test_a_run_that_lacks_what_came_of_it_is_not_done_and_comes_to_the_same_again(
    whole: script.Trained, tmp_path: Path, stage: script.Stage, lost: tuple[str, ...]
) -> None:
    shutil.copytree(whole.folder.parent, tmp_path, dirs_exist_ok=True)
    place = Place(tmp_path)
    folder = train(TINY, place, stage=stage).folder
    before = (folder / "weights.json").read_bytes()
    for name in lost:
        (folder / name).unlink()
    train(TINY, place, stage=stage)
    assert (folder / "record.json").is_file()
    assert (folder / "weights.json").read_bytes() == before


def test_without_a_teacher_there_is_nothing_to_learn_from(tmp_path: Path) -> None:
    alone = msgspec.structs.replace(TINY, cloning=msgspec.structs.replace(TINY.cloning, teachers=("no-such-arm",)))
    with pytest.raises(UsageError, match="no-such-arm"):
        train(alone, Place(tmp_path))


def test_a_network_with_attention_is_trained_and_leaves_no_file_to_ship(tmp_path: Path) -> None:
    shape = msgspec.structs.replace(TINY.shape, attention=True)
    found = train(msgspec.structs.replace(TINY, shape=shape), Place(tmp_path))
    assert (found.ended, found.weights) == ("budget", None)
    record = RunFolder(found.folder).record()
    assert record is not None
    assert "trained" in record["validation"]


@pytest.mark.parametrize("name", ["state.pt", "record.json", "curves.jsonl", "scores.json"])
def test_a_damaged_file_of_a_run_is_named_with_the_way_to_make_it_anew(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"{torn")
    folder = RunFolder(tmp_path)
    read = {"state.pt": folder.state, "record.json": folder.record, "curves.jsonl": folder.curve}
    with pytest.raises(StoreError, match=f"{name}' is damaged") as told:
        read.get(name, folder.scores)()
    assert f"Remove the folder {tmp_path}" in told.value.hint


def test_a_place_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = RunFolder(tmp_path / "file" / "run")
    with pytest.raises(StoreError, match="can't be written"):
        folder.write("record.json", b"{}")
    with pytest.raises(StoreError, match="can't be read"):
        folder.record()
