"""A whole run, at its smallest."""

import pytest

torch = pytest.importorskip("torch")

import os  # noqa: E402
import re  # noqa: E402
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


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with such a run and nothing else."""
    return train(TINY, Place(tmp_path_factory.mktemp("alone"))).folder.parent


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


_DEEP = b"[" * 100_000
_STATES = (b"{torn", b"", [1.0], torch.ones(2), {}, {"network": 5}, {"network": {"w": torch.ones(1)}})
_SCORES = (b"{torn", b"{}", b"[]", b'[{"name": "greedy", "figures": []}]', _DEEP)
_AGAIN = "rl-*/record.json"
"""Without it the run isn't done, so what it goes on from is read."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "wrong", "lost"),
    [
        ("clone-*/state.pt", _STATES, ()),
        ("lessons-*/lessons.msgpack", (b"{torn", b"", b"\x90", b"\x91" * 100_000), ("clone-*/record.json",)),
        ("rl-*/state.pt", (*_STATES, ("descent", {}), ("lines", "x"), ("parameters", {})), (_AGAIN,)),
        ("rl-*/curves.jsonl", (b"{torn", b"[]\n", b"", _DEEP), (_AGAIN,)),
        ("rl-*/record.json", (b"{torn", b"[]", b'{"a": 5}', _DEEP), ()),
        ("rl-*/weights.json", (b"{torn", b"{}", b"[]", _DEEP), ()),
        ("judged-*/scores.json", _SCORES, (_AGAIN, "rl-*/state.pt")),
    ],
)
def test_whatever_a_file_of_a_run_holds_is_told_with_the_way_to_make_it_anew_and_that_does(
    alone: Path, tmp_path: Path, name: str, wrong: tuple[object, ...], lost: tuple[str, ...]
) -> None:
    for one in wrong:
        shutil.copytree(alone, tmp_path, dirs_exist_ok=True)
        for gone in lost:
            next(tmp_path.glob(gone)).unlink()
        file = next(tmp_path.glob(name))
        if isinstance(one, tuple):
            one = torch.load(file, weights_only=True) | dict([one])
        if isinstance(one, bytes):
            file.write_bytes(one)
        else:
            torch.save(one, file)
        with pytest.raises(StoreError, match="is damaged") as told:
            train(TINY, Place(tmp_path))
        assert str(file) in told.value.message
    named = re.fullmatch(r"Remove (?:the folder )?(.*): the same command makes it anew\.", told.value.hint)
    assert named is not None
    way = Path(named[1])
    assert way in (file, file.parent)
    if way.is_dir():
        shutil.rmtree(way)
    else:
        way.unlink()
    assert train(TINY, Place(tmp_path)).ended == "budget"


def test_scores_that_lack_what_is_compared_are_told(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text("[]")
    with pytest.raises(StoreError, match="doesn't say once what clone came to"):
        RunFolder(tmp_path).score("clone")


@pytest.mark.parametrize("name", ["state.pt", "record.json", "weights.json", "curves.jsonl", "scores.json"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    folder = RunFolder(tmp_path)
    read = {"state.pt": folder.state, "record.json": folder.record, "curves.jsonl": folder.curve}
    with pytest.raises(StoreError, match=f"{name}' can't be read: it is no regular file"):
        (read | {"scores.json": folder.scores, "weights.json": folder.weights})[name]()


def test_a_place_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = RunFolder(tmp_path / "file" / "run")
    with pytest.raises(StoreError, match="can't be written"):
        folder.write("record.json", b"{}")
    with pytest.raises(StoreError, match="can't be read"):
        folder.record()
