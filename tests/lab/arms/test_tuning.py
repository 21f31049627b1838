"""Parameters that are found on training tasks, and kept."""

import shutil
from statistics import fmean

import pytest

from trimtab.lab.arms import tuning
from trimtab.lab.arms.grids import GRIDS, Grid
from trimtab.lab.arms.playing import Table
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.arms.tuning import Ledger, Trial, play, read_tuned, standings, tune, tuned, write_tuned
from trimtab.lab.executor import Here
from trimtab.lab.suite import drawn
from trimtab.types.errors import UsageError

FAMILIES = ("tool-chain", "exact-numbers")
SMALL = {
    "truncate": Grid("truncate", "truncate", {"keep_groups": (1, 8)}),
    "lru": Grid("lru", "lru", {"left": (0.3, 0.7)}),
}


class Counting(Here):
    """Keeps the jobs that it was given."""

    def __init__(self):
        self.jobs = []

    def map(self, function, items):
        self.jobs += (items := list(items))
        return super().map(function, items)


def trial(spec, family, number, reward):
    return Trial(f"{spec} {family} {number}", spec, "validation", family, number, reward, 1.0, 0.5, 100, 1, 0, 0.1)


@pytest.fixture(scope="module", autouse=True)
def parts():
    """Two families to train on: a test needs no more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "PARTS", {"train": FAMILIES})
        yield


@pytest.fixture(scope="module")
def ledger(tmp_path_factory, parts):
    """With one training task of each family played."""
    found = Ledger(tmp_path_factory.mktemp("tuning") / "trials.jsonl")
    tune(SMALL, each=1, most=3, ledger=found)
    return found


@pytest.fixture
def copied(ledger, tmp_path):
    """A copy of its file."""
    return shutil.copy(ledger.path, tmp_path / "trials.jsonl")


@pytest.mark.parametrize("kind", GRIDS)
def test_every_spec_of_a_grid_is_an_arm(kind):
    specs = GRIDS[kind].specs(500)
    assert specs[0] == GRIDS[kind].default
    assert {find_arm(spec).kind for spec in specs} == {"rule"}


def test_a_grid_gives_its_default_and_no_more_than_it_may_the_same_every_time():
    grid = GRIDS["rules"]
    assert len(set(grid.specs(12))) == 12
    assert grid.specs(12) == grid.specs(12) != grid.specs(12, seed=1)
    assert set(GRIDS["truncate"].specs(99)) == {"truncate", *(f"truncate(keep_groups={n})" for n in (1, 2, 4, 8))}


def test_the_best_of_a_kind_is_the_spec_with_the_highest_mean_reward(ledger):
    for best in tune(SMALL, each=1, most=3, ledger=ledger).best:
        specs = SMALL[best.kind].specs(3)
        means = {s: fmean(t.reward for t in ledger.trials.values() if t.spec == s) for s in specs}
        assert means[best.spec] == max(means.values()) == pytest.approx(best.reward)
        assert best.untuned == pytest.approx(means[specs[0]])
        assert (best.tasks, best.tried) == (len(FAMILIES), 3)


def test_what_is_far_behind_after_a_few_tasks_is_not_tried_on_all(monkeypatch):
    monkeypatch.setattr(tuning, "FINALISTS", 1)
    found = Ledger()
    (best,) = tune({"lru": SMALL["lru"]}, each=2, short=1, most=3, ledger=found).best
    first = {t.spec: [] for t in found.trials.values()}
    for one in found.trials.values():
        first[one.spec] += [one.reward] if one.number == 0 else []
    second = {t.spec for t in found.trials.values() if t.number == 1}
    better = max(SMALL["lru"].specs(3)[1:], key=lambda spec: fmean(first[spec]))
    assert second == {"lru", better}
    assert (best.tasks, best.tried) == (4, 3)


def test_a_trial_is_what_the_arm_comes_to_when_it_plays_the_task(ledger):
    one = drawn("train", FAMILIES[0], 0)
    played = Table(one.conditions).play(one.story, find_arm("truncate"))
    (found,) = (t for t in ledger.trials.values() if (t.spec, t.family) == ("truncate", FAMILIES[0]))
    assert found.reward == played.reward().total
    assert found.cost == played.judged().usd / played.yardstick.keep_all_usd
    assert (found.prompt, found.edits) == (
        sum(step.prompt for step in played.facts),
        sum(len(s.edits) for s in played.facts),
    )


def test_what_is_known_is_not_played_again_and_only_what_is_new_is(ledger, copied):
    executor = Counting()
    again = tune(SMALL, each=1, most=3, ledger=Ledger(copied), executor=executor)
    assert again == tune(SMALL, each=1, most=3, ledger=ledger)
    assert executor.jobs == []
    more = {"lru": Grid("lru", "lru", {"left": (0.3, 0.7, 0.5)})}
    tune(more, each=1, most=4, ledger=Ledger(copied), executor=executor)
    assert {job.specs for job in executor.jobs} == {("lru(left=0.5)",)}


def test_a_run_that_was_broken_off_goes_on(ledger, copied):
    copied.write_bytes(copied.read_bytes()[:-40])
    executor = Counting()
    tune(SMALL, each=1, most=3, ledger=Ledger(copied), executor=executor)
    assert len(executor.jobs) == 1
    assert set(Ledger(copied).trials) == set(ledger.trials)


def test_other_code_plays_anew(copied, monkeypatch):
    monkeypatch.setattr(tuning, "PLAYED_BY", "another")
    executor = Counting()
    play(("truncate",), "train", each=1, ledger=Ledger(copied), executor=executor)
    assert len(executor.jobs) == len(FAMILIES)


def test_what_was_found_is_read_back_as_arms(ledger, tmp_path):
    found = tune(SMALL, each=1, most=3, ledger=ledger)
    path = tmp_path / "deep" / "tuned.json"
    write_tuned(path, found)
    assert read_tuned(path) == found
    assert {kind: arm.spec for kind, arm in tuned(path).items()} == {best.kind: best.spec for best in found.best}
    with pytest.raises(UsageError, match="holds no tuned arms"):
        tuned(tmp_path / "nothing.json")


def test_a_standing_is_paired_by_task_and_the_best_stands_first():
    rewards = {"keep-all": (0.1, 0.5, 0.3, 0.2), "a": (0.2, 0.6, 0.4, 0.3), "b": (0.0, 0.9, 0.0, 0.9)}
    trials = [
        trial(spec, family, number, values[2 * place + number])
        for spec, values in rewards.items()
        for place, family in enumerate(("one", "two"))
        for number in (0, 1)
    ]
    b, a, base = standings(trials)
    assert [s.spec for s in (b, a, base)] == ["b", "a", "keep-all"]
    assert (a.above.value, a.above.low, a.above.high) == pytest.approx((0.1, 0.1, 0.1))
    assert (base.above.low, base.above.high) == (0.0, 0.0)
    assert b.above.low < 0 < b.above.high
    assert (b.tasks, b.success, b.cost, b.prompt) == (4, 1.0, 0.5, 100)


def test_only_training_tasks_are_tuned_on(ledger):
    assert {trial.part for trial in ledger.trials.values()} == {"train"}
