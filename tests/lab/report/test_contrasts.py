"""Ways of training beside each other: only what differs in one thing, on the same seeds and tasks, is compared."""

import msgspec
import pytest

from support.bench_rows import runs
from trimtab.lab.report.contrasts import contrasts_table
from trimtab.lab.report.reading import Run
from trimtab.lab.report.words import contrasted


def told(made: tuple[Run, ...]) -> dict[tuple[object, object], object]:
    return {(row["one"], row["other"]): row["says"] for row in contrasts_table(made).rows}


def test_pairs_differ_in_credit_or_in_branch_points_and_never_in_both() -> None:
    assert list(told(runs())) == [
        ("snapshot, random", "traj, random"),
        ("parent, random", "traj, random"),
        ("parent, random", "snapshot, random"),
        ("snapshot, context", "traj, context"),
        ("parent, context", "traj, context"),
        ("parent, context", "snapshot, context"),
        ("traj, context", "traj, random"),
        ("snapshot, context", "snapshot, random"),
        ("parent, context", "parent, random"),
    ]


def test_a_difference_is_shown_where_its_interval_shows_it() -> None:
    found = told(runs())
    assert found["parent, context", "traj, context"] == "worse"
    assert found["parent, context", "parent, random"] == "not shown"


def test_the_figures_are_the_mean_difference_over_seeds_and_tasks() -> None:
    first = {(run.seed, one.task): one.reward for run in runs() if run.way == ("traj", "random") for one in run.figures}
    other = {
        (run.seed, one.task): one.reward for run in runs() if run.way == ("traj", "context") for one in run.figures
    }
    row = next(
        row for row in contrasts_table(runs()).rows if (row["one"], row["other"]) == ("traj, context", "traj, random")
    )
    assert row["change"].value == pytest.approx(sum(other[at] - first[at] for at in first) / 40)  # type: ignore[union-attr]
    assert (row["seeds"], row["n"]) == (5, 40)


def test_a_run_of_another_configuration_is_not_compared() -> None:
    odd = msgspec.structs.replace(
        runs()[0], config={"seed": 9, "learning": {"variant": "parent", "branching": "none", "rate": 0.1}}
    )
    assert told((odd, *runs())) == told(runs())


def test_one_seed_shows_nothing() -> None:
    assert set(told(tuple(run for run in runs() if run.seed == 0)).values()) == {"too few"}


def test_without_runs_it_says_so_and_no_sentence_is_made() -> None:
    table = contrasts_table(())
    assert table.missing.startswith("No two runs of training")
    assert contrasted(table) == ()


def test_the_sentence_names_what_differs_and_counts_the_rest() -> None:
    (line,) = contrasted(contrasts_table(runs()))
    assert line.startswith("Of 9 pairs of ways that differ in credit or branch points alone, ")
    assert "`parent, context` is below `traj, context` (" in line
