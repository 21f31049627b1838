"""The whole lab as stages: what runs, what isn't run again, and what stops it."""

import os
from pathlib import Path

import pytest
from benchmarks import lab
from benchmarks.lab import SCALES, Data, Ledger, Stage, run, stages

from support.published import write_published
from trimtab.frontends.cli.train_stages import require_meant
from trimtab.lab.arms.tuning import Best, Tuned, write_tuned


def saying(text: str, *, code: int = 0) -> Stage:
    """A stage that counts how often it ran, prints, and ends with `code`."""
    program = (
        "import sys; open(sys.argv[1], 'a').write('x'); print('before'); print(sys.argv[2]); sys.exit(int(sys.argv[3]))"
    )
    return Stage("one", lambda said: ("-c", program, said["count"], text, str(code)))


def test_a_stage_hands_its_last_line_on_and_runs_again_only_when_its_command_or_the_code_changed(
    tmp_path: Path,
) -> None:
    count = tmp_path / "count"
    said = {"count": str(count)}
    for text, basis, runs in (("a", "1", 1), ("a", "1", 1), ("a", "2", 2), ("b", "2", 3)):
        ran = run(saying(text), said, Ledger(tmp_path), basis)
        assert ran is not None
        assert (ran.said, len(count.read_text())) == (text, runs)
    assert len((tmp_path / "timings.jsonl").read_text().splitlines()) == 1


def test_a_stage_that_fails_is_not_taken_for_done(tmp_path: Path) -> None:
    said = {"count": str(tmp_path / "count")}
    for _ in range(2):
        assert run(saying("a", code=3), said, Ledger(tmp_path), "1") is None
    assert len((tmp_path / "count").read_text()) == 2


def test_every_stage_gets_what_it_needs_from_the_stages_in_front_of_it(tmp_path: Path) -> None:
    for scale in SCALES.values():
        said: dict[str, str] = {}
        for stage in stages(scale, tmp_path, 2):
            line = stage.line(said)
            assert line[0] == "-m"
            assert all(isinstance(word, str) for word in line)
            said[stage.name] = f"{stage.name}.json"
        assert list(said)[-1] == "report"


def test_the_best_of_the_tuned_rules_is_played_everywhere_and_in_t0_the_best_of_each_kind(tmp_path: Path) -> None:
    said = {"cloned": "c.json", "needed": "n.json", "reinforced": "r.json"}
    made = {stage.name: stage for stage in stages(SCALES["quick"], tmp_path, 1)}
    lru, rules = "lru(act=0.6)", "rules(left=0.65)"
    assert not {lru, rules} & set(made["T0"].line(said))
    best = (Best("lru", lru, 0.2, 0.5, 0.6, 7, 2, 0.1), Best("rules", rules, 0.3, 0.6, 0.7, 7, 2, 0.1))
    write_tuned(tmp_path / "arms" / "tuned.json", Tuned("code", "train", best))
    assert {lru, rules} <= set(made["T0"].line(said))
    for name in ("T0 at two prices", "T1", "T2"):
        assert {lru, rules} & set(made[name].line(said)) == {rules}


def test_the_stage_of_real_material_plays_that_part_behind_the_generated_ones(tmp_path: Path) -> None:
    made = {stage.name: stage for stage in stages(SCALES["full"], tmp_path, 2)}
    names = list(made)
    at = names.index("T0 on real material")
    assert names[at - 1 : at + 2] == ["T0 at two prices", "T0 on real material", "T1"]
    line = list(made[names[at]].line({"cloned": "c.json", "needed": "n.json", "reinforced": "r.json"}))
    assert line[line.index("--part") :][:6] == ["--part", "real", "--each", "4", "--seeds", "5"]
    assert {"clairvoyant", "rules", "learned(weights='c.json')"} <= set(line)
    assert str(tmp_path / "T0-real") in line
    assert [name for name in names if made[name].real] == ["T0 on real material"]


def test_a_stage_waits_for_what_it_needs_of_the_data_folder(tmp_path: Path) -> None:
    plain, sessions, real = (
        Stage("one", lambda said: (), **needs) for needs in ({}, {"sessions": True}, {"real": True})
    )
    nothing, half = Data.of(""), Data.of(str(write_published(tmp_path)))
    assert [bool(nothing.lacking(stage)) for stage in (plain, sessions, real)] == [False, True, True]
    assert [bool(half.lacking(stage)) for stage in (plain, sessions, real)] == [False, True, False]
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / "index.jsonl").write_text("")
    whole = Data.of(str(tmp_path))
    assert [bool(whole.lacking(stage)) for stage in (plain, sessions, real)] == [False, False, False]


def test_other_real_material_runs_only_its_own_stage_again(tmp_path: Path) -> None:
    folder = write_published(tmp_path)
    plain, real = Stage("one", lambda said: ()), Stage("two", lambda said: (), real=True)
    before = Data.of(str(folder))
    then = before.basis(plain), before.basis(real)
    (folder / "loogle" / "longdep_qa.jsonl.gz").write_bytes(b"other")
    after = Data.of(str(folder))
    assert (after.basis(plain) == then[0], after.basis(real) == then[1]) == (True, False)


def test_without_the_files_the_stage_is_skipped_loudly_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    count = tmp_path / "count"
    skipped = Stage("T0 on real material", lambda said: pytest.fail("it runs"), real=True)
    plain = Stage("plain", lambda said: ("-c", f"open({str(count)!r}, 'a').write('x')"))
    monkeypatch.setattr(lab, "stages", lambda *given: (skipped, plain))
    monkeypatch.setitem(os.environ, "TRIMTAB_DATA", str(tmp_path))
    assert lab.main(["--size", "quick", "--folder", str(tmp_path / "out")]) == 0
    said = capfd.readouterr().out
    assert "== T0 on real material: SKIPPED: TRIMTAB_DATA names no folder that has files of published" in said
    assert count.read_text() == "x"


def test_every_training_of_the_lab_gets_options_that_mean_something_to_it(tmp_path: Path) -> None:
    said = {"cloned": "c.json", "needed": "n.json", "reinforced": "r.json"}
    lines = [stage.line(said) for stage in stages(SCALES["quick"], tmp_path, 1, tmp_path)]
    trained = [line for line in lines if line[:3] == ("-m", "trimtab", "train")]
    for line in trained:
        require_meant(line[line.index("--stage") + 1], [word for word in line if word.startswith("--")])
    assert len(trained) == 4
