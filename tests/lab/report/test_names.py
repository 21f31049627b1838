"""Arms that name a file are called after their run."""

from support.bench_rows import row
from trimtab.lab.bench.folder import Opened
from trimtab.lab.report.names import short_names, shortened
from trimtab.lab.report.reading import Found

RL = 'learned(weights="lab/runs/rl-3/weights.json")'


def test_a_file_of_weights_is_called_after_its_folder_or_by_its_own_name() -> None:
    assert short_names([RL, "learned('best.json')", "rules(left=0.3)"]) == {
        RL: "learned(rl-3)",
        "learned('best.json')": "learned(best)",
    }


def test_two_files_of_one_name_are_not_taken_for_each_other() -> None:
    other = RL.replace("lab/", "old/")
    assert short_names([RL, other]) == {RL: "learned(rl-3)"}


def test_an_arm_of_many_parameters_is_called_by_the_first_of_them_unless_another_is_called_so() -> None:
    long = "rules(act=0.9, left=0.65, names=0, keep_names=0.15, fresh=3)"
    other = long.replace("fresh=3", "fresh=4")
    mask = "mask(keep=10, batch=1, always=False)"
    assert short_names([long, other, mask], longest=len(mask)) == {long: "rules(act=0.9, left=0.65, …)"}
    assert short_names([long, other, mask]) == {}


def test_rows_and_the_candidate_take_the_short_name_and_the_page_says_what_stands_behind_it() -> None:
    found, names = shortened(Found((row(RL, "learned"), row("none")), opened=(Opened("2026-01-01", RL),)))
    assert [one.arm for one in found.rows] == ["learned(rl-3)", "none"]
    assert found.candidate == names[RL] == "learned(rl-3)"
    assert found.notes == (f"learned(rl-3) stands for {RL}.",)
