"""The ablation's table."""

import pytest

pytest.importorskip("torch")

from pathlib import Path

import msgspec

from support.training import TINY, short_suite
from trimtab.lab.train.ablation import Cell, ablate, estimate
from trimtab.lab.train.ablation_row import AblationRow, Estimate
from trimtab.lab.train.train import Place


def test_an_estimate_is_the_mean_with_an_interval_around_it() -> None:
    assert estimate([[1.0, 1.0], [1.0, 1.0]]) == Estimate(1.0, 1.0, 1.0)
    found = estimate([[0.0, 1.0, 0.2], [0.4, 0.8, 0.0]])
    assert found.mean == pytest.approx(0.4)
    assert found.low < found.mean < found.high
    assert found == estimate([[0.0, 1.0, 0.2], [0.4, 0.8, 0.0]])
    assert estimate([]) == Estimate(0.0, 0.0, 0.0)


def test_seeds_that_differ_widen_the_interval() -> None:
    tasks = [0.1 * n for n in range(10)]
    alike, apart = estimate([tasks, tasks]), estimate([[t - 1 for t in tasks], [t + 1 for t in tasks]])
    assert alike.mean == pytest.approx(apart.mean)
    assert apart.high - apart.low > alike.high - alike.low


def test_every_cell_is_compared_with_its_clone_on_the_same_tasks(tmp_path: Path) -> None:
    with short_suite():
        cells = (Cell("traj", "none"), Cell("snapshot", "context"), Cell("snapshot", "context", "step"))
        rows = ablate(TINY, Place(tmp_path), seeds=(0, 1), cells=cells)
    assert [(row.variant, row.branching, row.seeds) for row in rows] == [
        ("mask", "", 1),
        ("clone", "", 2),
        ("traj", "none", 2),
        ("snapshot", "context", 2),
        ("step", "context", 2),
    ]
    clone, plain = rows[1], rows[2]
    assert plain.gain is not None
    assert plain.gain.mean == pytest.approx(plain.reward.mean - clone.reward.mean)
    assert len(plain.best_steps) == 2
    assert msgspec.json.decode((tmp_path / "ablation.json").read_bytes(), type=list[AblationRow]) == rows
    assert len(list(tmp_path.glob("clone-*"))) == 2, "one clone a seed, for all cells"
    assert len(list(tmp_path.glob("judged-*"))) == 4, "each is judged once: to choose checkpoints by, and to report"
