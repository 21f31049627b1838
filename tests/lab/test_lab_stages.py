"""The whole lab as stages: what runs, what isn't run again, and what stops it."""

from pathlib import Path

from benchmarks.lab import SCALES, Ledger, Stage, run, stages

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


def test_every_training_of_the_lab_gets_options_that_mean_something_to_it(tmp_path: Path) -> None:
    said = {"cloned": "c.json", "needed": "n.json", "reinforced": "r.json"}
    lines = [stage.line(said) for stage in stages(SCALES["quick"], tmp_path, 1, tmp_path)]
    trained = [line for line in lines if line[:3] == ("-m", "trimtab", "train")]
    for line in trained:
        require_meant(line[line.index("--stage") + 1], [word for word in line if word.startswith("--")])
    assert len(trained) == 4
