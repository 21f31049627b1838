"""The first stage, which learns what is needed again."""

import pytest

pytest.importorskip("torch")

from pathlib import Path

import msgspec

from support.training import TINY, short_suite
from trimtab.lab.train.first import First, area_told, first, first_of, session_files
from trimtab.lab.train.runs import RunFolder, key_of
from trimtab.lab.train.teachers import present
from trimtab.lab.train.train import Place, train
from trimtab.types.errors import UsageError


def test_what_is_needed_is_learned_once_and_teaches_the_clone(tmp_path: Path) -> None:
    place = Place(tmp_path)
    said: list[str] = []
    made = first(First(each=1), place)
    assert made.weights is not None
    assert made.weights.kind == "needed"
    kept = RunFolder(made.folder).record()
    assert kept is not None
    assert (kept["stage"], "seconds" in kept, "seconds" in made.weights.record) == ("needed", True, False)
    again = first(First(each=1), Place(tmp_path, say=said.append))
    assert (again.folder, again.weights) == (made.folder, made.weights)
    assert said[0].startswith("done before")
    cloning = msgspec.structs.replace(TINY.cloning, teachers=("needed",))
    with short_suite():
        clone = train(msgspec.structs.replace(TINY, cloning=cloning), place, needed=made.weights, stage="clone")
    assert clone.weights is not None
    assert clone.weights.extra == ("needed", "worth")
    assert clone.weights.needed == made.weights.item
    record = RunFolder(clone.folder).record()
    assert record is not None
    assert record["teachers"] == {"needed": 1}
    assert (record["stage"], "seconds" in record, "seconds" in clone.weights.record) == ("clone", True, False)


def test_an_area_that_is_worse_than_chance_has_a_hint() -> None:
    assert area_told(0.67) == "needed: area under the curve 0.67 on other families (1 is perfect, .5 is chance)"
    assert area_told(0.44).endswith(
        "; below .5 is worse than chance: learn from more, with a larger --each or --from-sessions"
    )


def test_without_supervised_weights_nobody_teaches_by_them() -> None:
    assert present(("needed", "rules")) == (["rules"], ["needed"])
    assert present(("needed", "rules"), needed=True) == (["needed", "rules"], [])


def test_a_folder_without_sessions_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no files"):
        session_files(tmp_path)
    (tmp_path / "b" / "c").mkdir(parents=True)
    for name in ("b/c/one.jsonl", "a.jsonl"):
        (tmp_path / name).touch()
    assert session_files(tmp_path) == (str(tmp_path / "a.jsonl"), str(tmp_path / "b/c/one.jsonl"))


def test_a_folder_with_an_index_is_a_corpus_and_any_other_a_heap_of_files(tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").touch()
    assert first_of(None, seed=1, each=2) == First(seed=1, each=2)
    assert first_of(tmp_path, seed=1, each=2) == First(seed=1, each=2, sessions=(str(tmp_path / "one.jsonl"),))
    (tmp_path / "index.jsonl").touch()
    assert first_of(tmp_path, seed=1, each=2) == First(seed=1, each=2, corpus=str(tmp_path))


def test_a_corpus_of_which_a_file_changed_is_another_run_and_what_is_not_learned_from_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        {"file": f"{split}{n}.jsonl", "source": "p", "split": split, "family": f"{split}{n}"}
        for split in ("train", "eval")
        for n in range(20)
    ]
    (tmp_path / "index.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    for line in lines:
        (tmp_path / line["file"]).write_text("one")
    fitted: list[str] = []

    def named(*parts: object) -> str:
        fitted.append(key_of(*parts))
        return fitted[-1]

    def fit(*_: object, **__: object) -> None:
        raise StopIteration

    monkeypatch.setattr("trimtab.lab.train.first.train_needed", fit)
    monkeypatch.setattr("trimtab.lab.train.first.key_of", named)
    for changed in (None, "eval1.jsonl", "train1.jsonl", "train2.jsonl"):
        if changed is not None:
            (tmp_path / changed).write_text("two")
        with pytest.raises(StopIteration):
            first(First(each=24, corpus=str(tmp_path)), Place(tmp_path / "out"))
    assert fitted[0] == fitted[1]
    assert len(set(fitted)) == 3
