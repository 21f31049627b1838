"""Which options of `trimtab train` belong to which stage."""

import re
from pathlib import Path

import pytest

from trimtab.frontends.cli import train as cli
from trimtab.frontends.cli.app import main
from trimtab.frontends.cli.train_stages import BELONGS, EXCLUDE, STAGES, require_meant
from trimtab.types.errors import UsageError

PAGE = Path(__file__).parents[3] / "docs" / "training.md"
VALUES = {
    "--variant": "traj",
    "--branching": "none",
    "--scheme": "step",
    "--ray": None,
    "--ray-address": "127.0.0.1:9",
    "--from-sessions": ".",
}
"""What an option is given here; any other takes 1."""


def line(option: str) -> tuple[str, ...]:
    """An option as it is typed."""
    value = VALUES.get(option, "1")
    return (option,) if value is None else (option, value)


def test_every_option_has_its_stages() -> None:
    assert {option.opts[0] for option in cli.command.params} == BELONGS.keys()
    assert all(stages and set(stages) <= set(STAGES) for stages in BELONGS.values())


@pytest.fixture
def _without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes the table ends at the next door."""
    monkeypatch.setattr(cli, "find_spec", lambda _: None)


@pytest.mark.usefixtures("_without_torch")
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("option", [option for option in BELONGS if option not in ("--stage", "--out")])
def test_an_option_that_means_nothing_to_a_stage_is_refused_with_where_it_belongs_and_any_other_is_taken(
    option: str, stage: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--stage", stage, *line(option), "--out", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert not (tmp_path / "o").exists()
    if stage in BELONGS[option]:
        assert "[train]" in said
        return
    problem, hint = said.splitlines()
    assert problem == f"trimtab: {option} means nothing to --stage {stage}"
    named = re.sub(r", | or ", " ", hint).partition("--stage ")[2].removesuffix(".")
    assert named.split() == list(BELONGS[option])


@pytest.mark.usefixtures("_without_torch")
def test_what_stands_on_no_line_is_no_option_that_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    for stage in STAGES:
        assert main(["train", "--stage", stage]) == 2
        assert "[train]" in capsys.readouterr().err
    assert main(["train", "--seeds", "2"]) == 2, "all is a stage too"
    assert "--seeds means nothing to --stage all" in capsys.readouterr().err


@pytest.mark.usefixtures("_without_torch")
@pytest.mark.parametrize("pair", EXCLUDE)
def test_of_two_options_of_which_one_makes_the_other_mean_nothing_one_is_to_go(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *line(pair[0]), *line(pair[1])]) == 2
    said = capsys.readouterr().err
    assert f"{pair[0]} and {pair[1]} exclude each other: {EXCLUDE[pair]}" in said
    assert "Leave one of the two out." in said


def test_several_that_mean_nothing_are_told_together() -> None:
    with pytest.raises(UsageError) as told:
        require_meant("needed", ["--minutes", "--seeds"])
    assert (told.value.message, told.value.hint) == (
        "--seeds and --minutes mean nothing to --stage needed",
        "Leave them out, or take --stage ablation.",
    )
    with pytest.raises(UsageError) as told:
        require_meant("clone", ["--variant", "--minutes", "--seeds", "--out"])
    assert (told.value.message, told.value.hint) == (
        "--variant, --seeds and --minutes mean nothing to --stage clone",
        "Leave them out.",
    )


def test_the_page_says_of_every_option_what_the_table_says() -> None:
    rows = re.findall(r"^\| (`--[^|]+) \| ([^|]+) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    told = {name: tuple(stages.split(", ")) for names, stages in rows for name in re.findall("--[a-z-]+", names)}
    assert told == {option: stages for option, stages in BELONGS.items() if stages != STAGES}
